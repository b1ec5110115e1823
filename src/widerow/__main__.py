"""`python -m widerow` is the command `widerow`."""

from widerow.cli.main import run_program

if __name__ == "__main__":
    run_program()
