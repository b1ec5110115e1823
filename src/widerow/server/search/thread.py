"""The threads that work for search indexes in the background.

The first opens and builds indexes and takes written rows, so that a search finds few left to take.
While it computes it takes turns with other long work (`storage/bulk.py`). The second merges
segments and writes files, which may take seconds; it takes no turn, because a merge pauses for
threads that have one, and no thread waits for a disk with the turn. Both start with the first
index.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StorageFailure, StoreDamaged
from widerow.limits import SEARCH_CHECKPOINT_LOOK_SECONDS, SEARCH_PAUSE_SECONDS
from widerow.storage.bulk import LONG_WORK

__all__ = ["SearchThread"]

_log = logging.getLogger("widerow.search")


class SearchThread:
    """Works for the indexes of an engine from `start` to `stop`."""

    def __init__(self, engine: TablestoreEngine, *, lags: bool = False) -> None:
        """Does nothing before `start`.

        `lags`: rows are found only some time after they were written.
        """
        self._engine = engine
        self._turn = nullcontext() if engine.core.store.capabilities.reads_may_block else LONG_WORK
        self._lags = lags
        self._stopping = threading.Event()
        self._called = threading.Event()  # many rows wait, or the thread is to end
        self._threads = [
            threading.Thread(target=self._follow, name="widerow-search", daemon=True),
            threading.Thread(target=self._compact, name="widerow-search-files", daemon=True),
        ]

    def start(self) -> None:
        """Start; from now on writers wait where an index cannot follow them."""
        backlog = self._engine.backlog
        backlog.is_bounded, backlog.is_paced = True, not self._lags
        if not self._lags:
            backlog.wake = self._called.set
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """End, and write the files of every index. Waits for that."""
        backlog = self._engine.backlog
        backlog.is_paced = False
        self._stopping.set()
        self._called.set()
        for each in self._threads:
            each.join()
        backlog.is_bounded = False
        self._write_down(all_of_them=True)

    def _follow(self) -> None:
        def step() -> bool:
            more = self._engine.search.work(self._turn)
            self._engine.search.gather()
            return more

        self._until_stopped(step, self._called)

    def _compact(self) -> None:
        looked = 0.0

        def step() -> bool:
            nonlocal looked
            looked += SEARCH_PAUSE_SECONDS
            if looked >= SEARCH_CHECKPOINT_LOOK_SECONDS:
                looked = 0.0
                self._write_down(all_of_them=False)
            return self._engine.search.merge()

        self._until_stopped(step, self._stopping)

    def _until_stopped(self, step: Callable[[], bool], called: threading.Event) -> None:
        """Call `step` again and again, at once if it answers that there is more to do.

        Else after a pause, which `called` ends.
        """
        more = False
        while True:
            called.wait(0 if more else SEARCH_PAUSE_SECONDS)
            if self._stopping.is_set():
                return
            called.clear()
            try:
                more = step()
            except StoreDamaged as error:
                _told(error)
                self._engine.core.store.distrust(str(error))
                more = False
            except Exception as error:  # noqa: BLE001  # serving goes on; the next step begins again
                _told(error)
                more = False

    def _write_down(self, *, all_of_them: bool) -> None:
        try:
            self._engine.search.write_down(all_of_them=all_of_them)
        except StorageFailure as error:
            _log.warning("files of search indexes", extra={"facts": {"reason": str(error)}})
        except Exception as error:  # noqa: BLE001  # the table is the truth
            _told(error)


def _told(error: Exception) -> None:
    facts = {"kind": type(error).__name__}
    _log.error("keeping up a search index failed", exc_info=error, extra={"facts": facts})
