"""An error that nobody foresaw, in the log: where it happened, without what it says.

The message of such an error may hold data of a client; the frames hold none.
"""

import traceback
from logging import Logger

__all__ = ["log_unforeseen"]


def log_unforeseen(log: Logger, error: BaseException, **facts: str) -> None:
    """Log the kind of `error` and its frames, with `facts` beside them."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("unforeseen %s", type(error).__name__, extra={"facts": {**facts, "frames": frames}})
