"""An instance goes back to what it was, or to nothing (docs/guide/testing.md, "Between tests").

Every case is over both embedded stores, and behind each the whole store is sound: every index has
the entries of its rows, and nothing is left of what was dropped.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import hbase
from tests.postgres import fresh_url
from tests.support.answers import decode_answer_rows
from tests.support.changes import create, delete, primary_key, put, scan_all
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.support.watched import INDEXES, WATCHED, entries_found, make_watched, records_found

from widerow.engine import instance_copy
from widerow.engine.check import check_store
from widerow.engine.copying import CopyRefused
from widerow.engine.engine import Engine
from widerow.engine.instance_copy import (
    EMPTY_COPY,
    InstanceCopy,
    copy_instance,
    reset_instance,
)
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import NotFound
from widerow.limits import (
    COPY_BYTES_MAX,
    LEASE_SECONDS,
    RESET_SECONDS_MAX,
    TRANSACTION_SECONDS_MAX,
)
from widerow.model.tablestore.requests import StreamChange
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyInput, KeyMarker, KeyType, Value
from widerow.storage.interface import Outcome, Store, Write
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

Written = Value | list[tuple[int, Value]]

KEYS = {"k": KeyType.STRING, "n": KeyType.INTEGER}


STORES: Final[dict[str, Callable[[Path], Store]]] = {
    "memory": lambda _: open_store("memory:"),
    "rocksdb": lambda folder: open_store(f"rocksdb:{folder / 'store'}"),
    "strict": lambda _: StrictStore(StrictSpace(), FakeEntropy(), conflicts=0.1),
    "remote": lambda _: remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1), homes=3)),
    "postgres": lambda _: open_store(fresh_url()),
    "hbase": lambda _: open_store(hbase.fresh_url()),
}
PATIENT: Final = (pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS))


@pytest.fixture(
    params=[pytest.param(name, marks=PATIENT if name == "hbase" else ()) for name in STORES]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with STORES[request.param](tmp_path) as opened:
        yield opened
        assert check_store(opened) == []


@pytest.fixture
def engine(store: Store) -> TablestoreEngine:
    return open_tablestore(store, FakeClock(), FakeEntropy())


def kept(engine: TablestoreEngine, instance: str = "a") -> InstanceCopy:
    moved(engine)
    return copy_instance(engine.core, instance)


def moved(engine: TablestoreEngine) -> None:
    """Let housekeeping move what waits behind its rows, where it does not come with them."""
    if engine.core.store.capabilities.shared:
        while (plan := engine.core.housekeeping()) is not None:
            engine.core.run(plan)


def reset(engine: TablestoreEngine, copy: InstanceCopy = EMPTY_COPY, instance: str = "a") -> None:
    now_us = FakeClock().now_us()
    engine.core.run(reset_instance(engine.core, instance, copy, now_us))


def rows(engine: TablestoreEngine, table: str, instance: str = "a") -> list[Any]:
    low: dict[str, KeyInput] = dict.fromkeys(KEYS, KeyMarker.INF_MIN)
    high: dict[str, KeyInput] = dict.fromkeys(KEYS, KeyMarker.INF_MAX)
    return decode_answer_rows(engine.rows.get_range(instance, scan_all(table, low, high)).rows)


def write(
    engine: TablestoreEngine, table: str, number: int, instance: str = "a", **columns: Written
) -> None:
    key: dict[str, KeyInput] = {"k": f"p{number % 3}", "n": number}
    engine.core.run(engine.rows.write_row(instance, put(table, key, columns or {"v": number})))
    moved(engine)


def test_rows_with_their_versions_come_back(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("a", create("t", KEYS, max_versions=3)))
    now_ms = FakeClock().now_us() // 1000
    write(engine, "t", 1, v=[(now_ms, 1), (now_ms + 1, 2)], w=b"x")
    write(engine, "t", 2)
    before, copy = rows(engine, "t"), kept(engine)

    write(engine, "t", 3)
    engine.core.run(engine.rows.write_row("a", delete("t", {"k": "p1", "n": 1})))
    engine.core.run(engine.create_table("a", create("other", KEYS)))
    reset(engine, copy)

    assert rows(engine, "t") == before
    assert engine.list_tables("a") == ("t",)
    assert (copy.names, copy.rows) == (("t",), 2)


def test_a_wide_row_comes_back(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("a", create("t", KEYS)))
    columns = {f"c{number:03}": "x" * 5000 for number in range(200)}
    write(engine, "t", 1, **columns)
    before, copy = rows(engine, "t"), kept(engine)
    for _ in range(2):
        reset(engine)
        reset(engine, copy)
    assert rows(engine, "t") == before
    assert copy.rows > 1  # its segments


def test_an_empty_instance_has_no_tables(engine: TablestoreEngine) -> None:
    make_watched(engine, "a")
    write(engine, WATCHED, 1, x="l")
    reset(engine)
    assert engine.list_tables("a") == ()
    with pytest.raises(NotFound):
        rows(engine, WATCHED)
    reset(engine)  # again, of nothing
    make_watched(engine, "a")
    assert rows(engine, WATCHED) == []


def test_indexes_come_back_with_their_entries(engine: TablestoreEngine) -> None:
    make_watched(engine, "a")
    for number in range(8):
        write(engine, WATCHED, number, x=f"l{number}", c=number)
    before = {index: entries_found(engine, "a", index) for index in INDEXES}
    copy = kept(engine)
    for number in range(4):
        write(engine, WATCHED, number, x="moved")
    reset(engine, copy)

    assert {index: entries_found(engine, "a", index) for index in INDEXES} == before
    write(engine, WATCHED, 2, x="later")
    for index in INDEXES:
        assert len(entries_found(engine, "a", index)) == 8


def test_a_stream_has_the_records_of_the_snapshot_and_those_behind(
    engine: TablestoreEngine,
) -> None:
    make_watched(engine, "a")
    write(engine, WATCHED, 1)
    before, copy = records_found(engine, "a"), kept(engine)
    write(engine, WATCHED, 3)
    reset(engine, copy)
    assert records_found(engine, "a") == before
    write(engine, WATCHED, 2)
    assert [told.key for _, told in records_found(engine, "a")] == [("p1", 1), ("p2", 2)]


def test_auto_increment_goes_on_from_where_it_was(engine: TablestoreEngine) -> None:
    columns = (
        KeyColumn("k", KeyType.STRING),
        KeyColumn("n", KeyType.INTEGER, auto_increment=True),
    )
    engine.core.run(engine.create_table("a", create("t", columns)))

    def add() -> None:
        key: dict[str, KeyInput] = {"k": "a", "n": KeyMarker.AUTO_INCREMENT}
        engine.core.run(engine.rows.write_row("a", put("t", key, {"v": 1})))

    add()
    copy = kept(engine)
    add()
    after = rows(engine, "t")
    reset(engine, copy)
    add()
    assert [key for key, _ in rows(engine, "t")] == [key for key, _ in after]


def test_other_instances_stay_as_they_are(engine: TablestoreEngine) -> None:
    for instance in ("a", "b", "ab"):
        engine.core.run(engine.create_table(instance, create("t", KEYS)))
        write(engine, "t", 1, instance)
    copy = kept(engine)
    before = {each: engine.describe_table(each, "t") for each in ("b", "ab")}
    reset(engine)
    reset(engine, copy)
    for instance, table in before.items():
        assert engine.describe_table(instance, "t") == table
        assert len(rows(engine, "t", instance=instance)) == 1


def test_a_write_that_was_planned_before_is_refused(engine: TablestoreEngine) -> None:
    """Its table is another one by now, though it has the same name and key columns.

    Where others may change the catalogue it is planned again, and is a write of the present table.
    """
    engine.core.run(engine.create_table("a", create("t", KEYS)))
    copy = kept(engine)
    late = engine.rows.write_row("a", put("t", {"k": "p", "n": 1}, {"v": 1}))
    reset(engine, copy)
    if engine.core.store.capabilities.shared:
        engine.core.run(late)
        assert len(rows(engine, "t")) == 1
        return
    with pytest.raises(NotFound):
        engine.core.run(late)
    assert rows(engine, "t") == []


def test_a_transaction_from_before_ends_with_its_table(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("a", create("t", KEYS)))
    copy = kept(engine)
    begun = engine.core.run(engine.transactions.start("a", "t", primary_key({"k": "p0"})))
    inside = put("t", {"k": "p0", "n": 0}, {"v": 1})
    engine.core.run(engine.transactions.write_row("a", begun, inside))
    reset(engine, copy)
    write(engine, "t", 3)  # under the same partition key: nothing is locked any more
    with pytest.raises(NotFound):
        engine.core.run(engine.transactions.commit("a", begun))
    assert [key["n"] for key, _ in rows(engine, "t")] == [3]


def test_what_changed_since_planning_is_planned_again(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("a", create("t", KEYS)))
    write(engine, "t", 1)
    copy = kept(engine)
    plan = reset_instance(engine.core, "a", copy, FakeClock().now_us())
    engine.core.run(engine.create_table("a", create("u", KEYS)))
    engine.core.run(engine.create_table("b", create("u", KEYS)))
    engine.core.run(plan)
    assert engine.list_tables("a") == ("t",)
    assert engine.list_tables("b") == ("u",)
    assert len(rows(engine, "t")) == 1


def test_what_a_copy_cannot_hold_is_said(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = StreamChange(enable=True, expiration_hours=1)
    engine.core.run(engine.create_table("a", replace(create("t", KEYS), stream=stream)))
    write(engine, "t", 1)
    monkeypatch.setattr("widerow.engine.instance_copy.COPY_BYTES_MAX", 20)
    assert COPY_BYTES_MAX > 20
    with pytest.raises(CopyRefused, match="larger than a snapshot may be"):
        kept(engine)


Steps = st.lists(
    st.tuples(st.sampled_from(("put", "delete", "keep", "back", "empty")), st.integers(0, 5)),
    max_size=25,
)


class Killed(BaseException):
    """The end of a process."""


def test_a_reset_that_is_broken_off_leaves_what_was_there_or_all_of_the_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And in a while nothing is left of what it had written (`instance_copy.py`)."""
    monkeypatch.setattr(instance_copy, "RESET_GROUP_BYTES", 300)
    for left in range(1, 30):
        space, clock = StrictSpace(), FakeClock()
        store = StrictStore(space, FakeEntropy(1))
        engine = open_tablestore(store, clock, FakeEntropy(2))
        make_watched(engine, "a")
        for number in range(5):
            write(engine, WATCHED, number, x=f"l{number}")
        copy, copied = kept(engine), rows(engine, WATCHED)
        write(engine, WATCHED, 7, x="later")
        before = rows(engine, WATCHED)
        killed = killed_at(left, store, monkeypatch, partial(reset, engine, copy))
        other = open_tablestore(StrictStore(space, FakeEntropy(3)), clock, FakeEntropy(4))
        assert rows(other, WATCHED) == (before if killed else copied)
        assert check_store(other.core.store) == []
        clock.advance(RESET_SECONDS_MAX + TRANSACTION_SECONDS_MAX + LEASE_SECONDS)
        moved(other)
        assert other.core.catalog.leftovers() == []
        assert rows(other, WATCHED) == (before if killed else copied)
        assert check_store(other.core.store) == []
        if not killed:
            assert left > 3
            return
    raise AssertionError("no reset came to its end")


