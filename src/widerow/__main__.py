"""`python -m widerow` is the command `widerow`."""

from widerow.cli.main import main

if __name__ == "__main__":
    main()
