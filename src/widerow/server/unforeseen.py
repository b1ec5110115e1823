"""Logs an unexpected error: its place, without its message.

The message of such an error may hold data of a client; the frames hold none.
"""

import traceback
from logging import Logger

__all__ = ["log_unforeseen"]


def log_unforeseen(log: Logger, error: BaseException, **facts: str) -> None:
    """Log the class of `error` and its frames, with `facts`."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("unforeseen %s", type(error).__name__, extra={"facts": {**facts, "frames": frames}})
