"""Work under the lease goes on at another server when its holder has died (engine/lease.py).

Two servers share a store. The first one holds the lease and has work before it, of which it does
nothing more. The second one takes over when it has heard nothing for `SILENT_SECONDS`, not before.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.support.answers import decode_answer_rows
from tests.support.changes import create, put, scan_all
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore

from widerow.engine.partitions.balance import FLUSH_SECONDS
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix, statistics_key
from widerow.limits import NODE_LOOK_SECONDS, SILENT_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.tablestore.delivery import (
    CreateDelivery,
    DeliveryColumn,
    DeliveryConfig,
    DeliveryType,
    ParquetType,
)
from widerow.model.tablestore.requests import CreateIndex, IndexDefinition, StreamChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyMarker, KeyType
from widerow.server.delivery.files import DeliveryRoot
from widerow.server.delivery.task import DeliveryParts
from widerow.server.delivery.worker import DeliveryWorker
from widerow.testing.clock import FakeClock, FakeEntropy

DAY: Final = 86_400
ROWS: Final = 20
LARGE: Final = "x" * 200_000  # what is known of sizes is known in megabytes


class Work(NamedTuple):
    """What makes work, when it is due, what tells that it is done.

    `within_seconds`: so long it may take from the moment on at which the holder is known to be
    silent.
    """

    make: Callable[[TablestoreEngine], None]
    due_seconds: int
    is_done: Callable[[TablestoreEngine], bool]
    within_seconds: float = 15


class Servers:
    """Two engines over one store, and the clock that both go by."""

    def __init__(self) -> None:
        self.clock, space = FakeClock(), StrictSpace()
        thresholds = Thresholds(split_bytes=ROWS * len(LARGE) // 3, cold_seconds=1e9)
        self.engines = [
            open_tablestore(
                StrictStore(space, FakeEntropy(n)),
                self.clock,
                FakeEntropy(n + 5),
                thresholds=thresholds,
                delivery_refusal=None,
            )
            for n in range(2)
        ]
        for engine in self.engines:
            engine.core.run(engine.core.nodes.beat() or nothing())
            engine.core.nodes.look()

    def live(self, seconds: float, engine: TablestoreEngine, *, works: bool) -> Iterator[float]:
        """A server tells of itself, holds its lease, and works if it is to; seconds so far."""
        for turn in range(round(seconds / NODE_LOOK_SECONDS)):
            engine.core.partitions.absorb()
            engine.core.run(engine.core.nodes.beat() or nothing())
            engine.core.nodes.look()
            for _ in range(200 if works else 1):
                plan = (
                    (engine.core.housekeeping() or engine.core.partitions.step()) if works else None
                )
                engine.core.run(plan or engine.core.lease.plan() or nothing())
                if plan is None:
                    break
            yield turn * NODE_LOOK_SECONDS
            self.clock.advance(NODE_LOOK_SECONDS)


def nothing() -> Plan[None]:
    return Plan((), lambda _: None)


def make_table(
    engine: TablestoreEngine, name: str = "t", time_to_live: int = -1, **more: object
) -> None:
    asked = create(
        name, {"k": KeyType.INTEGER}, time_to_live=time_to_live, allow_update=time_to_live < 0
    )
    engine.core.run(engine.create_table("i", replace(asked, **more)))  # type: ignore[arg-type]  # what a test hands on
    for key in range(ROWS):
        change = put(name, {"k": key}, {"s": "x", "large": LARGE})
        engine.core.run(engine.rows.write_row("i", change))


def drop_table(engine: TablestoreEngine) -> None:
    make_table(engine)
    engine.core.run(engine.delete_table("i", "t"))


def let_rows_expire(engine: TablestoreEngine) -> None:
    make_table(engine, time_to_live=DAY)


def add_index(engine: TablestoreEngine) -> None:
    make_table(engine, defined_columns=(DefinedColumn("s", ColumnType.STRING),))
    index = IndexDefinition("by_s", ("s",))
    engine.core.run(engine.indexes.create("i", CreateIndex("t", index, include_base_data=True)))


def write_stream(engine: TablestoreEngine) -> None:
    make_table(engine, stream=StreamChange(enable=True))


# --- what tells that it is done ------------------------------------------------------------------


def has_no_rows(engine: TablestoreEngine) -> bool:
    start = row_prefix(1)
    return not list(engine.core.store.snapshot().scan(start, after_prefix(start)))


def has_statistics(engine: TablestoreEngine) -> bool:
    return engine.core.store.snapshot().get(statistics_key(1)) is not None


def is_split(engine: TablestoreEngine) -> bool:
    engine.core.catalog.renew()
    return bool(engine.describe_table("i", "t").splits)


def has_entries(engine: TablestoreEngine) -> bool:
    low, high = ({"s": end, "k": end} for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX))
    try:
        page = engine.rows.get_range("i", scan_all("by_s", low, high))
    except Conflict:
        return False  # it is being built
    return len(decode_answer_rows(page.rows)) == ROWS


def has_records(engine: TablestoreEngine) -> bool:
    table = engine.describe_table("i", "t")
    found = 0
    for shard in engine.streams.shards(table):
        at: str | None = engine.streams.iterator(table, shard.id, None)
        while at is not None:
            page = engine.streams.read(table, at, ROWS)
            found += len(page.records())
            at = page.following if page.records() else None
    return found == ROWS


WORKS: Final = {
    "a dropped table is cleared": Work(drop_table, TRANSACTION_SECONDS_MAX, has_no_rows),
    "what expired is swept": Work(let_rows_expire, 2 * DAY, has_no_rows),
    "statistics are kept": Work(make_table, 0, has_statistics, FLUSH_SECONDS + 2),
    "a full partition is split": Work(make_table, 0, is_split),
    "an index is built": Work(add_index, TRANSACTION_SECONDS_MAX, has_entries),
    "records of a stream are moved": Work(write_stream, 0, has_records),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS.keys())
def test_what_a_holder_leaves_is_done_within_seconds_of_its_death(work: Work) -> None:
    servers = Servers()
    dying, other = servers.engines
    for _ in servers.live(1, dying, works=False):
        pass
    assert dying.core.lease.held()
    work.make(dying)
    servers.clock.advance(work.due_seconds)
    for _ in servers.live(2, dying, works=False):
        pass  # it lives, and dies before it does what is due
    other.core.nodes.look()
    done_at = None
    for seconds in servers.live(SILENT_SECONDS + work.within_seconds, other, works=True):
        if work.is_done(other):
            done_at = seconds
            break
    assert done_at is not None
    assert done_at >= SILENT_SECONDS - 2, "the holder lived, as far as was known"
    assert other.core.lease.held()


# --- delivery: what a holder left half done is in the files once ---------------------------------

FILE_SECONDS: Final = 4  # a row waits so long for its file


class Died(BaseException):
    """The process of the holder ends here."""


class Couriers:
    """The workers of both servers, which write into one directory, as one that is mounted."""

    def __init__(self, servers: Servers, root: Path) -> None:
        self.servers, self.root = servers, root
        self.dies_before_checkpoint = False
        self.workers = [self._worker(engine) for engine in servers.engines]

    def _worker(self, engine: TablestoreEngine) -> DeliveryWorker:
        parts = DeliveryParts(
            engine.deliveries,
            lambda plan: self._commit(engine, plan),
            self.servers.clock,
            DeliveryRoot(self.root),
            nullcontext(),
            FILE_SECONDS * 1_000_000_000,
        )
        return DeliveryWorker(engine.core, parts)

    def _commit(self, engine: TablestoreEngine, plan: Plan[Any]) -> Any:  # noqa: ANN401  # what the plan answers
        if self.dies_before_checkpoint and engine is self.servers.engines[0] and self.files():
            raise Died
        return engine.core.run(plan)

    def work(self, number: int, seconds: float) -> None:
        """A server lives for so long, and delivers."""
        for _ in self.servers.live(seconds, self.servers.engines[number], works=True):
            self.workers[number].step()

    def files(self) -> list[Path]:
        return sorted(self.root.rglob("*.parquet"))

    def keys(self) -> list[int]:
        """The keys of the rows in all files."""
        parquet = pytest.importorskip("pyarrow.parquet", reason="pip install pyarrow")
        rows = [row for path in self.files() for row in parquet.read_table(path).to_pylist()]
        return sorted(row["k"] for row in rows)


@pytest.mark.parametrize(
    "written", [False, True], ids=["a row that waits", "a file without a mark"]
)
def test_what_a_holder_had_to_deliver_is_in_the_files_once(
    *, written: bool, tmp_path: Path
) -> None:
    """Change §D3. Also where it dies between its file and the mark behind it, and comes back."""
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    servers = Servers()
    dying, other = servers.engines
    couriers = Couriers(servers, tmp_path)
    make_table(dying)
    config = DeliveryConfig("bucket", (DeliveryColumn("k", "", ParquetType.INT64),), "out")
    task = CreateDelivery("t", "task", DeliveryType.BASE_INC, config)
    dying.core.run(dying.deliveries.create("i", task))
    last = put("t", {"k": ROWS}, {"s": "x"})
    if written:
        couriers.dies_before_checkpoint = True
        with pytest.raises(Died):
            couriers.work(0, FILE_SECONDS)
        assert couriers.files()
    else:
        couriers.work(0, 2 * FILE_SECONDS)
        dying.core.run(dying.rows.write_row("i", last))
        couriers.work(0, FILE_SECONDS / 2)
        assert couriers.keys() == list(range(ROWS)), "the last one waits for company"
    other.core.nodes.look()
    couriers.work(1, SILENT_SECONDS / 2)
    assert not other.core.lease.held(), "the holder lived, as far as was known"
    couriers.work(1, SILENT_SECONDS + 4 * FILE_SECONDS)
    if written:
        assert couriers.keys() == list(range(ROWS)), "the file was written over"
        other.core.run(other.rows.write_row("i", last))
        couriers.work(1, 2 * FILE_SECONDS)
    assert couriers.keys() == list(range(ROWS + 1))
    couriers.dies_before_checkpoint = False
    couriers.work(0, 2 * FILE_SECONDS)  # it was only paused
    assert couriers.keys() == list(range(ROWS + 1))
    assert other.core.lease.held()
