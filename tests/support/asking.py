"""Requests as clients make them: again, while the store is busy."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Final, TypeVar

from widerow.errors import StoreBusy

__all__ = ["asked_again"]

T = TypeVar("T")
_SECONDS_MAX: Final = 240.0


def asked_again(request: Callable[[], T]) -> T:
    """The answer to a request, asked as clients do while the store is busy: for four minutes.

    HBase on a busy machine can take longer to open the halves of a region than one read waits.
    """
    until = monotonic() + _SECONDS_MAX
    while True:
        try:
            return request()
        except StoreBusy:
            if monotonic() > until:
                raise
            sleep(0.05)
