"""Repeating a read from its beginning, after its snapshot was lost between two of its reads."""

from collections.abc import Callable
from typing import TypeVar

from widerow.errors import ViewLost
from widerow.limits import BRIEF_READS_MAX

__all__ = ["read_anew"]

T = TypeVar("T")


def read_anew(read: Callable[[], T]) -> T:
    """What `read` returns; it is called again where its snapshot is lost (`ViewLost`).

    `read` takes a snapshot of its own in each call, and changes nothing. Raises what `read` raises,
    `ViewLost` with the last of `BRIEF_READS_MAX` attempts. Source: `Store.brief_snapshot`.
    """
    for _ in range(BRIEF_READS_MAX - 1):
        try:
            return read()
        except ViewLost:
            continue
    return read()
