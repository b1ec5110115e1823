"""Everything that can be read of an instance, as one value; without the numbers of its tables."""

from dataclasses import replace
from typing import Any

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.query import MATCH_ALL
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    DescribeSearchIndex,
    Search,
)
from widerow.model.streams import Stream
from widerow.model.tablestore.requests import GetRange
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.model.tunnels import Tunnel, TunnelName
from widerow.model.values import KeyMarker
from widerow.rows.cells import PLAIN_HEADER

__all__ = ["everything", "found_by_search", "rows_of"]

_SEARCH_ROWS = 100


def everything(engine: TablestoreEngine, instance: str) -> dict[str, Any]:
    """All of it, by the names of the tables."""
    return {name: _all_of(engine, instance, name) for name in engine.list_tables(instance)}


def _all_of(engine: TablestoreEngine, instance: str, name: str) -> dict[str, Any]:
    table = engine.describe_table(instance, name)
    found: dict[str, Any] = {
        "definition": _unnumbered(table),
        "rows": rows_of(engine, instance, name),
        "entries": {each.name: rows_of(engine, instance, each.name) for each in table.indexes},
        "changes": _changes(engine, table),
        "tunnels": [_tunnel(engine, instance, each.id) for each in table.tunnels],
        "deliveries": [_delivery(engine, instance, table, each.name) for each in table.deliveries],
        "searched": {},
    }
    for index in table.search:
        shown = engine.search.describe(instance, DescribeSearchIndex(name, index.name))
        hits = found_by_search(engine, instance, name, index.name)
        found["searched"][index.name] = (shown.phase, shown.rows, hits)
    return found


def rows_of(engine: TablestoreEngine, instance: str, name: str) -> list[bytes]:
    """The rows of a table or of a secondary index, with all versions."""
    columns = engine.describe_table(instance, name).key_columns
    low, high = (
        PrimaryKey(tuple([(each.name, end) for each in columns]))
        for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX)
    )
    asked = RowRange(low, high, RangeDirection.FORWARD, None)
    page = engine.rows.get_range(instance, GetRange(name, asked, Selection(max_versions=100)))
    assert page.next_key is None
    return [PLAIN_HEADER + piece for piece in page.pieces]


def found_by_search(engine: TablestoreEngine, instance: str, name: str, index: str) -> list[bytes]:
    """The rows that a search of everything finds."""
    columns = ColumnReturn(ColumnReturnType.ALL)
    asked = Search(
        name, index, query=MATCH_ALL, limit=_SEARCH_ROWS, get_total_count=True, columns=columns
    )
    answer = engine.search.search(instance, asked)
    assert answer.total == len(answer.hits)
    return [hit.row for hit in answer.hits]


def _unnumbered(table: Table) -> Table:
    def plain(tunnel: Tunnel) -> Tunnel:
        return replace(tunnel, number=0)

    stream = table.stream
    return replace(
        table,
        id=0,
        index_of=min(table.index_of, 1),
        indexes=tuple([replace(each, id=0) for each in table.indexes]),
        stream=None if stream is None else replace(stream, number=0),
        journal=None if table.journal is None else Stream("", 0, 0),
        search=tuple([replace(each, id=0) for each in table.search]),
        tunnels=tuple([plain(each) for each in table.tunnels]),
        deliveries=tuple([replace(each, tunnel=plain(each.tunnel)) for each in table.deliveries]),
    )


def _changes(engine: TablestoreEngine, table: Table) -> list[Any]:
    """Every shard of the stream with its iterators and its records; nothing where it is off."""
    if table.stream is None:
        return []
    found: list[Any] = []
    for shard in engine.streams.shards(table):
        iterator: str | None = engine.streams.iterator(table, shard.id, None)
        found.append(shard)
        more = True
        while more and iterator is not None:
            page = engine.streams.read(table, iterator, None)
            found += [iterator, page.records()]
            iterator, more = page.following, page.more
    return found


def _tunnel(engine: TablestoreEngine, instance: str, tunnel_id: str) -> Any:  # noqa: ANN401  # to compare
    shown = engine.tunnels.describe(instance, TunnelName("", "", tunnel_id))
    return shown.tunnel.id, shown.stage, shown.consumed_us, shown.state, shown.expired


def _delivery(engine: TablestoreEngine, instance: str, table: Table, name: str) -> Any:  # noqa: ANN401  # to compare
    shown = engine.deliveries.describe(instance, table.name, name)
    state = engine.deliveries.tunnels.describe(
        instance, TunnelName("", "", shown.task.tunnel.id)
    ).state
    return shown.task.config, shown.phase, shown.synced_us, shown.trouble, state
