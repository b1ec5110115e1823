"""The interface between search indexes and the process that runs the engine: locks, files, log."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from widerow.search.interface import IndexFiles

__all__ = ["ALONE", "SearchHost"]


class SearchHost(Protocol):
    """What a process gives to the indexes of one engine. Any thread may call."""

    @property
    def lag_us(self) -> int:
        """The delay, in microseconds, after which a search may find a change."""
        ...

    def lock(self) -> AbstractContextManager[Any]:
        """A re-entrant lock for one thread at a time."""
        ...

    def files(self, index_id: int) -> "IndexFiles | None":
        """The files of an index; None where no files are kept."""
        ...

    def kept(self) -> list[int]:
        """The numbers of indexes that have files."""
        ...

    def forget(self, index_id: int) -> None:
        """Remove the files of an index."""
        ...

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Log an event for operators."""
        ...


class _Alone:
    """The host of an engine that one thread uses: no locks, no files, no log."""

    lag_us = 0

    def lock(self) -> AbstractContextManager[Any]:
        """A context that locks nothing."""
        return nullcontext()

    def files(self, index_id: int) -> "IndexFiles | None":
        """None: no files are kept."""
        del index_id
        return None

    def kept(self) -> list[int]:
        """An empty list: no files are kept."""
        return []

    def forget(self, index_id: int) -> None:
        """Does nothing: no files are kept."""

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Does nothing: there is no log."""


ALONE: "SearchHost" = _Alone()
"""The host of an engine that one thread uses."""
