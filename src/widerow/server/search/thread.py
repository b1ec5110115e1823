"""The threads that keep search indexes up, beside the server and outside of its requests.

One opens and builds indexes and takes what was written, so that a search finds little to do. While
it computes it takes turns with others who do so for long (`storage/bulk.py`). Another one merges
segments and writes files, which may take seconds during which the first goes on; it takes no turn,
because a merge pauses for those who do, and nobody waits for a disk with a turn in hand. They start
with the first index.
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
    """Works at the indexes of an engine from `start` to `stop`."""

    def __init__(self, engine: TablestoreEngine, *, lags: bool = False) -> None:
        """Nothing happens before `start`. `lags`: rows are taken a time after they were written."""
        self._engine = engine
        self._turn = nullcontext() if engine.core.store.capabilities.reads_may_block else LONG_WORK
        self._lags = lags
        self._stopping = threading.Event()
        self._called = threading.Event()  # many rows wait, or it is to end
        self._threads = [
            threading.Thread(target=self._follow, name="widerow-search", daemon=True),
            threading.Thread(target=self._compact, name="widerow-search-files", daemon=True),
        ]

    def start(self) -> None:
        """Begin; from now on writers wait where an index cannot follow them."""
        backlog = self._engine.backlog
        backlog.is_bounded, backlog.is_paced = True, not self._lags
        if not self._lags:
            backlog.wake = self._called.set
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """End, and write down what every index has taken. Waits for that."""
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
        """Do something over and over, at once again where it answers that there is more to do.

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
