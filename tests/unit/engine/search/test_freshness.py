"""What was answered is found, and what is gone is not (search §1.3, §11.7)."""

import pytest
from tests.support.changes import delete, delete_all, increment, put, put_cells, update
from tests.support.search_host import RememberingHost
from tests.unit.engine.search.tables import (
    ALL_COLUMNS,
    engine_of,
    keys,
    make_index,
    make_table,
    rows,
    search,
    stored,
    tidy,
    write,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, Exhausted, Rule
from widerow.limits import (
    JOURNAL_BACKLOG_MAX,
    JOURNAL_STEP_ROWS,
    SEARCH_BUILD_ROWS_AT_ONCE,
)
from widerow.model.search.query import RangeQuery, TermQuery
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    ComputeSplits,
    DescribeSearchIndex,
    ParallelScan,
    SearchIndexName,
    SyncPhase,
)
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.plain_values import decode_plain_rows
from widerow.testing.clock import FakeClock, FakeEntropy


def test_each_write_leaves_one_document_or_none(engine: TablestoreEngine) -> None:
    """search §11.7, updates."""
    make_table(engine)
    make_index(engine)

    def found(value: int) -> list[int]:
        return keys(search(engine, TermQuery("n", value)))

    write(engine, put("t", {"k": 1}, {"n": 1}))
    assert found(1) == [1]
    write(engine, put("t", {"k": 1}, {"n": 2}))
    assert (found(1), found(2)) == ([], [1])
    write(engine, update("t", {"k": 1}, put_cells({"n": 3})))
    assert (found(2), found(3)) == ([], [1])
    write(engine, update("t", {"k": 1}, [increment("n", 4)]))
    assert (found(3), found(7)) == ([], [1])
    write(engine, update("t", {"k": 1}, [*put_cells({"s": "a"}), delete_all("n")]))
    assert (found(7), keys(search(engine))) == ([], [1])
    write(engine, delete("t", {"k": 1}))
    assert search(engine).total == 0
    batch = [put("t", {"k": 2}, {"n": 2}), put("t", {"k": 3}, {"n": 3}), delete("t", {"k": 1})]
    engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", tuple(batch)),))))
    assert keys(search(engine)) == [2, 3]


def test_a_write_that_is_refused_leaves_nothing(engine: TablestoreEngine) -> None:
    make_table(engine)
    make_index(engine)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    with pytest.raises(Conflict):
        write(engine, put("t", {"k": 1}, {"n": 2}, Condition(RowExpectation.EXPECT_NOT_EXIST)))
    assert keys(search(engine, TermQuery("n", 1))) == [1]


def test_rows_that_the_sweep_removes_are_gone(engine: TablestoreEngine, clock: FakeClock) -> None:
    """search §1.5, table TTL: until then a hit that is gone is dropped from the answer."""
    make_table(engine, allow_update=False, time_to_live=100)
    make_index(engine)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    assert keys(search(engine)) == [1]
    clock.advance(200)
    assert keys(search(engine)) == []
    tidy(engine, 3600)
    answer = search(engine)
    assert (answer.total, answer.hits) == (0, ())


def test_rows_from_before_the_index_are_found(engine: TablestoreEngine) -> None:
    """search §1.3."""
    make_table(engine)
    write(engine, *[put("t", {"k": k}, {"n": k}) for k in range(600)])
    make_index(engine)
    answer = search(engine)
    assert answer.total == 600
    assert rows(answer) == stored(engine)


