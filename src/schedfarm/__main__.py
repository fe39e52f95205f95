"""The command line as a module of a given Python: ``python -m schedfarm``."""

from schedfarm.farm.cli import main

if __name__ == "__main__":
    main()
