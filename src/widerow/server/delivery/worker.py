"""Runs all delivery tasks of a store, step by step, and tries failed ones again.

Where several servers share the store, the one that holds the lease delivers. A task whose files
cannot be written says so in its description and is tried again after a minute, from its checkpoint.
"""

import logging
from typing import Final

from widerow.engine.engine import Engine
from widerow.engine.tablestore.delivery.service import FoundTask
from widerow.engine.tunnels.records import DeliveryTrouble
from widerow.errors import Exhausted, NotFound, StorageFailure, WiderowError
from widerow.limits import (
    DELIVERY_BUFFER_BYTES_MAX,
    DELIVERY_BUFFER_ROWS_MAX,
    DELIVERY_DETAIL_CHARACTERS_MAX,
    DELIVERY_RETRY_SECONDS,
)
from widerow.server.delivery.task import Delivering, DeliveryParts

__all__ = ["DeliveryWorker"]

_log = logging.getLogger("widerow.server")

_INVALID_BUCKET: Final = 2  # the protocol's number for an unusable place (change §D3)


class DeliveryWorker:
    """Runs every task of one engine. For one thread."""

    def __init__(self, engine: Engine, parts: DeliveryParts) -> None:
        """Does nothing before `step`."""
        self._engine = engine
        self._parts = parts
        self._working: dict[str, Delivering] = {}  # by the ids of their tunnels
        self._put_off: dict[str, int] = {}  # by the ids of tunnels: until when

    def step(self) -> bool:
        """One step of every task; whether more can be done at once."""
        if not self._engine.lease.held() or not self._engine.store.writable:
            self._working.clear()
            return False
        found = {each.task.tunnel.id: each for each in self._parts.deliveries.all()}
        self._working = {name: each for name, each in self._working.items() if name in found}
        self._put_off = {name: until for name, until in self._put_off.items() if name in found}
        more = False
        for task in found.values():
            more |= self._work(task)
            self._keep_bounds()
        return more

    def finish(self) -> None:
        """Write all buffers. Rows that cannot be written are read again at the next start."""
        for task in list(self._working.values()):
            try:
                task.finish()
            except Exception as error:  # noqa: BLE001  # other tasks go on
                self._failed(task.found, error)
        self._working.clear()

    def _work(self, found: FoundTask) -> bool:
        name = found.task.tunnel.id
        if self._put_off.get(name, 0) > self._parts.clock.monotonic_ns():
            return False
        try:
            if name not in self._working:
                self._working[name] = Delivering(found, self._parts)
            return self._working[name].step()
        except Exception as error:  # noqa: BLE001  # other tasks go on
            self._failed(found, error)
            return False

    def _keep_bounds(self) -> None:
        """Write the largest buffers while all buffers together exceed their bound."""
        while True:
            held = [
                (buffer.size, len(buffer.rows), task, buffer)
                for task in self._working.values()
                for buffer in task.buffers.values()
            ]
            size, rows = sum(each[0] for each in held), sum(each[1] for each in held)
            if size <= DELIVERY_BUFFER_BYTES_MAX and rows <= DELIVERY_BUFFER_ROWS_MAX:
                return
            _, _, task, buffer = max(held, key=lambda each: each[:2])
            try:
                task.flush(buffer)
            except Exception as error:  # noqa: BLE001  # other tasks go on
                self._failed(task.found, error)

    def _failed(self, found: FoundTask, error: Exception) -> None:
        """Begin again at the checkpoint: at once after `NotFound`, else after a pause."""
        name = found.task.tunnel.id
        self._working.pop(name, None)
        if isinstance(error, NotFound):
            return  # the task or the client is gone; the next step sees which
        pause_ns = DELIVERY_RETRY_SECONDS * 1_000_000_000
        self._put_off[name] = self._parts.clock.monotonic_ns() + pause_ns
        facts = {
            "table": found.table.qualified,
            "task": found.task.name,
            "kind": type(error).__name__,
            "reason": str(error),
        }
        _log.warning("delivery is put off", extra={"facts": facts})
        if not isinstance(error, StorageFailure | Exhausted):
            self._tell(found, str(error)[:DELIVERY_DETAIL_CHARACTERS_MAX])

    def _tell(self, found: FoundTask, detail: str) -> None:
        trouble = DeliveryTrouble(_INVALID_BUCKET, detail)
        try:
            if self._parts.deliveries.trouble(found) != trouble:
                self._parts.run(self._parts.deliveries.note(found, trouble))
        except WiderowError as error:
            facts = {"task": found.task.name, "reason": str(error)}
            _log.info("trouble of a delivery task is not noted", extra={"facts": facts})
