"""What a server gives to its search indexes: locks, files, the log."""

import logging
import threading
from collections.abc import Mapping
from typing import Final

from widerow.server.search.files import IndexDirectory, SearchDirectory

__all__ = ["ServerSearchHost"]

_log = logging.getLogger("widerow.search")

_SECOND_US: Final = 1_000_000


class ServerSearchHost:
    """A `SearchHost`. Any thread may call."""

    def __init__(self, directory: SearchDirectory | None, lag_seconds: float) -> None:
        """`directory`: of the files; None: no files are kept."""
        self.lag_us = int(lag_seconds * _SECOND_US)
        self._directory = directory

    def lock(self) -> "threading.RLock":
        """A re-entrant lock for one thread at a time."""
        return threading.RLock()

    def files(self, index_id: int) -> IndexDirectory | None:
        """The files of an index; None where no files are kept."""
        return None if self._directory is None else self._directory.of(index_id)

    def kept(self) -> list[int]:
        """The numbers of indexes that have files."""
        return [] if self._directory is None else self._directory.kept()

    def forget(self, index_id: int) -> None:
        """Remove the files of an index."""
        if self._directory is not None:
            self._directory.forget(index_id)

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        """Log an event."""
        _log.info(event, extra={"facts": dict(facts)})
