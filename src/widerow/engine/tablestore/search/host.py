"""What search indexes need of whoever has the store open: locks, files, and somebody to tell."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from widerow.search.interface import IndexFiles

__all__ = ["ALONE", "SearchHost"]


class SearchHost(Protocol):
    """The surroundings of the indexes of one engine. Any thread may call."""

    @property
    def lag_us(self) -> int:
        """How much later than it was asked for a change may be found, in microseconds."""
        ...

    def lock(self) -> AbstractContextManager[Any]:
        """A lock that one thread holds at a time, for any number of times."""
        ...

    def files(self, index_id: int) -> "IndexFiles | None":
        """Where the files of an index are; None where none are kept."""
        ...

    def kept(self) -> list[int]:
        """The numbers of indexes that have files."""
        ...

    def forget(self, index_id: int) -> None:
        """Remove the files of an index."""
        ...

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Something happened that an operator may want to know."""
        ...


class _Alone:
    """One thread, and nothing that outlives it."""

    lag_us = 0

    def lock(self) -> AbstractContextManager[Any]:
        """Nothing: nobody else asks."""
        return nullcontext()

    def files(self, index_id: int) -> "IndexFiles | None":
        """None."""
        del index_id
        return None

    def kept(self) -> list[int]:
        """None."""
        return []

    def forget(self, index_id: int) -> None:
        """Nothing was kept."""

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Nobody listens."""


ALONE: "SearchHost" = _Alone()
"""For an engine that one thread uses."""
