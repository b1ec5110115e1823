"""Reads that are found out before they are made, so that nobody holds a thread for them.

Where reads wait for a network, a request is tried first: on its thread the store reads nothing
meanwhile. What is asked for is noted, and the attempt ends with `NotForeseen`. The keys of many
requests are then read together (`Store.get_together`), and each request is tried again with what
was found. Whatever asks for more than single keys, or for more keys after that, runs on a thread
of its own instead.

An attempt has no effect before it reads for the last time, so ending it there undoes nothing. The
engine keeps to that for all its reads, because a read may also be too long (`engine/budget.py`).
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar, final

__all__ = ["ForeseenReads", "NotForeseen", "foreseen_reads", "refuse_in_attempt"]

T = TypeVar("T")


class NotForeseen(BaseException):
    """An attempt asks for what was not read. No body and no operation may catch it."""


class _Attempt(threading.local):
    reads: "ForeseenReads | None" = None


_ATTEMPT: Final = _Attempt()


@final
class ForeseenReads:
    """A snapshot of some keys, each shard at a moment of its own; `wanted`: keys beside them."""

    __slots__ = ("_values", "wanted")

    def __init__(self, values: Mapping[bytes, bytes | None]) -> None:
        """What is known by key; None where nothing stands."""
        self._values = values
        self.wanted: list[bytes] = []

    @property
    def knows_nothing(self) -> bool:
        """Whether this is a first attempt."""
        return not self._values

    def attempt(self, work: Callable[[], T]) -> T:
        """Run `work`, in which every snapshot of a store whose reads may block is this one.

        Raises: `NotForeseen`, and then `wanted` are keys that would help; what `work` raises.
        """
        _ATTEMPT.reads = self
        try:
            return work()
        finally:
            _ATTEMPT.reads = None

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        return self.get_many((key,))[0]

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        values = self._values
        absent = [key for key in keys if key not in values]
        if absent:
            self.wanted += absent
            raise NotForeseen
        return [values[key] for key in keys]

    def scan(
        self,
        start: bytes,  # noqa: ARG002  # whatever it is
        stop: bytes,  # noqa: ARG002  # the same
        *,
        reverse: bool = False,  # noqa: ARG002  # the same
    ) -> Iterator[tuple[bytes, bytes]]:
        """Ranges are not foreseen."""
        raise NotForeseen


def foreseen_reads() -> ForeseenReads | None:
    """The snapshot of the attempt that this thread makes; None: it makes none."""
    return _ATTEMPT.reads


def refuse_in_attempt() -> None:
    """What waits for a database calls this before. Raises `NotForeseen` in an attempt."""
    if _ATTEMPT.reads is not None:
        raise NotForeseen
