"""How every command ends when something is wrong: one line on stderr, and exit code 2."""

import sys
from collections.abc import Callable

from widerow.errors import WiderowError

__all__ = ["CommandFailed", "run_to_end"]

_INTERRUPTED = 130  # as a shell reports a process that Ctrl-C has ended


class CommandFailed(WiderowError):
    """A command cannot do what is asked; the message says why and what to do."""


def run_to_end(run: Callable[[], object]) -> None:
    """Run a command. An error is told in one line, with exit code 2."""
    try:
        run()
    except WiderowError as error:
        request = getattr(error, "request_id", "")  # of errors that a server has answered
        sys.stderr.write(f"widerow: {error}{f' [request {request}]' if request else ''}\n")
        sys.exit(2)
    except UnicodeEncodeError:
        sys.stderr.write("widerow: a text that was given is not Unicode; tables store no other\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
