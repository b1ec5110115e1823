"""Typed tables have partitions by the same rules as all others (docs/operating/partitions.md)."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow import nosql
from widerow.engine.check import check_store
from widerow.engine.partitions.balance import FLUSH_SECONDS, Partitions
from widerow.engine.partitions.rules import Reason
from widerow.engine.typed.record import encode_typed_table
from widerow.errors import StorageFailure, StoreDamaged
from widerow.housekeeping.routines import write_down
from widerow.keys.layout import (
    SPACE_STATISTICS,
    SPACE_TYPED_CATALOG,
    row_prefix,
    statistics_key,
    statistics_prefix,
    typed_catalog_key,
)
from widerow.storage.interface import Store as Bytes
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

LIMITS = nosql.Thresholds(split_units=20.0, hot_seconds=5.0, cold_seconds=30.0)
RATE = 60  # rows a second, and a unit each


@pytest.fixture
def opened() -> Iterator[Bytes]:
    with open_store("memory:") as store:
        yield store


@pytest.fixture
def store(opened: Bytes, clock: FakeClock) -> Iterator[nosql.TypedStore]:
    """A store whose tables split at a load that a test can make."""
    with nosql.TypedStore(opened, clock, FakeEntropy(), thresholds=LIMITS) as typed:
        yield typed
        assert check_store(opened) == []


@pytest.fixture
def table(store: nosql.TypedStore) -> nosql.TableHandle:
    """Key (g, n, id), of which (g, n) is the shard key."""
    builder = nosql.TableBuilder("t").add_field("g", nosql.STRING).add_field("n", nosql.INTEGER)
    builder.add_field("id", nosql.INTEGER).add_field("v", nosql.STRING)
    return store.create_table(builder.primary_key("g", "n", "id").shard_key("g", "n").build())


def work(store: nosql.TypedStore) -> None:
    """Carry out everything that is due now."""
    for _ in range(10_000):
        if not store.housekeep():
            return
    raise AssertionError("there is no end to it")


def pass_time(store: nosql.TypedStore, clock: FakeClock, seconds: int) -> None:
    for _ in range(seconds):
        clock.advance(1)
        work(store)


def spread(number: int) -> dict[str, Any]:
    return {"g": f"g{number * 7 % 100:02}", "n": number % 5, "id": number}


def in_one_shard(number: int) -> dict[str, Any]:
    return {"g": "g", "n": 1, "id": number}


def load(
    store: nosql.TypedStore,
    clock: FakeClock,
    key: Callable[[int], dict[str, Any]] = spread,
    *,
    seconds: int = 30,
) -> None:
    table = store.table("t")
    for second in range(seconds):
        table.put_many(key(second * RATE + number) for number in range(RATE))
        pass_time(store, clock, 1)


def told(store: nosql.TypedStore) -> dict[str, Any]:
    return store.describe_partitions("t")


# --- splits and merges ---------------------------------------------------------------------------


def test_a_hot_table_splits_and_merges_when_the_load_goes(
    store: nosql.TypedStore,
    table: nosql.TableHandle,
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "widerow.partitions"):
        load(store, clock, seconds=40)
        bounds = table.definition.splits
        assert len(bounds) >= 2
        assert bounds == tuple(sorted(bounds))
        found = told(store)["partitions"]
        assert [each["start_hex"] for each in found] == ["", *[bound.hex() for bound in bounds]]
        assert found[1]["start"].keys() == {"g", "n"}
        assert max(each["share"] for each in found) <= 2 / len(found)
        pass_time(store, clock, 300)
    assert table.definition.splits == ()
    facts = [record.__dict__["facts"] for record in caplog.records]
    reasons = [each["reason"] for each in facts]
    assert {each["table"] for each in facts} == {"t"}
    assert set(reasons) == {Reason.TOO_HOT.value, Reason.COLD.value}
    assert len(reasons) == 2 * len(bounds)


def test_a_large_table_splits_at_shard_keys(opened: Bytes, clock: FakeClock) -> None:
    limits = replace(LIMITS, split_bytes=3 * 1024 * 1024)
    with nosql.TypedStore(opened, clock, FakeEntropy(), thresholds=limits) as store:
        builder = nosql.TableBuilder("t").add_field("k", nosql.LONG).add_field("v", nosql.BINARY)
        made = store.create_table(builder.primary_key("k").build())
        made.put_many({"k": number, "v": bytes(60_000)} for number in range(120))
        pass_time(store, clock, 20)
        assert len(made.definition.splits) >= 2
        found = told(store)
        assert sum(each["rows"] for each in found["partitions"]) == found["rows"] == 120
        assert all(each["bytes"] < 4 * 1024 * 1024 for each in found["partitions"])
        assert all(isinstance(each["start"], int) for each in found["partitions"][1:])
        assert check_store(opened) == []


def test_a_shard_is_never_divided_and_what_does_not_split_is_told(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    load(store, clock, in_one_shard)
    assert len(table.definition.splits) <= 1  # in front of the only shard key, if anywhere
    assert table.multi_get_keys({"g": "g", "n": 1})[-1]["id"] == 30 * RATE - 1
    found = told(store)
    assert [each["reason"] for each in found["reports"]] == [Reason.KEY_TOO_HOT.value]
    busiest = max(found["partitions"], key=lambda each: float(each["share"]))
    assert busiest["top_keys"][0]["key"] == found["reports"][0]["key"] == {"g": "g", "n": 1}
    assert busiest["top_keys"][0]["hash"] == found["reports"][0]["key_hash"]
    assert busiest["top_keys"][0]["share"] > 0.9


def test_bounds_and_counts_survive_closing(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock, opened: Bytes
) -> None:
    load(store, clock)
    before = told(store)
    assert len(before["partitions"]) > 1
    write_down(store._routines, store.commit)  # as closing does
    again = nosql.TypedStore(opened, clock, FakeEntropy(1), thresholds=LIMITS)
    after = again.describe_partitions("T")
    assert again.table("t").definition == table.definition
    for field in ("rows", "bytes", "consumed", "name", "key"):
        assert after[field] == before[field]
    starts = [[each["start_hex"] for each in found["partitions"]] for found in (before, after)]
    assert starts[0] == starts[1]


def test_closing_writes_down_what_was_counted(tmp_path: Path) -> None:
    for reads in (1, 2):
        with nosql.open(tmp_path / "data", housekeeping=False) as store:
            builder = nosql.TableBuilder("t").add_field("k", nosql.LONG)
            made = store.create_table(builder.primary_key("k").build(), if_not_exists=True)
            made.put({"k": 1})
            made.get({"k": 1})
        with nosql.open(tmp_path / "data", housekeeping=False) as store:
            found = told(store)
            assert (found["rows"], found["consumed"]) == (1, {"read": reads, "write": reads})


def test_the_housekeeping_thread_balances(tmp_path: Path) -> None:
    """Counts get to the store without anyone asking, half a minute after the last time."""
    clock, pause = FakeClock(), Event()
    with nosql.open(tmp_path / "data", clock=clock) as store:
        builder = nosql.TableBuilder("t").add_field("k", nosql.LONG)
        made = store.create_table(builder.primary_key("k").build())
        made.put({"k": 1})
        counts = statistics_key(made.definition.id)
        while store.engine.store.snapshot().get(counts) is None:
            clock.advance(FLUSH_SECONDS)
            pause.wait(0.01)


def test_the_housekeeping_thread_stops_writes_to_a_damaged_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(_: Partitions) -> None:
        raise StoreDamaged("a statistics record is not readable")

    monkeypatch.setattr(Partitions, "step", damaged)
    pause = Event()
    with nosql.open(tmp_path / "data") as store:
        while store.engine.store.writable:
            pause.wait(0.01)
        with pytest.raises(StorageFailure):
            store.create_namespace("n")


# --- the definition ------------------------------------------------------------------------------


def test_a_split_between_reading_and_evolving_a_table_disturbs_nobody(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    evolver = nosql.TableEvolver(table.definition)
    evolver.add_field("more", nosql.LONG)
    load(store, clock)
    bounds = table.definition.splits
    assert bounds
    changed = store.alter_table(evolver.build())
    assert changed.definition.splits == bounds
    assert changed.definition.field("more") is not None
    row = table.get(spread(1))
    assert row is not None
    assert row["more"] is None


def test_a_table_made_from_the_definition_of_another_begins_with_one_partition(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    load(store, clock)
    assert table.definition.splits
    copy = store.create_table(replace(table.definition, name="copy"))
    assert copy.definition.splits == ()


def test_a_dropped_table_leaves_no_statistics(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock, opened: Bytes
) -> None:
    load(store, clock)
    prefix = statistics_prefix(table.definition.id)
    pass_time(store, clock, round(FLUSH_SECONDS))
    assert next(opened.snapshot().scan(prefix, prefix + b"\xff"), None) is not None
    store.drop_table("t")
    assert check_store(opened) == []
    pass_time(store, clock, 1)
    assert next(opened.snapshot().scan(SPACE_STATISTICS, b"\x21"), None) is None
    with pytest.raises(nosql.NotFound):
        told(store)


# --- counting ------------------------------------------------------------------------------------

names = st.sampled_from("abc")
numbers = st.integers(0, 3)
steps = st.one_of(
    st.tuples(st.sampled_from(["put", "put_if_absent", "delete"]), names, numbers),
    st.tuples(st.sampled_from(["expiring", "order", "sequence"]), names, numbers),
    st.tuples(st.sampled_from(["multi_delete", "hour", "housekeep"]), names, numbers),
    st.tuples(st.just("drop"), names, numbers),
)


@given(st.lists(steps, max_size=25))
@settings(max_examples=examples(60), deadline=None)
def test_rows_and_bytes_are_what_lies_in_the_store(given_steps: list[tuple[str, str, int]]) -> None:
    clock = FakeClock()
    with open_store("memory:") as opened, nosql.TypedStore(opened, clock, FakeEntropy()) as store:
        Ledger(store, clock).run(given_steps)
        number = store.table("t").definition.id
        pairs = list(opened.snapshot().scan(row_prefix(number), row_prefix(number + 1)))
        found = told(store)
        assert found["rows"] == len(pairs)
        assert found["bytes"] == sum(len(key) + len(record) for key, record in pairs)


class Ledger:
    """A table and its child, and what is done to them."""

    def __init__(self, store: nosql.TypedStore, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        builder = nosql.TableBuilder("t").add_field("g", nosql.STRING)
        builder.add_field("id", nosql.INTEGER).add_field("v", nosql.STRING)
        self.table = store.create_table(builder.primary_key("g", "id").shard_key("g").build())
        told(store)  # counts from here on, with nothing in it

    def orders(self) -> nosql.TableHandle:
        builder = nosql.TableBuilder("orders", parent=self.table.definition)
        builder.add_field("no", nosql.LONG)
        return self.store.create_table(builder.primary_key("no").build(), if_not_exists=True)

    def run(self, given_steps: list[tuple[str, str, int]]) -> None:
        for kind, name, number in given_steps:
            self.step(kind, {"g": name, "id": number})

    def step(self, kind: str, key: dict[str, Any]) -> None:
        row = {**key, "v": "x" * (1 + 100 * key["id"])}
        if kind in ("put", "put_if_absent"):
            getattr(self.table, kind)(row)
        elif kind == "delete":
            self.table.delete(key)
        elif kind == "expiring":
            self.table.put(row, ttl=nosql.TimeToLive.hours(1), update_ttl=True)
        elif kind == "order":
            self.orders().put({**key, "no": 1})
        elif kind == "sequence":
            other = {**key, "id": 9}
            self.store.execute(
                [self.table.operation().put(row), self.table.operation().delete(other)]
            )
        elif kind == "multi_delete":
            self.table.multi_delete({"g": key["g"]}, children=[self.orders()])
        elif kind == "hour":
            self.clock.advance(3600)
        elif kind == "housekeep":
            work(self.store)
        else:
            self.store.drop_table("t.orders", if_exists=True)


def test_a_page_counts_where_it_begins(store: nosql.TypedStore, table: nosql.TableHandle) -> None:
    table.put_many({**in_one_shard(number), "g": f"g{number}"} for number in range(10))
    assert told(store)["consumed"] == {"read": 0, "write": 10}
    assert len(list(table.table_iterator(batch_size=5))) == 10
    assert told(store)["consumed"] == {"read": 2, "write": 10}


def test_rows_that_an_index_leads_to_count_where_they_lie(
    store: nosql.TypedStore, table: nosql.TableHandle, clock: FakeClock
) -> None:
    store.create_index("t", nosql.Index("by_v", (nosql.IndexField("v"),)))
    table.put_many({**spread(number), "v": "x"} for number in range(10))
    pass_time(store, clock, 1)
    assert len(list(table.index_keys_iterator("by_v", {"v": "x"}))) == 10
    assert told(store)["consumed"] == {"read": 0, "write": 10}
    assert len(list(table.index_iterator("by_v", {"v": "x"}))) == 10
    assert told(store)["consumed"] == {"read": 10, "write": 10}
    pass_time(store, clock, 1)
    assert len(told(store)["partitions"][0]["top_keys"]) == 8


def test_children_count_with_their_top_table(
    store: nosql.TypedStore, table: nosql.TableHandle
) -> None:
    builder = nosql.TableBuilder("orders", parent=table.definition)
    orders = store.create_table(builder.add_field("no", nosql.LONG).primary_key("no").build())
    orders.put({**spread(1), "no": 5})
    found = store.describe_partitions(orders)
    assert (found["table"], found["name"], found["rows"]) == ("t", "t", 1)
    assert found["key"] == {"name": "g, n", "type": "STRING, INTEGER"}
    assert json.loads(json.dumps(found)) == found


# --- what must not be ----------------------------------------------------------------------------

A = b"a\x00\x01\x80\x00\x00\x01"
B = b"b\x00\x01\x80\x00\x00\x01"


@pytest.mark.parametrize(
    ("splits", "problem"),
    [
        ((A, B), None),
        ((B, A), "a partition's bound is out of order"),
        ((A, A), "a partition's bound is out of order"),
        ((A + b"\x80\x00\x00\x05",), "a partition's bound is out of order"),  # inside a shard key
        ((b"a\x00\x01",), "a partition's bound is not a key"),
    ],
)
def test_the_walk_of_a_store_finds_bounds_that_must_not_be(
    opened: Bytes, clock: FakeClock, splits: tuple[bytes, ...], problem: str | None
) -> None:
    with nosql.TypedStore(opened, clock, FakeEntropy()) as store:
        builder = nosql.TableBuilder("t").add_field("g", nosql.STRING)
        builder.add_field("n", nosql.INTEGER).add_field("id", nosql.INTEGER)
        made = store.create_table(builder.primary_key("g", "n", "id").shard_key("g", "n").build())
        record = encode_typed_table(replace(made.definition, splits=splits))
        key = typed_catalog_key("", "t")
        opened.transact((SPACE_TYPED_CATALOG,), lambda txn: txn.put(key, record))
        found = [(each.table, each.problem) for each in check_store(opened)]
        assert len(found) == (problem is not None)
        assert all(name == "t" and told_of.startswith(str(problem)) for name, told_of in found)
