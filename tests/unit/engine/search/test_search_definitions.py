"""Search indexes in the catalogue (search §1)."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.support.changes import put
from tests.unit.engine.search.tables import (
    SCHEMA,
    keys,
    make_index,
    make_table,
    search,
    tidy,
    write,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, WiderowError
from widerow.keys.layout import change_prefix
from widerow.model.search.query import FieldSort, NestedFilter, SearchSort, TermQuery
from widerow.model.search.requests import (
    DescribeSearchIndex,
    Search,
    SearchIndexName,
    SyncPhase,
    UpdateSearchIndex,
)
from widerow.model.search.schema import (
    QueryFlowWeight,
    SearchField,
    SearchFieldType,
    SearchIndex,
    SearchSchema,
)
from widerow.model.tablestore.requests import OptionsChange, UpdateTable
from widerow.model.tablestore.rules import TablestoreRule
from widerow.testing.clock import FakeClock

TEXTS = SearchSchema((SearchField("s", SearchFieldType.TEXT),))


def refusal(call: Callable[[], object]) -> AnyRule:
    with pytest.raises((InvalidRequest, NotFound, Conflict)) as caught:
        call()
    error: WiderowError = caught.value
    return error.rule  # type: ignore[attr-defined,no-any-return]  # of all three


def update(engine: TablestoreEngine, index: str = "x", **more: object) -> None:
    engine.core.run(engine.search.update("i", UpdateSearchIndex("t", index, **more)))  # type: ignore[arg-type]  # of any type


def index_named(engine: TablestoreEngine, name: str) -> SearchIndex:
    return engine.search.describe("i", DescribeSearchIndex("t", name)).index


def test_an_index_is_listed_described_and_kept(engine: TablestoreEngine) -> None:
    """search §1.2."""
    make_table(engine)
    make_index(engine, "y", TEXTS)
    make_index(engine)
    assert engine.search.list("i", None) == (SearchIndexName("t", "x"), SearchIndexName("t", "y"))
    state = engine.search.describe("i", DescribeSearchIndex("t", "x"))
    assert (state.index.schema, state.index.time_to_live) == (SCHEMA, -1)
    assert (state.phase, state.rows, state.brother) == (SyncPhase.INCR, 0, "")
    table = engine.describe_table("i", "t")
    assert decode_table(encode_table(table)) == table


@pytest.mark.parametrize("name", ["describe", "delete", "update", "search"])
def test_what_is_not_there_is_said(engine: TablestoreEngine, name: str) -> None:
    """search §1.1: a missing table and a missing index are two errors."""
    make_table(engine)
    requests: dict[str, Callable[[str], object]] = {
        "describe": lambda table: engine.search.describe("i", DescribeSearchIndex(table, "x")),
        "delete": lambda table: engine.search.delete("i", SearchIndexName(table, "x")),
        "update": lambda table: engine.search.update("i", UpdateSearchIndex(table, "x")),
        "search": lambda table: engine.search.search("i", Search(table, "x")),
    }
    assert refusal(lambda: requests[name]("none")) is TablestoreRule.SEARCH_TABLE_NOT_FOUND
    assert refusal(lambda: requests[name]("t")) is TablestoreRule.SEARCH_INDEX_NOT_FOUND


def test_a_name_is_taken_once(engine: TablestoreEngine) -> None:
    make_table(engine)
    make_index(engine)
    assert refusal(lambda: make_index(engine)) is TablestoreRule.SEARCH_INDEX_EXISTS


def test_the_order_of_an_index_says_what_can_be_kept(engine: TablestoreEngine) -> None:
    make_table(engine)
    filtered = FieldSort("n", nested_filter=NestedFilter("p", TermQuery("p.a", 1)))
    bytes_missing = FieldSort("n", missing_value=b"bytes")
    for sorter, rule in (
        (filtered, TablestoreRule.SEARCH_SORT_KIND),
        (bytes_missing, TablestoreRule.SEARCH_QUERY_VALUE),
    ):
        schema = replace(SCHEMA, sort=SearchSort((sorter,)))
        assert refusal(lambda: make_index(engine, schema=schema)) is rule  # noqa: B023  # at once


def test_the_journal_is_there_as_long_as_an_index(engine: TablestoreEngine) -> None:
    """No client sees it, and what it leaves goes with housekeeping."""
    make_table(engine)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    assert engine.describe_table("i", "t").journal is None
    make_index(engine)
    make_index(engine, "y")
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "y")))
    write(engine, put("t", {"k": 2}, {"n": 2}))
    table = engine.describe_table("i", "t")
    assert table.journal is not None
    assert table.stream is None
    assert engine.streams.list("i", None) == []
    prefix = change_prefix(table.id)
    assert (
        len(list(engine.core.store.snapshot().scan(prefix, prefix + b"\xff"))) == 2
    )  # head, record
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x")))
    assert engine.describe_table("i", "t").journal is None
    tidy(engine)
    assert list(engine.core.store.snapshot().scan(prefix, prefix + b"\xff")) == []


def test_a_table_with_an_index_is_not_deleted(engine: TablestoreEngine) -> None:
    """search §1.5."""
    make_table(engine)
    make_index(engine)

    def drop() -> None:
        engine.core.run(engine.delete_table("i", "t"))

    assert refusal(drop) is TablestoreRule.TABLE_HAS_SEARCH_INDEXES
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x")))
    drop()
    assert engine.list_tables("i") == ()


def test_options_of_a_table_agree_with_its_indexes(engine: TablestoreEngine) -> None:
    """search §1.1, §1.5."""
    make_table(engine, allow_update=False)
    make_index(engine, time_to_live=1000)

    def change(**options: object) -> None:
        asked = UpdateTable("t", options=OptionsChange(**options))  # type: ignore[arg-type]  # of any type
        engine.core.run(engine.update_table("i", asked))

    assert refusal(lambda: change(allow_update=True)) is TablestoreRule.SEARCH_TTL_UPDATES
    assert refusal(lambda: change(time_to_live=999)) is TablestoreRule.SEARCH_TTL_TABLE
    change(time_to_live=1000)
    update(engine, time_to_live=-1)
    assert refusal(lambda: change(allow_update=True)) is TablestoreRule.SEARCH_TABLE_TTL
    change(allow_update=True, time_to_live=-1)
    assert refusal(lambda: update(engine, time_to_live=5)) is TablestoreRule.SEARCH_TTL_UPDATES


def test_rows_of_an_index_are_hidden_when_they_expire(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """search §1.5: by the time at which the row was written."""
    make_table(engine, allow_update=False)
    make_index(engine, time_to_live=100)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    clock.advance(60)
    write(engine, put("t", {"k": 2}, {"n": 2}))
    assert keys(search(engine)) == [1, 2]
    clock.advance(60)
    assert keys(search(engine)) == [2]
    update(engine, time_to_live=1000)
    assert keys(search(engine)) == [1, 2]


def test_names_are_switched(engine: TablestoreEngine) -> None:
    """search §1.4: afterwards each name describes and searches what the other one did."""
    make_table(engine)
    write(engine, put("t", {"k": 1}, {"s": "two words", "n": 1}))
    make_index(engine)
    make_index(engine, "x_reindex", TEXTS, source="x")
    words = TermQuery("s", "words")
    assert (keys(search(engine, words)), keys(search(engine, words, "x_reindex"))) == ([], [1])
    assert engine.search.describe("i", DescribeSearchIndex("t", "x")).brother == "x_reindex"
    update(engine, switch_index="x_reindex")
    assert (keys(search(engine, words)), keys(search(engine, words, "x_reindex"))) == ([1], [])
    assert index_named(engine, "x").schema == TEXTS
    assert index_named(engine, "x_reindex").schema == SCHEMA
    assert engine.search.describe("i", DescribeSearchIndex("t", "x")).brother == "x_reindex"
    assert refusal(lambda: update(engine, switch_index="x")) is TablestoreRule.SEARCH_SWITCH_SELF
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x_reindex")))
    assert engine.search.describe("i", DescribeSearchIndex("t", "x")).brother == ""


def test_weights_decide_which_index_answers(engine: TablestoreEngine) -> None:
    """search §1.4: searches of the source go to either; those of the other one to itself."""
    make_table(engine)
    write(engine, put("t", {"k": 1}, {"s": "two words", "n": 1}))
    make_index(engine)
    make_index(engine, "x_reindex", TEXTS, source="x")
    words = TermQuery("s", "words")

    def weigh(one: int, other: int) -> None:
        update(engine, weights=(QueryFlowWeight("x", one), QueryFlowWeight("x_reindex", other)))

    weigh(0, 100)
    assert keys(search(engine, words)) == [1]
    assert [each.weight for each in index_named(engine, "x").weights] == [0, 100]
    weigh(100, 0)
    assert keys(search(engine, words)) == []
    weigh(30, 70)
    found = [bool(search(engine, words).hits) for _ in range(200)]
    assert 100 < sum(found) < 180  # 140 expected, the standard deviation is 6.5
    for wrong in ((50, 49), (-1, 101)):
        assert refusal(lambda: weigh(*wrong)) is TablestoreRule.SEARCH_WEIGHTS  # noqa: B023  # at once
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x_reindex")))
    assert index_named(engine, "x").weights == ()
    assert keys(search(engine, words)) == []
    alone = (QueryFlowWeight("x", 50), QueryFlowWeight("", 50))
    assert refusal(lambda: update(engine, weights=alone)) is TablestoreRule.SEARCH_WEIGHTS


def test_added_fields_are_built(engine: TablestoreEngine) -> None:
    """search §1.4."""
    make_table(engine)
    write(engine, put("t", {"k": 1}, {"s": "a", "n": 1, "m": 5}))
    make_index(engine)
    assert keys(search(engine)) == [1]
    update(engine, added_fields=(SearchField("m", SearchFieldType.LONG),))
    assert keys(search(engine, TermQuery("m", 5))) == [1]
    again = lambda: update(engine, added_fields=(SearchField("m", SearchFieldType.LONG),))  # noqa: E731  # a request
    assert refusal(again) is TablestoreRule.SEARCH_FIELD_DUPLICATE