def test_a_long_build_is_said_and_never_a_wrong_answer(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index answers when it has all rows; until then it is refused, with the rows so far."""
    service = "widerow.engine.tablestore.search.service.SEARCH_BUILD_ROWS_AT_ONCE"
    monkeypatch.setattr(service, JOURNAL_STEP_ROWS * 2)
    make_table(engine)
    count = JOURNAL_STEP_ROWS * 5
    write(engine, *[put("t", {"k": k}, {"n": k}) for k in range(count)])
    make_index(engine)
    with pytest.raises(Conflict) as caught:
        search(engine)
    assert caught.value.rule is TablestoreRule.SEARCH_INDEX_BUILDING
    assert caught.value.details["rows"] == JOURNAL_STEP_ROWS * 2
    write(engine, put("t", {"k": 0}, {"n": -1}), delete("t", {"k": 1}))
    write(engine, put("t", {"k": count}, {"n": count}))
    state = engine.search.describe("i", DescribeSearchIndex("t", "x"))
    assert (state.phase, state.rows) == (SyncPhase.FULL, JOURNAL_STEP_ROWS * 4)
    while engine.search.work():
        pass
    assert search(engine).total == count
    assert keys(search(engine, TermQuery("n", -1))) == [0]
    assert SEARCH_BUILD_ROWS_AT_ONCE == 10_000


def test_writers_wait_where_an_index_cannot_follow(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bounded backlog: only where somebody works it off, and only of indexes that are built."""
    monkeypatch.setattr("widerow.engine.tablestore.search.backlog.JOURNAL_BACKLOG_MAX", 10)
    make_table(engine)
    make_index(engine)
    puts = [put("t", {"k": k}, {"n": k}) for k in range(25)]
    write(engine, *puts)  # nobody follows yet
    assert search(engine).total == 25
    write(engine, *puts)  # nobody works
    engine.backlog.is_bounded = True
    while engine.search.work():
        pass
    write(engine, *puts[:10])
    with pytest.raises(Exhausted) as caught:
        write(engine, puts[10])
    assert caught.value.rule is Rule.SERVER_BUSY
    assert engine.search.statistics()["i/t", "x"]["waiting"] == 10
    engine.search.work()
    write(engine, *puts[:10])
    assert search(engine).total == 25
    assert JOURNAL_BACKLOG_MAX == 20_000


def test_what_is_taken_counts_though_writers_never_stop(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else writers would be refused beside an index that is hardly behind."""
    monkeypatch.setattr("widerow.engine.tablestore.search.backlog.JOURNAL_BACKLOG_MAX", 40)
    monkeypatch.setattr("widerow.engine.tablestore.search.service.SEARCH_FOLLOW_ROWS", 3)
    make_table(engine)
    make_index(engine)
    assert search(engine).total == 0
    engine.search.work()
    engine.backlog.is_bounded = True
    write(engine, *[put("t", {"k": k}, {"n": k}) for k in range(10)])
    waiting: list[int] = []
    for k in range(10, 100):
        write(engine, put("t", {"k": k}, {"n": k}))  # one more while three are taken
        assert engine.search.work()
        write(engine, put("t", {"k": k}, {"n": -k}), put("t", {"k": k}, {"n": k}))
        waiting.append(engine.search.statistics()["i/t", "x"]["waiting"])
    assert max(waiting) < 40
    assert search(engine).total == 100


def test_changes_are_held_back_where_that_is_asked_for(
    clock: FakeClock, engine: TablestoreEngine
) -> None:
    """`--search-lag`: for programs that rely on more than the service promises."""
    held = engine_of(engine.core.store, clock, FakeEntropy(), RememberingHost(lag_us=5_000_000))
    make_table(held)
    make_index(held)
    assert search(held).total == 0
    write(held, put("t", {"k": 1}, {"n": 1}))
    clock.advance(4)
    assert search(held).total == 0
    state = held.search.describe("i", DescribeSearchIndex("t", "x"))
    assert state.synced_ns == (clock.now_us() - 5_000_000) * 1000
    clock.advance(2)
    assert search(held).total == 1


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (ColumnReturn(ColumnReturnType.NONE), []),
        (ColumnReturn(ColumnReturnType.SPECIFIED, ("n", "none")), ["n"]),
        (ColumnReturn(ColumnReturnType.SPECIFIED, ("none",)), []),
        (ColumnReturn(ColumnReturnType.ALL_FROM_INDEX), ["n", "s"]),
        (ALL_COLUMNS, ["n", "other", "s"]),
    ],
)
def test_columns_are_those_asked_for(
    engine: TablestoreEngine, kind: ColumnReturn, columns: list[str]
) -> None:
    """search §5.4."""
    make_table(engine, max_versions=3)
    make_index(engine)
    write(engine, put("t", {"k": 1}, {"n": [(1, 0), (2, 1)], "s": "a", "other": 2}))
    [row] = decode_plain_rows(search(engine, columns=kind).hits[0].row)
    assert row.key == (("k", 1),)
    assert [cell[0] for cell in row.cells] == columns


def test_columns_of_fields_with_blanks_around_their_names(engine: TablestoreEngine) -> None:
    """search §1.1, §5.4: such a field is read from, and answered as, the column without them."""
    make_table(engine)
    fields = (SearchField("n ", SearchFieldType.LONG), SearchField(" s", SearchFieldType.KEYWORD))
    make_index(engine, schema=SearchSchema(fields))
    write(engine, put("t", {"k": 1}, {"n": 1, "s": "a", "other": 2}))
    columns = ColumnReturn(ColumnReturnType.ALL_FROM_INDEX)
    [row] = decode_plain_rows(search(engine, TermQuery("n", 1), columns=columns).hits[0].row)
    assert [cell[0] for cell in row.cells] == ["n", "s"]


def test_a_parallel_scan_is_of_one_moment(engine: TablestoreEngine, clock: FakeClock) -> None:
    """search §7."""
    make_table(engine)
    make_index(engine)
    write(engine, *[put("t", {"k": k}, {"n": k}) for k in range(100)])
    splits = engine.search.compute_splits("i", ComputeSplits("t", "x"))
    assert splits.splits == 1
    query = RangeQuery("n", 10, None, include_start=True)
    asked = ParallelScan("t", "x", query, session_id=splits.session_id, limit=70)
    first = engine.search.parallel_scan("i", asked)
    write(engine, put("t", {"k": 1000}, {"n": 1000}))
    again = ParallelScan("t", "x", query, splits.session_id, first.token, limit=70)
    second = engine.search.parallel_scan("i", again)
    assert (len(first.rows), len(second.rows)) == (70, 20)
    assert second.token
    last = ParallelScan("t", "x", query, splits.session_id, second.token, limit=70)
    assert engine.search.parallel_scan("i", last) == type(first)((), b"", 1)
    alone = engine.search.parallel_scan("i", ParallelScan("t", "x", query, limit=1))
    more = engine.search.parallel_scan("i", ParallelScan("t", "x", query, token=alone.token))
    assert (len(alone.rows), len(more.rows)) == (1, 90)
    clock.advance(61)
    with pytest.raises(Exception, match="session"):
        engine.search.parallel_scan("i", last)
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x")))
