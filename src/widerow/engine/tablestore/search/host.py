"""The interface between search indexes and the process that runs the engine: locks, files, log."""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from widerow.search.interface import IndexFiles

__all__ = ["ALONE", "NO_LOCK", "IndexLock", "SearchHost"]


class IndexLock(Protocol):
    """A lock that one thread holds at a time, for any number of times."""

    def acquire(self, blocking: bool = ...) -> bool:  # noqa: FBT001  # as that of `threading`
        """Hold it, once nobody else does; whether it is held. Without `blocking`: or not at all."""
        ...

    def release(self) -> None:
        """Give it up, as often as it was acquired."""
        ...

    def __enter__(self) -> object:
        """As `acquire`."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """As `release`."""
        ...


class SearchHost(Protocol):
    """What a process gives to the indexes of one engine. Any thread may call."""

    @property
    def lag_us(self) -> int:
        """The delay, in microseconds, after which a search may find a change."""
        ...

    def lock(self) -> IndexLock:
        """A lock of its own for each index."""
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


class _NoLock:
    """A lock for one thread alone: it holds nothing."""

    def acquire(self, blocking: bool = True) -> bool:  # noqa: ARG002, FBT001, FBT002  # as a lock has it
        """Always true."""
        return True

    def release(self) -> None:
        """Do nothing."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


NO_LOCK: IndexLock = _NoLock()


class _Alone:
    """The host of an engine that one thread uses: no locks, no files, no log."""

    lag_us = 0

    def lock(self) -> IndexLock:
        """A lock that holds nothing, as nobody else asks."""
        return NO_LOCK

    def files(self, index_id: int) -> "IndexFiles | None":
        """None, as no files are kept."""
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
