"""The thread that runs delivery tasks."""

import logging
import threading
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

from widerow.clock import Clock
from widerow.commit.committer import Committer
from widerow.engine.engine import Engine
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.limits import DELIVERY_PAUSE_SECONDS, DELIVERY_STOP_SECONDS_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.server.delivery.files import DeliveryRoot
from widerow.server.delivery.task import DeliveryParts
from widerow.server.delivery.worker import DeliveryWorker
from widerow.storage.bulk import LONG_WORK

__all__ = ["DeliveryThread", "refusal_of_deliveries"]

_log = logging.getLogger("widerow.server")


def refusal_of_deliveries() -> TablestoreRule | None:
    """The rule by which a server with a directory for files refuses tasks; None: it takes them."""
    return None if find_spec("pyarrow") is not None else TablestoreRule.DELIVERY_LIBRARY


class DeliveryThread:
    """Runs the tasks of an engine from `start` to `stop`."""

    def __init__(
        self, engine: Engine, committer: Committer, clock: Clock, root: Path, wait_seconds: float
    ) -> None:
        """`clock`: the engine's. `wait_seconds`: how long rows may wait for their file."""
        turn = nullcontext() if engine.store.capabilities.reads_may_block else LONG_WORK
        parts = DeliveryParts(
            engine.operations(TABLESTORE).deliveries,
            committer.run,
            clock,
            DeliveryRoot(root),
            turn,
            int(wait_seconds * 1_000_000_000),
        )
        self._worker = DeliveryWorker(engine, parts)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="widerow-delivery", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write all buffers and end. Waits for that, `DELIVERY_STOP_SECONDS_MAX` at most."""
        self._stopping.set()
        self._thread.join(DELIVERY_STOP_SECONDS_MAX)
        if self._thread.is_alive():
            _log.warning("the last files of delivery tasks are left to the next start")

    def _run(self) -> None:
        more = False
        while not self._stopping.wait(0 if more else DELIVERY_PAUSE_SECONDS):
            more = self._step()
        self._step()  # for records since the last step
        try:
            self._worker.finish()
        except Exception as error:  # noqa: BLE001  # the next start repeats it
            _told(error)

    def _step(self) -> bool:
        try:
            return self._worker.step()
        except Exception as error:  # noqa: BLE001  # serving goes on; the next step begins again
            _told(error)
            return False


def _told(error: Exception) -> None:
    _log.error("delivery failed", exc_info=error, extra={"facts": {"kind": type(error).__name__}})
