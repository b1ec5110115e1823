"""Tables whose change was under way when the disk filled up (storage/interface.py, rules 8 and 13).

The store goes on when there is room, without a restart; what it then holds decides.
"""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.faults import FaultPlan, engine_failure, os_failure
from tests.support.lossy import LossyDisk, LossyStore

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, NotFound, OutcomeUnknown
from widerow.model.values import KeyType
from widerow.storage.interface import Store
from widerow.storage.rocksdb import RocksDBStore, Steps
from widerow.testing.clock import FakeClock, FakeEntropy

TABLE = create("t", {"k": KeyType.STRING})
ROW = put("t", {"k": "a"}, {"x": 1})


class World(NamedTuple):
    store: Store
    engine: TablestoreEngine
    fill: Callable[[], None]

    def run_out_of_room(self, work: Callable[[], object]) -> None:
        """Do it; the disk fills up when its log is synced, which leaves its outcome open."""
        self.fill()
        with pytest.raises(OutcomeUnknown):
            work()
        assert self.store.writable


def stores(place: Path, kind: str) -> tuple[Store, Callable[[], None]]:
    if kind == "lossy":
        disk = LossyDisk()
        return LossyStore(disk), lambda: disk.plan.add("sync", os_failure(errno.ENOSPC))
    plan = FaultPlan()
    steps = Steps(sync=plan.around("sync", Steps().sync))
    store = RocksDBStore(place / "store", cache_bytes=1 << 20, steps=steps)
    return store, lambda: plan.add("sync", engine_failure(errno.ENOSPC))


@pytest.fixture(params=["lossy", "rocksdb"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    store, fill = stores(tmp_path, request.param)
    with store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        engine.core.run(engine.create_table("i", create("other", {"k": KeyType.STRING})))
        yield World(store, engine, fill)
        assert check_store(store) == []


def test_a_write_does_not_land_in_a_table_that_was_dropped_after_all(world: World) -> None:
    engine = world.engine
    engine.core.run(engine.create_table("i", TABLE))
    world.run_out_of_room(lambda: engine.core.run(engine.delete_table("i", "t")))
    with pytest.raises(NotFound):
        engine.core.run(engine.rows.write_row("i", ROW))
    assert engine.list_tables("i") == ("other",)
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    engine.core.run(engine.create_table("i", TABLE))
    engine.core.run(engine.rows.write_row("i", ROW))


def test_a_table_that_was_created_after_all_is_there(world: World) -> None:
    engine = world.engine
    world.run_out_of_room(lambda: engine.core.run(engine.create_table("i", TABLE)))
    with pytest.raises(Conflict):
        engine.core.run(engine.create_table("i", TABLE))
    engine.core.run(engine.rows.write_row("i", ROW))
    assert engine.list_tables("i") == ("other", "t")
