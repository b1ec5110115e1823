"""Standard output of this process: what cannot be written to it is told as that, in one line."""

import io
import os
import sys
from typing import Any

from widerow.errors import WiderowError

__all__ = ["OutputFailed", "drop_output", "watch_output"]


class OutputFailed(WiderowError):
    """Standard output takes no more, as on a full disk; the message has the system's reason."""


class _Output(io.FileIO):
    """Standard output, whose failures are told apart from those of other files.

    Writes raise `OutputFailed`, and `BrokenPipeError` where the reader has closed the pipe.
    """

    def write(self, data: Any, /) -> int:  # noqa: ANN401  # whatever has bytes
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(f"standard output: {error.strerror or error}") from error


def watch_output() -> None:
    """Let every later write to `sys.stdout` raise `OutputFailed` where it fails."""
    before = sys.stdout
    if not isinstance(before, io.TextIOWrapper):  # closed, or replaced by whoever runs this
        return
    try:
        number = before.fileno()
    except OSError:  # there is no file beneath it
        return
    raw = _Output(number, "wb", closefd=False)
    through = before.write_through
    sys.stdout = io.TextIOWrapper(
        raw if through else io.BufferedWriter(raw),  # as Python does with -u
        before.encoding,
        before.errors,
        line_buffering=before.line_buffering,
        write_through=through,
    )


def drop_output() -> None:
    """Drop what is still to be written, which Python would try once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