def killed_at(
    left: int, store: Store, patch: pytest.MonkeyPatch, work: Callable[[], object]
) -> bool:
    """Whether `work` was broken off before its commit of that number."""
    transact = store.transact_group

    def transact_group(writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed
        return transact(writes)

    with patch.context() as inner, suppress(Killed):
        inner.setattr(store, "transact_group", transact_group)
        work()
        return False
    return True


def test_an_instance_that_is_written_all_the_time_is_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a view shows each partition key value at a moment of its own."""
    engine = open_tablestore(StrictStore(StrictSpace(), FakeEntropy()), FakeClock(), FakeEntropy())
    engine.core.run(engine.create_table("a", create("t", KEYS)))
    numbers, copied = count(), instance_copy._copied

    def write_and_copy(core: Engine, instance: str) -> InstanceCopy:
        write(engine, "t", next(numbers))
        return copied(core, instance)

    monkeypatch.setattr(instance_copy, "_copied", write_and_copy)
    with pytest.raises(CopyRefused, match="is written all the time"):
        kept(engine)


@pytest.mark.parametrize("kind", ["memory", "strict", "remote"])
@given(Steps)
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_obvious_model(kind: str, steps: list[tuple[str, int]]) -> None:
    """Rows are a dictionary, a snapshot is a copy of it, and a reset puts the copy there."""
    with STORES[kind](Path()) as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        make_watched(engine, "a")
        model: dict[int, str] | None = {}
        kept_model: dict[int, str] | None = {}
        copy = kept(engine)
        for number, (step, place) in enumerate(steps):
            if step == "keep":
                copy, kept_model = kept(engine), None if model is None else dict(model)
            elif step == "back":
                reset(engine, copy)
                model = None if kept_model is None else dict(kept_model)
            elif step == "empty":
                reset(engine)
                model = None
            elif model is None:
                with pytest.raises(NotFound):
                    write(engine, WATCHED, place, x=f"{number}")
            elif step == "put":
                write(engine, WATCHED, place, x=f"{number}")
                model[place] = f"{number}"
            else:
                key: dict[str, KeyInput] = {"k": f"p{place % 3}", "n": place}
                engine.core.run(engine.rows.write_row("a", delete(WATCHED, key)))
                moved(engine)
                model.pop(place, None)
            assert engine.list_tables("a") == (() if model is None else (WATCHED,))
            if model is not None:
                found = {key["n"]: cells["x"][0][1] for key, cells in rows(engine, WATCHED)}
                assert found == model
                for index in INDEXES:
                    assert len(entries_found(engine, "a", index)) == len(model)
        assert check_store(store) == []
