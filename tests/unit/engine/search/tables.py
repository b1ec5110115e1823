"""Engines with a searched table t, and what is asked of it."""

from typing import Any

from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.clock import Clock, Entropy
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search.host import SearchHost
from widerow.model.search.query import MATCH_ALL, Query
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    CreateSearchIndex,
    Search,
    SearchAnswer,
)
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.requests import GetRange
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.plain_values import decode_plain_rows
from widerow.storage.interface import Store
from widerow.testing.clock import FakeEntropy

SCHEMA = SearchSchema(
    (SearchField("s", SearchFieldType.KEYWORD), SearchField("n", SearchFieldType.LONG))
)
ALL_COLUMNS = ColumnReturn(ColumnReturnType.ALL)


def engine_of(
    store: Store, clock: Clock, entropy: Entropy, host: SearchHost | None = None
) -> TablestoreEngine:
    """An engine whose indexes have this host."""
    hosted: dict[str, Any] = {} if host is None else {"search_host": lambda _: host}
    return open_tablestore(store, clock, entropy, **hosted)


def make_table(engine: TablestoreEngine, **options: Any) -> None:  # noqa: ANN401  # of any type
    engine.core.run(
        engine.create_table(
            "i", create("t", {"k": KeyType.INTEGER}, max_version_offset=10**10, **options)
        )
    )


def make_index(
    engine: TablestoreEngine,
    name: str = "x",
    schema: SearchSchema = SCHEMA,
    **more: Any,  # noqa: ANN401  # of any type
) -> None:
    engine.core.run(engine.search.create("i", CreateSearchIndex("t", name, schema, **more)))


def write(engine: TablestoreEngine, *changes: Any) -> None:  # noqa: ANN401  # row changes
    for change in changes:
        engine.core.run(engine.rows.write_row("i", change))


def search(
    engine: TablestoreEngine,
    query: Query = MATCH_ALL,
    index: str = "x",
    **more: Any,  # noqa: ANN401  # of any type
) -> SearchAnswer:
    asked = {"limit": 1000, "get_total_count": True, "columns": ALL_COLUMNS, **more}
    return engine.search.search("i", Search("t", index, query=query, **asked))


def keys(answer: SearchAnswer) -> list[int]:
    """The first key column of each hit, in order."""
    return [decode_plain_rows(hit.row)[0].key[0][1] for hit in answer.hits]  # type: ignore[misc]  # an integer


def rows(answer: SearchAnswer) -> list[bytes]:
    """The rows of the hits."""
    return [hit.row for hit in answer.hits]


def stored(engine: TablestoreEngine) -> list[bytes]:
    """Every row of the table, as GetRange shows it."""
    start = PrimaryKey((("k", KeyMarker.INF_MIN),))
    end = PrimaryKey((("k", KeyMarker.INF_MAX),))
    asked = RowRange(start, end, RangeDirection.FORWARD, None)
    page = engine.rows.get_range("i", GetRange("t", asked, Selection(max_versions=1)))
    return [PLAIN_HEADER + row for row in page.pieces]


def tidy(engine: TablestoreEngine, seconds: float = 61) -> None:
    """Let housekeeping run dry, a minute later."""
    engine.core.clock.advance(seconds)  # type: ignore[attr-defined]  # the fake one
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)


def engine_with_rows(store: Store, clock: Any, host: SearchHost) -> TablestoreEngine:  # noqa: ANN401  # a fake
    """An engine with three rows and an index that has them."""
    engine = engine_of(store, clock, FakeEntropy(1), host)
    make_table(engine)
    write(engine, *[put("t", {"k": k}, {"n": k}) for k in range(3)])
    make_index(engine)
    assert search(engine).total == 3
    return engine
