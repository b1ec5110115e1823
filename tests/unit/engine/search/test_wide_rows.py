"""Rows of a search's answer are whole, however wide (search §5.4)."""

import pytest
from tests.support.changes import put, put_cells, update
from tests.unit.engine.search.tables import engine_of, make_index, make_table, search, write

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search import answers
from widerow.errors import InvalidRequest
from widerow.limits import ROW_PAGE_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.plain_values import decode_plain_rows
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

MEGABYTE = 1_000_000
COLUMNS = ROW_PAGE_BYTES_MAX // MEGABYTE + 2  # wider than a GetRow answers in one page


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    """An engine with a wide row, and an index of it."""
    engine = engine_of(store, clock, FakeEntropy(1))
    make_table(engine)
    write(engine, put("t", {"k": 1}, {"n": 1}))
    for at in range(COLUMNS):
        write(engine, update("t", {"k": 1}, put_cells({f"c{at:02}": "x" * MEGABYTE})))
    make_index(engine)
    return engine


def test_a_row_wider_than_a_page_is_answered_whole(engine: TablestoreEngine) -> None:
    [hit] = search(engine).hits
    [row] = decode_plain_rows(hit.row)
    assert [cell.column for cell in row.cells] == [*(f"c{at:02}" for at in range(COLUMNS)), "n"]


def test_a_row_beyond_the_bound_of_an_answer_is_refused(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not cut where the bound is: nobody would know that columns are missing."""
    monkeypatch.setattr(answers, "SEARCH_ANSWER_BYTES_MAX", ROW_PAGE_BYTES_MAX // 2)
    with pytest.raises(InvalidRequest) as refused:
        search(engine)
    assert refused.value.rule is TablestoreRule.SEARCH_ANSWER_SIZE
