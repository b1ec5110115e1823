"""A table, a worker that delivers it, and what its files say."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.delivery.service import DeliveryShown
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.delivery import (
    CreateDelivery,
    DeliveryColumn,
    DeliveryConfig,
    DeliveryType,
    ParquetType,
)
from widerow.model.tablestore.row import RowChange
from widerow.model.values import KeyType
from widerow.server.delivery.files import DeliveryRoot, Disk
from widerow.server.delivery.task import DeliveryParts
from widerow.server.delivery.worker import DeliveryWorker
from widerow.storage.interface import Store
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

parquet = pytest.importorskip("pyarrow.parquet", reason="pip install pyarrow")

WAIT = 120
COLUMNS = (
    DeliveryColumn("k", "", ParquetType.UTF8),
    DeliveryColumn("n", "number", ParquetType.INT64),
)
CONFIG = DeliveryConfig("bucket", COLUMNS, "out")


class World:
    """A store with the table `t`, and servers that come and go."""

    def __init__(self, root: Path, disk: Disk | None = None, store: Store | None = None) -> None:
        self.root, self.disk = root, disk or Disk()
        self.store, self.clock, self.seed = store or MemoryStore(), FakeClock(), 0
        self.start()
        self.engine.core.run(self.engine.create_table("i", create("t", {"k": KeyType.STRING})))

    def start(self) -> None:
        """Another process opens the store; of the one before nothing is left."""
        self.seed += 1
        self.engine = open_tablestore(
            self.store, self.clock, FakeEntropy(self.seed), delivery_refusal=None
        )
        self.worker = self.new_worker(self.engine)

    def new_worker(self, engine: TablestoreEngine) -> DeliveryWorker:
        """One more worker, on an engine."""
        root = DeliveryRoot(self.root, self.disk)
        wait_ns = WAIT * 1_000_000_000
        parts = DeliveryParts(
            engine.deliveries, engine.core.run, self.clock, root, nullcontext(), wait_ns
        )
        return DeliveryWorker(engine.core, parts)

    def create(
        self,
        kind: DeliveryType = DeliveryType.BASE_INC,
        config: DeliveryConfig = CONFIG,
        name: str = "task",
    ) -> None:
        request = CreateDelivery("t", name, kind, config)
        self.engine.core.run(self.engine.deliveries.create("i", request))

    def write(self, change: RowChange) -> None:
        self.engine.core.run(self.engine.rows.write_row("i", change))

    def work(self) -> None:
        """Until there is nothing to do at once."""
        self.move()
        for _ in range(1000):
            if not self.worker.step():
                return
        raise AssertionError("a worker that never rests")

    def move(self) -> None:
        """What housekeeping does on a store of several servers: the lease, changes into the log."""
        taking = self.engine.core.lease.plan()
        if taking is not None:
            self.engine.core.run(taking)
        while (plan := self.engine._mover.step()) is not None:
            self.engine.core.run(plan)

    def deliver(self) -> None:
        """What there is, and until what is there has its files."""
        self.work()
        self.clock.advance(WAIT)
        self.work()

    def describe(self, name: str = "task") -> DeliveryShown:
        return self.engine.deliveries.describe("i", "t", name)

    # --- what is there -----------------------------------------------------------------------

    def files(self) -> list[str]:
        """The paths of all files below the root, sorted."""
        found = (path for path in self.root.rglob("*") if not path.is_dir())
        return sorted(str(path.relative_to(self.root)) for path in found)

    def rows(self, pattern: str = "*.parquet") -> list[dict[str, Any]]:
        """The rows of all files, those of rows as they are first, in the order of sequences."""
        paths = sorted(self.root.rglob(pattern), key=order)
        return [row for path in paths for row in parquet.read_table(path).to_pylist()]

    def dirty(self) -> list[dict[str, Any]]:
        paths = sorted(self.root.rglob("*.jsonl"), key=order)
        return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def order(path: Path) -> tuple[int, int]:
    """Where a file stands among those of its task: concurrent id, sequence."""
    stem = path.name.partition(".")[0]
    return int(stem.split("_")[1].split("-")[1]), int(stem.rpartition("__")[2])
