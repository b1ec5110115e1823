"""The thread that keeps search indexes up, beside the server and outside of its requests.

It opens and builds indexes, takes what was written, so that a search finds little to do, and writes
their files. There is none where no table has a search index: it starts with the first one. While it
computes it takes turns with others who do so for long (`storage/bulk.py`); for writing files it
does not, because nobody waits for a disk with a turn in hand.
"""

import logging
import threading
from contextlib import nullcontext

from widerow.engine.engine import Engine
from widerow.errors import StorageFailure, StoreDamaged
from widerow.limits import SEARCH_CHECKPOINT_LOOK_SECONDS, SEARCH_PAUSE_SECONDS
from widerow.storage.bulk import LONG_WORK

__all__ = ["SearchThread"]

_log = logging.getLogger("widerow.search")


class SearchThread:
    """Works at the indexes of an engine from `start` to `stop`."""

    def __init__(self, engine: Engine) -> None:
        """Nothing happens before `start`."""
        self._engine = engine
        self._turn = nullcontext() if engine.store.capabilities.reads_may_block else LONG_WORK
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="widerow-search", daemon=True)

    def start(self) -> None:
        """Begin; from now on writers wait where an index cannot follow them."""
        self._engine.backlog.is_bounded = True
        self._thread.start()

    def stop(self) -> None:
        """End, and write down what every index has taken. Waits for that."""
        self._stopping.set()
        self._thread.join()
        self._engine.backlog.is_bounded = False
        self._write_down(all_of_them=True)

    def _run(self) -> None:
        search = self._engine.search
        looked, more = 0.0, False
        while not self._stopping.wait(0 if more else SEARCH_PAUSE_SECONDS):
            try:
                more = search.work(self._turn)
                if not more:
                    search.merge()  # which takes no turn, because it pauses for those who do
            except StoreDamaged as error:
                _told(error)
                self._engine.store.distrust(str(error))
                more = False
            except Exception as error:  # noqa: BLE001  # serving goes on; the next step begins again
                _told(error)
                more = False
            looked += SEARCH_PAUSE_SECONDS
            if looked >= SEARCH_CHECKPOINT_LOOK_SECONDS:
                looked = 0.0
                self._write_down(all_of_them=False)

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
