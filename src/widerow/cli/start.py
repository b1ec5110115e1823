"""Where `widerow` and `python -m widerow` begin."""

import os
import sys

from widerow.cli.ending import run_to_end
from widerow.cli.quick import quick_run
from widerow.cli.shells import COMPLETE_VARIABLE

__all__ = ["run_program"]


def run_program() -> None:
    """Run the command line of this process to its end."""
    run_to_end(_run)


def _run() -> None:
    run = None if COMPLETE_VARIABLE in os.environ else quick_run(sys.argv[1:])
    if run is not None:
        sys.exit(run())
    from widerow.cli.main import main  # noqa: PLC0415  # it loads typer

    main()
