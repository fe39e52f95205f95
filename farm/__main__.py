"""The command line, for a Python that is to run it: ``python -m farm``."""

from farm.cli import main

if __name__ == "__main__":
    main()
