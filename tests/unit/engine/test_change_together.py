"""Indexes, local transactions and streams on one table (change, section E).

In a store of one process, and in one that processes share, where entries and records follow later.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.support.answers import decode_answer_rows
from tests.support.changes import (
    create,
    delete,
    get,
    primary_key,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.strict import StrictSpace, StrictStore

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, InvalidRequest, Rule
from widerow.model.tablestore.requests import (
    BatchWrite,
    IndexDefinition,
    StreamChange,
    TableWrite,
    UpdateTable,
)
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.tunnels import CreateTunnel, TunnelKind
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy

KEYS = {"p": KeyType.STRING, "n": KeyType.INTEGER}
MIN, MAX = KeyMarker.INF_MIN, KeyMarker.INF_MAX
INDEXES = ("local", "global")


@pytest.fixture(params=["alone", "shared"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    alone = request.param == "alone"
    opened = open_store("memory:") if alone else StrictStore(StrictSpace(), FakeEntropy(5))
    with opened:
        yield opened
        assert check_store(opened) == []


def follow(engine: TablestoreEngine) -> None:
    """Do what follows rows and is left to housekeeping."""
    while (step := engine.core.housekeeping()) is not None:
        engine.core.run(step)


@pytest.fixture
def engine_with_all(engine: TablestoreEngine) -> TablestoreEngine:
    """A table with a local and a global index over its column `c`, and a stream."""
    asked = replace(
        create("t", KEYS),
        defined_columns=(DefinedColumn("c", ColumnType.STRING),),
        indexes=(
            IndexDefinition("local", ("p", "c"), (), 1, 1),
            IndexDefinition("global", ("c",), (), 0, 0),
        ),
        stream=StreamChange(enable=True),
    )
    engine.core.run(engine.create_table("i", asked))
    return engine


def entries(engine: TablestoreEngine, index: str) -> list[tuple[str, str, int]]:
    """What stands in an index: the listed column and the key of the row."""
    follow(engine)
    names = ("p", "c", "n") if index == "local" else ("c", "p", "n")
    bounds: list[dict[str, KeyInput]] = [dict.fromkeys(names, end) for end in (MIN, MAX)]
    rows = decode_answer_rows(engine.rows.get_range("i", scan_all(index, *bounds)).rows)
    return sorted((str(key["c"]), str(key["p"]), int(str(key["n"]))) for key, _ in rows)


def actions(engine: TablestoreEngine) -> list[int]:
    """What the stream has recorded."""
    follow(engine)
    table = engine.describe_table("i", "t")
    page = engine.streams.read(table, engine.streams.iterator(table, "0", None), None)
    return [record.action for record in page.records()]


def row(number: int, value: str) -> RowChange:
    """A put of a row of partition key a."""
    return put("t", {"p": "a", "n": number}, {"c": value})


def test_what_a_transaction_implies_comes_with_its_commit(
    engine_with_all: TablestoreEngine,
) -> None:
    engine = engine_with_all
    engine.core.run(engine.rows.write_row("i", row(1, "old")))
    identity = engine.core.run(engine.transactions.start("i", "t", primary_key({"p": "a"})))
    for change in (
        row(1, "new"),
        update("t", {"p": "a", "n": 2}, put_cells({"c": "two"})),
        row(3, "gone"),
        delete("t", {"p": "a", "n": 3}),
    ):
        engine.core.run(engine.transactions.write_row("i", identity, change))
    assert [entries(engine, index) for index in INDEXES] == [[("old", "a", 1)]] * 2
    assert actions(engine) == [1]
    engine.core.run(engine.transactions.commit("i", identity))
    assert [entries(engine, index) for index in INDEXES] == [[("new", "a", 1), ("two", "a", 2)]] * 2
    assert actions(engine) == [1, 1, 2, 1, 3]


def test_nothing_of_an_aborted_transaction_is_implied(engine_with_all: TablestoreEngine) -> None:
    engine = engine_with_all
    identity = engine.core.run(engine.transactions.start("i", "t", primary_key({"p": "a"})))
    engine.core.run(engine.transactions.write_row("i", identity, row(1, "never")))
    engine.core.run(engine.transactions.abort("i", identity))
    assert [entries(engine, index) for index in INDEXES] == [[], []]
    assert actions(engine) == []
    assert engine.rows.get_row("i", get("t", {"p": "a", "n": 1})).row == b""


def test_rows_of_a_batch_on_a_locked_key_fail_and_imply_nothing(
    engine_with_all: TablestoreEngine,
) -> None:
    """BulkImport, too: every row for itself (change §D1, the table in E)."""
    engine = engine_with_all
    engine.core.run(engine.transactions.start("i", "t", primary_key({"p": "a"})))
    changes = (row(1, "locked"), put("t", {"p": "b", "n": 1}, {"c": "free"}))
    for declared in (False, True):
        request = BatchWrite((TableWrite("t", changes),), declared=declared)
        ((locked, free),) = engine.core.run(engine.rows.batch_write_row("i", request))
        assert isinstance(locked.error, Conflict)
        assert locked.error.rule is Rule.KEY_LOCKED
        assert free.error is None
    assert [entries(engine, index) for index in INDEXES] == [[("free", "b", 1)]] * 2
    assert actions(engine) == [1, 1]


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_has_neither_stream_nor_tunnel(
    engine_with_all: TablestoreEngine, index: str
) -> None:
    """The table in E of the page: none on index tables."""
    engine = engine_with_all
    change = UpdateTable(index, stream=StreamChange(enable=True))
    with pytest.raises(InvalidRequest):
        engine.core.run(engine.update_table("i", change))
    with pytest.raises(InvalidRequest):
        engine.tunnels.create("i", CreateTunnel(index, "tunnel", TunnelKind.BASE))
