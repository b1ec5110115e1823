"""What `widerow search` makes of flags, and of answers: documents for JSON, tables for people."""

import json
import math
import sys
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from widerow.cli.search_json import QueryUnreadable
from widerow.cli.search_text import placed_fields
from widerow.cli.tablestore.output import text_width
from widerow.client.rows import decode_rows
from widerow.model.search.requests import ColumnReturnType
from widerow.model.search.schema import SearchFieldType, SearchSchema
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType, KeyValue, Value
from widerow.rows.plain_values import Row
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.written_numbers import whole_number

__all__ = [
    "RowFound",
    "answer_document",
    "columns_asked",
    "columns_of_index",
    "index_document",
    "key_of_text",
    "print_answer",
    "print_index",
    "row_found",
    "sorters_of",
]

Json = dict[str, Any]
_Column = tuple[str, list[str]]
_SCORE: Final = "_score"
_PRIMARY_KEY: Final = "_pk"
_CELL_MAX: Final = 40  # characters of a column that decides whether another one fits
_BORDER: Final = 3  # characters between two columns
_RUNNING: Final = 2  # SyncStat's phase INCR


class RowFound(NamedTuple):
    """A row as a search index reads it: newest values, and when the youngest was written."""

    key: tuple[tuple[str, KeyValue], ...]
    columns: dict[str, Value]
    written_ms: int | None


def sorters_of(names: Sequence[str]) -> list[m.Sorter]:
    """Sorters of these names: fields, `_score`, `_pk`; `-` before one turns it round."""
    found = []
    for each in names:
        order, name = int(each.startswith("-")), each.removeprefix("-")
        if name == _SCORE:
            found.append(m.Sorter(score_sort=m.ScoreSort(order=order)))
        elif name == _PRIMARY_KEY:
            found.append(m.Sorter(pk_sort=m.PrimaryKeySort(order=order)))
        else:
            found.append(m.Sorter(field_sort=m.FieldSort(field_name=name, order=order)))
    return found


def columns_asked(names: Sequence[str]) -> m.ColumnsToGet:
    """Which columns are asked for; `*` is all of them."""
    if not names:
        return m.ColumnsToGet(return_type=ColumnReturnType.NONE)
    if "*" in names:
        return m.ColumnsToGet(return_type=ColumnReturnType.ALL)
    return m.ColumnsToGet(return_type=ColumnReturnType.SPECIFIED, column_names=names)


def columns_of_index(schema: SearchSchema) -> list[str]:
    """The columns that an index is made of, in its order, without vectors, which nobody reads."""
    return [
        each.name
        for each in schema.fields
        if each.source is None and each.type is not SearchFieldType.VECTOR
    ]


def key_of_text(given: str, columns: Sequence[KeyColumn]) -> tuple[tuple[str, KeyValue], ...]:
    """A primary key as people write it: a JSON array, or the only value as it is.

    BINARY values are written in hexadecimal. Raises: `QueryUnreadable`.
    """
    values: list[Any] = [given]
    if given.lstrip().startswith("["):
        try:
            values = json.loads(given)
        except ValueError as error:
            raise QueryUnreadable(f"the key {given} is not JSON: {error}") from error
    if len(values) != len(columns):
        names = ", ".join(each.name for each in columns)
        raise QueryUnreadable(f"the key has {len(columns)} columns ({names}): a JSON array of them")
    return tuple(
        (column.name, _key_value(column, value))
        for column, value in zip(columns, values, strict=True)
    )


def _key_value(column: KeyColumn, value: object) -> KeyValue:
    try:
        match column.type:
            case KeyType.INTEGER:
                return whole_number(str(value))
            case KeyType.STRING:
                return str(value)
            case KeyType.BINARY:
                return bytes.fromhex(str(value))
    except ValueError as error:
        raise QueryUnreadable(
            f"{value} is not of type {column.type.value}, as {column.name} is"
        ) from error


def row_found(row: Row) -> RowFound:
    """The newest values of a row, and when the youngest of them was written."""
    columns: dict[str, Value] = {}
    for cell in row.cells:
        columns.setdefault(cell.column, cell.value)
    return RowFound(row.key, columns, max((cell.version for cell in row.cells), default=None))


def answer_document(answer: m.SearchResponse) -> Json:
    """What was found. `score` is left out where none was computed."""
    rows = [decode_rows(each)[0] for each in answer.rows]
    found: Json = {
        "total": answer.total_hits,
        "hits": [_hit(row, hit) for row, hit in zip(rows, answer.search_hits, strict=True)],
    }
    if answer.group_bys:
        found["groups"] = _groups(answer.group_bys)
    return found


