"""A key that a store cannot hold refuses its own row (`storage/interface.py`, rule 17).

PostgreSQL holds keys of 2600 bytes and HBase of 32,767 (docs/operating/cluster.md): less than four
values of 1024 bytes, or than an entry of an index. Stores here have the bounds of these.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest
from tests.support.answers import decode_row
from tests.support.changes import create, delete, get, put, put_cells, scan_all, update
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore

from widerow.engine.check import check_store
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule, StoreBusy
from widerow.limits import INT64_MAX, TRANSACTION_SECONDS_MAX
from widerow.model.tablestore.requests import (
    BatchWrite,
    CreateIndex,
    IndexDefinition,
    TableWrite,
)
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyMarker, KeyType
from widerow.storage.hbase.driver import HBaseDriver
from widerow.storage.interface import Store, Transaction, Write
from widerow.storage.memory import MemoryStore
from widerow.storage.postgres.driver import PostgresDriver
from widerow.storage.rocksdb import RocksDBStore
from widerow.testing.clock import FakeClock, FakeEntropy

POSTGRES, HBASE = 2600, 32_767
SHARD: Final = b"\x06\x00\x00\x00\x01k\x00\x01"
KEY: Final = dict.fromkeys("pqr", KeyType.STRING)
GLOBAL: Final = IndexDefinition("by_s", ("s",), ("c",))
LOCAL: Final = IndexDefinition("local_s", ("p", "s"), kind=1, mode=1)
NOTHING: Final[Plan[None]] = Plan((), failing)


def strict(bound: int) -> Store:
    store = StrictStore(StrictSpace(), FakeEntropy(1))
    store.capabilities = replace(StrictStore.capabilities, key_bytes_max=bound)
    return store


def remote(bound: int) -> Store:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    driver.capabilities = replace(MemoryDriver.capabilities, key_bytes_max=bound)
    return remote_store(driver)


STORES: Final[dict[str, Callable[[int], Store]]] = {"strict": strict, "remote": remote}


def test_each_store_says_what_it_holds() -> None:
    told = [each.capabilities.key_bytes_max for each in (PostgresDriver, HBaseDriver)]
    assert told == [POSTGRES, HBASE]
    for unbounded in (MemoryStore, RocksDBStore):
        assert unbounded.capabilities.key_bytes_max == INT64_MAX


@pytest.mark.parametrize("bound", [POSTGRES, HBASE])
@pytest.mark.parametrize("name", STORES)
def test_a_body_that_puts_too_long_a_key_is_refused_alone(name: str, bound: int) -> None:
    with STORES[name](bound) as store:
        longest = SHARD.ljust(bound, b"x")
        other = SHARD[:-3] + b"l\x00\x01"
        puts = [longest, longest + b"x", SHARD + b"a", other]

        def put_after(key: bytes) -> Write[None]:
            shard = other if key == other else SHARD

            def body(txn: Transaction) -> None:
                txn.put(shard + b"first" + key[-1:], b"")
                txn.put(key, b"v")

            return Write((shard,), body)

        outcomes = store.transact_group([put_after(key) for key in puts])
        assert [getattr(each.error, "rule", None) for each in outcomes] == [
            None,
            Rule.STORED_KEY_LENGTH,
            None,
            None,
        ]
        reader = store.snapshot()
        assert reader.get_many(puts) == [b"v", None, b"v", b"v"]


def engine_of(store: Store, *indexes: IndexDefinition) -> TablestoreEngine:
    engine = open_tablestore(store, FakeClock(), FakeEntropy(2))
    asked = replace(
        create("t", KEY),
        defined_columns=tuple(DefinedColumn(name, ColumnType.STRING) for name in "sc"),
        indexes=indexes,
    )
    engine.core.run(engine.create_table("i", asked))
    return engine


def key(*lengths: int) -> dict[str, str]:
    return {name: "k" * length for name, length in zip("pqr", lengths, strict=True)}


WIDE: Final = {"w" * 200 + str(number): "x" * 30_000 for number in range(9)}

LONG: Final[dict[str, tuple[tuple[IndexDefinition, ...], RowChange]]] = {
    "a row": ((), put("t", key(1000, 1000, 700), {"a": 1})),
    "a row that is updated": ((), update("t", key(1000, 1000, 700), put_cells({"a": 1}))),
    "a row that is not there": ((), delete("t", key(1000, 1000, 700))),
    "a part of a wide row": ((), put("t", key(1000, 1000, 500), WIDE)),
    "an entry of a global index": ((GLOBAL,), put("t", key(900, 900, 1), {"s": "s" * 900})),
    "an entry of a local index": ((LOCAL,), put("t", key(900, 900, 1), {"s": "s" * 900})),
}


def neighbours() -> list[RowChange]:
    """Rows of the same partition key value as the long one, and of another one."""
    return [put("t", key(length, 1, 2), {"s": "a"}) for length in (1000, 900, 3)]


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("name", STORES)
def test_a_row_that_is_too_long_is_refused_and_its_neighbours_are_written(
    name: str, what: str
) -> None:
    indexes, change = LONG[what]
    with STORES[name](POSTGRES) as store:
        engine = engine_of(store, *indexes)
        first, *rest = neighbours()
        batch = BatchWrite((TableWrite("t", (first, change, *rest)),))
        [outcomes] = engine.core.run(engine.rows.batch_write_row("i", batch))
        refused = [each.error for each in outcomes]
        assert [each is None for each in refused] == [True, False, True, True]
        assert isinstance(refused[1], InvalidRequest)
        assert refused[1].rule is Rule.STORED_KEY_LENGTH
        assert refused[1].details["limit"] == POSTGRES
        for each in neighbours():
            assert decode_row(engine.rows.get_row("i", get("t", dict(each.key.columns))).row)
        assert not engine.rows.get_row("i", get("t", dict(change.key.columns))).row
        with pytest.raises(InvalidRequest):
            engine.core.run(engine.rows.write_row("i", change))
        settle(engine)
        assert check_store(store) == []


def entries(engine: TablestoreEngine) -> int:
    bounds = [dict.fromkeys("spqr", end) for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX)]
    return len(engine.rows.get_range("i", scan_all("by_s", *bounds)).pieces)


def settle(engine: TablestoreEngine) -> None:
    """Keep house until there is nothing to do."""
    engine.core.clock.advance(TRANSACTION_SECONDS_MAX + 1)  # type: ignore[attr-defined]  # the fake one
    for _ in range(200):
        with suppress(StoreBusy):
            engine.core.run(engine.core.housekeeping() or NOTHING)


def test_a_row_from_before_the_index_has_no_entry_and_keeps_no_index_waiting() -> None:
    """As a value that no key may hold (docs/protocol/differences.md)."""
    with strict(POSTGRES) as store:
        engine = engine_of(store)
        long, short = key(900, 900, 1), key(1, 1, 1)
        for each in (long, short):
            engine.core.run(engine.rows.write_row("i", put("t", each, {"s": "s" * 900})))
        engine.core.run(
            engine.indexes.create("i", CreateIndex("t", GLOBAL, include_base_data=True))
        )
        settle(engine)
        assert all(index.ready for index in engine.describe_table("i", "t").indexes)
        assert entries(engine) == 1
        other = update("t", long, put_cells({"b": "changed"}))  # the entry does not change
        engine.core.run(engine.rows.write_row("i", other))
        with pytest.raises(InvalidRequest):
            engine.core.run(
                engine.rows.write_row("i", update("t", long, put_cells({"s": "t" * 900})))
            )
        engine.core.run(engine.rows.write_row("i", update("t", long, put_cells({"s": "short"}))))
        settle(engine)
        assert entries(engine) == 2
        assert check_store(store) == []
