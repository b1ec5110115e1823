"""Requests as clients make them: again, while the store is busy."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from widerow.errors import StoreBusy

__all__ = ["asked_again"]

T = TypeVar("T")


def asked_again(request: Callable[[], T]) -> T:
    """The answer to a request, asked as clients do while the store is busy: 30 times at most.

    HBase on a busy machine can take longer to open the halves of a region than one read waits.
    """
    for _ in range(29):
        with suppress(StoreBusy):
            return request()
    return request()
