"""Scans of each table model are what sorted lists give (`engine/scan.py`)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.changes import create, put, put_cells, update
from tests.support.engines import open_tablestore

from widerow.engine.engine import OpenModel
from widerow.engine.scan import WHOLE_TABLE, Bound, RowAccess
from widerow.engine.tablestore import scan as tablestore_scan
from widerow.engine.typed import index_scan
from widerow.engine.typed.index_build import begin_index, build_step, finish_index
from widerow.engine.typed.plug import TYPED
from widerow.errors import InvalidRequest, NotFound
from widerow.model.tablestore.requests import IndexDefinition
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import INTEGER, STRING
from widerow.model.values import ColumnType, KeyType
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

WIDE = "x" * 100_000  # of Tablestore: a row that is cut into segments
ROWS: dict[tuple[str, int], dict[str, Any]] = {
    (f"p{n % 5}", n): {"a": n % 7, "w": WIDE if n == 11 else "s"} for n in range(30)
}
KEYS = sorted(ROWS)
BY_A = sorted((row["a"], *key) for key, row in ROWS.items())

Scanned = tuple[OpenModel[Any], Any]


def tablestore() -> Scanned:
    engine = open_tablestore(MemoryStore(), FakeClock(), FakeEntropy())
    asked = replace(
        create("t", {"p": KeyType.STRING, "n": KeyType.INTEGER}),
        defined_columns=(DefinedColumn("a", ColumnType.INTEGER),),
        indexes=(IndexDefinition("by_a", ("a",)),),
    )
    engine.core.run(engine.create_table("i", asked))
    for (p, n), row in ROWS.items():
        engine.core.run(engine.rows.write_row("i", put("t", {"p": p, "n": n}, row)))
    return engine, engine.describe_table("i", "t")


def typed() -> Scanned:
    core = open_tablestore(MemoryStore(), FakeClock(), FakeEntropy()).core
    engine = core.operations(TYPED)
    builder = TableBuilder("t").add_field("p", STRING).add_field("n", INTEGER)
    made = builder.add_field("a", INTEGER).add_field("w", STRING).primary_key("p", "n").build()
    core.run(engine.create_table(made))
    form = engine.tables.find_qualified("t")
    for (p, n), row in ROWS.items():
        choice = WriteChoice(OperationKind.PUT, {"p": p, "n": n, **row})
        core.run(engine.write(form, choice))
    core.run(begin_index(engine, form, Index("by_a", (IndexField("a"),))))
    core.run(build_step(engine, engine.tables.current(form), "by_a", b"").plan)
    core.run(finish_index(engine, form, "by_a"))
    return engine, engine.tables.current(form)


MODELS: dict[str, Callable[[], Scanned]] = {"tablestore": tablestore, "typed": typed}

A_KEY = st.tuples(st.sampled_from(["p0", "p1", "p3", "p9"]), st.integers(-1, 31))
AN_ENTRY = st.tuples(st.integers(-1, 8))


@pytest.fixture(params=MODELS, scope="module")
def scanned(request: pytest.FixtureRequest) -> Iterator[Scanned]:
    """A model with its table; pages are short, so that scans have several."""
    with pytest.MonkeyPatch.context() as short:
        short.setattr(tablestore_scan, "_PAGE_ROWS", 4)
        short.setattr("widerow.engine.typed.engine.SCAN_PAGE_ROWS", 4)
        short.setattr(index_scan, "ENTRIES_PAGE", 4)
        yield MODELS[request.param]()


def inside(key: tuple[Any, ...], access: RowAccess) -> bool:
    """Whether a key lies in the range, by the words of `Bound`."""
    low, high = access.low, access.high
    head, tail = key[: len(low.values)], key[: len(high.values)]
    above = head > low.values or (head == low.values and low.inclusive) or not low.values
    below = tail < high.values or (tail == high.values and high.inclusive) or not high.values
    return above and below


def bounds_of(keys: st.SearchStrategy[tuple[Any, ...]]) -> st.SearchStrategy[Bound]:
    heads = keys.flatmap(lambda key: st.sampled_from([key[:n] for n in range(len(key) + 1)]))
    return st.builds(Bound, heads, st.booleans())


@given(data=st.data(), reverse=st.booleans())
def test_a_scan_gives_what_lies_between_its_bounds_in_order(
    scanned: Scanned, data: st.DataObject, *, reverse: bool
) -> None:
    """By the primary key and by an index; and goes on behind any row, also in another direction."""
    model, table = scanned
    index = data.draw(st.sampled_from(["", "by_a"]))
    bounds = bounds_of(A_KEY if not index else AN_ENTRY)
    access = RowAccess(index, data.draw(bounds), data.draw(bounds), reverse=reverse)
    keys: list[tuple[Any, ...]] = list(BY_A if index else KEYS)
    wanted = sorted((key for key in keys if inside(key, access)), reverse=reverse)
    names = ("a", "p", "n") if index else ("p", "n")
    rows = list(model.scan(table, access))
    assert [tuple(row.values[name] for name in names) for row in rows] == wanted
    if rows:
        at = data.draw(st.integers(0, len(rows) - 1))
        rest = model.scan(table, access, rows[at].position)
        assert [row.position for row in rest] == [row.position for row in rows[at + 1 :]]


@given(data=st.data(), reverse=st.booleans())
def test_columns_are_those_of_the_rows(
    scanned: Scanned, data: st.DataObject, *, reverse: bool
) -> None:
    model, table = scanned
    index = data.draw(st.sampled_from(["", "by_a"]))
    bounds = bounds_of(A_KEY if not index else AN_ENTRY)
    access = RowAccess(index, data.draw(bounds), data.draw(bounds), reverse=reverse)
    names = data.draw(st.lists(st.sampled_from(["p", "n", "a", "w", "none"]), unique=True))
    first = data.draw(st.integers(1, 9))
    rows = [row.values for row in model.scan(table, access)]
    pages = list(model.scan_columns(table, access, names, first))
    assert sum(page.rows for page in pages) == len(rows)
    assert all(len(values) == page.rows for page in pages for values in page.columns)
    assert not pages or pages[0].rows <= first
    for place, name in enumerate(names):
        found = [value for page in pages for value in page.columns[place]]
        assert found == [row.get(name) for row in rows]


@given(
    st.dictionaries(
        st.integers(0, 9),
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 0)), max_size=6),
        max_size=5,
    )
)
def test_columns_have_the_newest_version_and_none_that_has_expired(
    rows: dict[int, list[tuple[str, int]]],
) -> None:
    clock = FakeClock()
    engine = open_tablestore(MemoryStore(), clock, FakeEntropy())
    key = {"k": KeyType.INTEGER}
    day = 86_400
    asked = create("t", key, time_to_live=10 * day, max_versions=3, max_version_offset=100 * day)
    engine.core.run(engine.create_table("i", asked))
    now_ms = clock.now_us() // 1000
    for number, cells in rows.items():
        for name, days in cells:
            version = now_ms + days * day * 1000
            row = update("t", {"k": number}, put_cells({name: [(version, days)]}))
            engine.core.run(engine.rows.write_row("i", row))
    clock.advance(5 * day)  # so that some have expired
    table = engine.describe_table("i", "t")
    wanted = [[row.values.get(name) for name in "akc"] for row in engine.scan(table, WHOLE_TABLE)]
    pages = list(engine.scan_columns(table, WHOLE_TABLE, ["a", "k", "c"], 2))
    found = [list(values) for page in pages for values in zip(*page.columns, strict=True)]
    assert found == wanted


def test_what_has_expired_is_counted_among_the_bytes_read() -> None:
    clock = FakeClock()
    engine = open_tablestore(MemoryStore(), clock, FakeEntropy())
    asked = create("t", {"k": KeyType.INTEGER}, time_to_live=86_400)
    engine.core.run(engine.create_table("i", asked))
    for number in range(3):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": number}, {"a": "x" * 100})))
    clock.advance(2 * 86_400)
    table = engine.describe_table("i", "t")
    pages = list(engine.scan_columns(table, WHOLE_TABLE, ["a"], 2))
    assert (sum(page.rows for page in pages), sum(page.size for page in pages) > 300) == (0, True)


def test_a_row_has_all_its_columns(scanned: Scanned) -> None:
    model, table = scanned
    for row, key in zip(model.scan(table, WHOLE_TABLE), KEYS, strict=True):
        assert dict(row.values) == {"p": key[0], "n": key[1], **ROWS[key]}


def test_what_cannot_be_scanned_is_refused(scanned: Scanned) -> None:
    model, table = scanned
    with pytest.raises(NotFound):
        list(model.scan(table, RowAccess("nothing")))
    for values in (("p0", "text"), (1.5,), ("p0", 1, 2)):
        with pytest.raises(InvalidRequest):
            list(model.scan(table, RowAccess(low=Bound(values))))
