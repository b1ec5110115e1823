"""What a write operation hands to whoever commits it.

Planning validates the request and finds its shards; the bodies run later, on the writer, grouped
with those of other requests. `finish` turns their outcomes into the operation's answer.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from widerow.storage.interface import Outcome, Write

__all__ = ["Plan"]

T = TypeVar("T")


class Plan(NamedTuple, Generic[T]):
    """Writes that must all be handed to the store together, in order, and how to read the result.

    `finish` raises the operation's error if there is one. `size` is about how many bytes the
    writes hold, for bounds on what waits.
    """

    writes: tuple[Write[Any], ...]
    finish: Callable[[Sequence[Outcome[Any]]], T]
    size: int = 0
