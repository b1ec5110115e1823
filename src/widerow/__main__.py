"""`python -m widerow` is the command `widerow`."""

from widerow.cli.start import start

if __name__ == "__main__":
    start()