def _hit(row: Row, hit: m.SearchHit) -> Json:
    found: Json = {} if math.isnan(hit.score) else {"score": hit.score}
    found["key"] = {name: _shown(value) for name, value in row.key}
    found["columns"] = {cell.column: _shown(cell.value) for cell in row.cells}
    if hit.highlight_result.highlight_fields:
        found["highlights"] = {
            text(each.field_name): [text(part) for part in each.field_fragments]
            for each in hit.highlight_result.highlight_fields
        }
    return found


def _shown(value: Value) -> object:
    """A value as JSON has it: a BINARY in base64."""
    return b64encode(value).decode() if isinstance(value, bytes) else value


def _groups(data: bytes) -> list[Json]:
    (found,) = m.GroupBysResult.FromString(data).group_by_results
    items = m.GroupByFieldResult.FromString(found.group_by_result).group_by_field_result_items
    return [{"key": text(each.key), "row_count": each.row_count} for each in items]


def index_document(
    table: str, index: str, described: m.DescribeSearchIndexResponse, schema: SearchSchema
) -> Json:
    """A search index for JSON."""
    return {
        "table": table,
        "index": index,
        "rows": described.metering_info.row_count,
        "bytes": described.metering_info.storage_size,
        "time_to_live": described.time_to_live,
        "built": described.sync_stat.sync_phase == _RUNNING,
        "fields": [
            {
                "name": name,
                "type": placed.field.type.name,
                "array": bool(placed.field.is_array),
                "analyzer": placed.field.analyzer.name.value if placed.field.analyzer else None,
                "source": placed.field.source,
            }
            for name, placed in placed_fields(schema.fields).items()
        ],
    }


def print_answer(found: Json, by_itself: Sequence[str] = ()) -> None:
    """Show what was found as tables.

    `by_itself`: columns that nobody asked for; of these the ones that fit are shown, others named.
    """
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    console = Console()
    hits = found["hits"]
    keys = list(dict.fromkeys(name for hit in hits for name in hit["key"]))
    there = {name for hit in hits for name in hit["columns"]}
    columns = [each for each in by_itself if each in there] or sorted(there)
    marked = sorted({name for hit in hits for name in hit.get("highlights", {})})
    grid = [("score", [_score(hit) for hit in hits])]
    grid += [(name, [_cell(hit["key"], name) for hit in hits]) for name in keys]
    marks = [(f"{name} (marked)", [_marks(hit, name) for hit in hits]) for name in marked]
    rest = [(name, [_cell(hit["columns"], name) for hit in hits]) for name in columns]
    if by_itself:
        rest = rest[: _fitting(rest, console.width - _width([*grid, *marks]))]
    shown = Table()
    for heading, _ in (*grid, *rest, *marks):
        shown.add_column(heading, overflow="fold")
    for row in zip(*(cells for _, cells in (*grid, *rest, *marks)), strict=True):
        shown.add_row(*map(Text, row))
    sys.stdout.write(f"{found['total']:,} found, {len(hits)} shown\n")
    if hits:
        console.print(shown)
    left = columns[len(rest) :]
    if left:
        sys.stdout.write(f"not shown: {', '.join(left)} (--columns {','.join(left)})\n")
    if "groups" in found:
        groups = Table("group", "rows")
        for each in found["groups"]:
            groups.add_row(Text(each["key"]), f"{each['row_count']:,}")
        console.print(groups)


def _score(hit: Json) -> str:
    return f"{hit['score']:.4g}" if "score" in hit else ""


def _cell(values: Json, name: str) -> str:
    value = values.get(name)
    return "" if value is None else str(value)


def _marks(hit: Json, name: str) -> str:
    return " … ".join(hit.get("highlights", {}).get(name, ()))


def _width(grid: Sequence[_Column]) -> int:
    """The characters that some columns take, with the lines between them."""
    return sum(
        _BORDER + min(_CELL_MAX, max(map(text_width, (heading, *cells)))) for heading, cells in grid
    )


def _fitting(grid: Sequence[_Column], width: int) -> int:
    """How many of some columns fit into so many characters."""
    return sum(_width(grid[: at + 1]) < width for at in range(len(grid)))


def print_index(found: Json) -> None:
    """Show an index as a table."""
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    state = "ready" if found["built"] else "being built"
    sys.stdout.write(f"{found['table']}.{found['index']}: {found['rows']:,} rows, {state}\n")
    shown = Table()
    for heading in ("field", "type", "analyzer", "column"):
        shown.add_column(heading, overflow="fold")
    for each in found["fields"]:
        kind = each["type"] + ("[]" if each["array"] else "")
        shown.add_row(
            *map(Text, (each["name"], kind, each["analyzer"] or "", each["source"] or ""))
        )
    Console().print(shown)
