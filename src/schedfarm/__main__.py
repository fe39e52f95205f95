"""The command line, for a Python that is to run it: ``python -m schedfarm``."""

from schedfarm.farm.cli import main

if __name__ == "__main__":
    main()
