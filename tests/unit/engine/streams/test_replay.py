"""A stream against its table, for random histories with splits, merges and restarts (change §E2).

Replaying the records from the first on gives the table; reading with any limits gives the same
records; equal positions give equal iterators.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.answers import decode_answer_rows
from tests.support.changes import (
    create,
    delete,
    delete_all,
    increment,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.streams.stream_reads import ChangeRecord
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.encode import encode_key_value
from widerow.model.tablestore.requests import BatchWrite, StreamChange, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = pytest.mark.timeout(120)


def _update(key: int, row: list[tuple[str, str, int]]) -> RowChange:
    made = {
        "put": lambda name, value: put_cells({name: value})[0],
        "delete": lambda name, _: delete_all(name),
        "add": increment,
    }
    return update("t", {"k": key}, [made[kind](name, value) for kind, name, value in row])


keys = st.integers(0, 5)
names = st.sampled_from("abc")
numbers = st.integers(-9, 9)
cells = st.lists(
    st.one_of(
        st.builds(lambda name, value: ("put", name, value), names, numbers),
        st.builds(lambda name: ("delete", name, 0), names),
        st.builds(lambda name, by: ("add", name, by), names, numbers),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda cell: cell[1],
)
changes = st.one_of(
    st.builds(lambda key, row: put("t", {"k": key}, row), keys, st.dictionaries(names, numbers)),
    st.builds(lambda key: delete("t", {"k": key}), keys),
    st.builds(_update, keys, cells),
)
steps = st.lists(
    st.one_of(
        st.lists(changes, min_size=1, max_size=4, unique_by=lambda each: each.key.columns),
        st.frozensets(st.integers(1, 5), max_size=3),  # where partitions meet
        st.sampled_from([-3, 0, 2]),  # seconds that the clock moves, and then a restart
    ),
    max_size=14,
)
limits = st.lists(st.integers(1, 4), min_size=1, max_size=5)

Rows = dict[Any, dict[str, Any]]
PUT, DELETE = 1, 3
ROW_KEY, ROW_DATA, CELL, VALUE, OPERATION, TIMESTAMP, CHECKSUM = 1, 2, 3, 5, 6, 7, 10


def _divide(engine: TablestoreEngine, bounds: frozenset[int]) -> None:
    splits = tuple(encode_key_value(each) for each in sorted(bounds))
    model = engine.tables.model
    table = engine.describe_table("i", "t")
    write = engine.tables.change(table, lambda found: model.with_bounds(found, splits))
    assert [each.error for each in engine.core.store.transact_group([write])] == [None]


def _rows(engine: TablestoreEngine) -> Rows:
    page = engine.rows.get_range(
        "i", scan_all("t", {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX})
    )
    return {
        key["k"]: {name: versions[0][1] for name, versions in columns.items()}
        for key, columns in decode_answer_rows(b"".join(page.pieces))
    }


def _read(
    engine: TablestoreEngine, table: Table, shard: str, sizes: list[int]
) -> list[ChangeRecord]:
    """The records of a shard, read with these limits again and again."""
    found: list[ChangeRecord] = []
    iterator: str | None = engine.streams.iterator(table, shard, None)
    for size in cycle(sizes):
        assert iterator is not None
        page = engine.streams.read(table, iterator, size)
        assert len(page.records()) <= size
        found += page.records()
        if not page.more:
            assert page.following is None or page.records() or page.following == iterator
            return found
        iterator = page.following
    return found


def _apply(rows: Rows, record: ChangeRecord) -> None:
    """Do to the rows what a record says, by its bytes alone."""
    data = record.record
    (key, value), position = _cell(data, 5)
    assert (key, data[4]) == ("k", ROW_KEY)
    if record.action == DELETE:
        rows.pop(value, None)
        return
    existed = value in rows
    row = rows.setdefault(value, {})
    if record.action == PUT:
        row.clear()
    made = record.action == PUT or existed
    position += data[position] == ROW_DATA
    while data[position] == CELL:
        (name, number), position = _cell(data, position)
        if number is None:
            row.pop(name, None)
        else:
            row[name] = number
            made = True
    if not made:
        del rows[value]  # deletes alone make no row


def _cell(data: bytes, start: int) -> tuple[tuple[str, Any], int]:
    """Name and integer of the cell at `start`, None for a delete, and where the cell ends."""
    end = start + 6 + int.from_bytes(data[start + 2 : start + 6], "little")
    name = data[start + 6 : end].decode()
    number = None
    if data[end] == VALUE:
        number = int.from_bytes(data[end + 6 : end + 14], "little", signed=True)
        end += 14
    while data[end] != CHECKSUM:
        end += {OPERATION: 2, TIMESTAMP: 9}[data[end]]
    return (name, number), end + 2


def _strict() -> Store:
    """A store of which no transaction reaches two shards, so that changes are moved."""
    return StrictStore(StrictSpace(), FakeEntropy())


def _move(engine: TablestoreEngine) -> None:
    while (plan := engine._mover.step()) is not None:
        engine.core.run(plan)


@pytest.mark.parametrize("make_store", [MemoryStore, _strict])
@settings(max_examples=examples(60), deadline=None)
@given(steps=steps, sizes=limits)
def test_a_stream_replayed_is_its_table(
    make_store: Callable[[], Store], steps: list[Any], sizes: list[int]
) -> None:
    """change §E2: any history, any limits, with partitions that split and merge in between."""
    clock = FakeClock()
    with make_store() as store:
        engine = open_tablestore(store, clock, FakeEntropy())
        request = create("t", {"k": KeyType.INTEGER})
        engine.core.run(
            engine.create_table("i", replace(request, stream=StreamChange(enable=True)))
        )
        for step in steps:
            if isinstance(step, int):
                clock.advance(step)
                engine = open_tablestore(store, clock, FakeEntropy())
            elif isinstance(step, frozenset):
                _divide(engine, step)
            else:
                engine.core.run(
                    engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", tuple(step)),)))
                )
        assert check_store(store) == []  # changes that wait are nothing wrong
        _move(engine)
        table = engine.describe_table("i", "t")
        rows: Rows = {}
        for shard in engine.streams.shards(table):
            found = _read(engine, table, shard.id, sizes)
            assert found == _read(engine, table, shard.id, [1000])
            positions = [(each.timestamp_us, each.row_index) for each in found]
            assert positions == sorted(set(positions))
            ends = [engine.streams.end_us(table, parent) for parent in shard.parents]
            assert all(time > end for time, _ in positions for end in ends)
            for record in found:
                _apply(rows, record)
        assert rows == _rows(engine)
        assert check_store(store) == []
