"""Rows and tables as JSON documents and as tables of text. Pure.

A row is an object of its columns, with the types that JSON has and `{"binary": base64}`, as
`widerow import` reads it; with versions it has `@cells` in place of its columns, as exports do
(docs/formats/export.md).
"""

from collections.abc import Sequence
from typing import Any, Final

from widerow.cli.tablestore.grid import Grid
from widerow.cli.tablestore.times import shown_time
from widerow.cli.tablestore.words import kind_of, shown_value
from widerow.rows.plain_values import Row
from widerow.transfer.layout import CELLS, json_cells, json_value
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["cell_grid", "described_table", "row_document", "row_grid", "table_lines"]

Json = dict[str, Any]

_KEY_KINDS: Final = {1: "integer", 2: "string", 3: "binary"}
_DEFINED_KINDS: Final = {1: "integer", 2: "double", 3: "boolean", 4: "string", 7: "binary"}
_INDEX_TYPES: Final = {0: "global", 1: "local"}
_STATUSES: Final = {1: "active", 2: "inactive", 3: "loading", 4: "unloading", 5: "updating"}


def row_document(row: Row, *, versions: bool) -> Json:
    """A row as JSON; `versions`: all that it has, else the newest value of each column."""
    key = {name: json_value(value) for name, value in row.key}
    if versions:
        return {**key, CELLS: json_cells(row.cells)}
    columns: Json = {}
    for cell in row.cells:  # the newest version of a column is its first
        columns.setdefault(cell.column, json_value(cell.value))
    return key | columns


def row_grid(rows: Sequence[Row], key_names: Sequence[str]) -> Grid:
    """Rows side by side: a column for each of the key, and for each that any of them has.

    Only the newest version of a column is shown. Numbers are aligned to the right.
    """
    names: dict[str, None] = {}
    documents = []
    for row in rows:
        shown = {name: shown_value(value, typed=True) for name, value in row.key}
        for cell in row.cells:
            shown.setdefault(cell.column, shown_value(cell.value))
        documents.append(shown)
        names.update(dict.fromkeys(shown))
    headings = [*key_names, *sorted(names.keys() - set(key_names))]
    texts = {name for row in rows for name in _texts(row)}
    return Grid(
        headings,
        [[shown.get(name, "") for name in headings] for shown in documents],
        [name in names and name not in texts for name in headings],
    )


def _texts(row: Row) -> set[str]:
    """The columns of a row whose values are not numbers."""
    kinds = (int, float)
    found = {name for name, value in row.key if not isinstance(value, kinds)}
    return found | {each.column for each in row.cells if type(each.value) not in kinds}


def cell_grid(row: Row) -> Grid:
    """One row with everything that is known of it: a line for each key column and each cell."""
    lines = [
        [name, kind_of(value), shown_value(value, typed=True), "key"] for name, value in row.key
    ]
    for cell in row.cells:
        version = shown_time(cell.version)
        shown = shown_value(cell.value, typed=True)
        lines.append([cell.column, kind_of(cell.value), shown, version])
    return Grid(("column", "type", "value", "version"), lines)


def described_table(found: m.DescribeTableResponse) -> Json:
    """What is known of a table, as JSON."""
    meta, options = found.table_meta, found.table_options
    units = found.reserved_throughput_details.capacity_unit
    stream = found.stream_details
    key = [
        {
            "name": text(each.name),
            "type": _KEY_KINDS.get(each.type, str(each.type)),
            **({"auto_increment": True} if each.option == 1 else {}),
        }
        for each in meta.primary_key
    ]
    defined = [
        {"name": text(each.name), "type": _DEFINED_KINDS.get(each.type, str(each.type))}
        for each in meta.defined_column
    ]
    return {
        "name": text(meta.table_name),
        "status": _STATUSES.get(found.table_status, str(found.table_status)),
        "key": key,
        "defined_columns": defined,
        "ttl": options.time_to_live,
        "max_versions": options.max_versions,
        "max_version_offset": options.deviation_cell_version_in_sec,
        "allow_update": options.allow_update if options.HasField("allow_update") else True,
        "reserved_read": units.read,
        "reserved_write": units.write,
        "stream_hours": stream.expiration_time if stream.enable_stream else None,
        "partitions": len(found.shard_splits) or 1,
        "indexes": [_index(each) for each in found.index_metas],
    }


def _index(index: m.IndexMeta) -> Json:
    return {
        "name": text(index.name),
        "type": _INDEX_TYPES.get(index.index_type, str(index.index_type)),
        "columns": [str(name) for name in index.primary_key],
        "covered": [str(name) for name in index.defined_column],
    }


def table_lines(document: Json) -> list[tuple[str, str]]:
    """What `described_table` found, as names and texts for people."""
    key = [
        f"{each['name']} {each['type']}" + (" (auto increment)" if "auto_increment" in each else "")
        for each in document["key"]
    ]
    defined = [f"{each['name']} {each['type']}" for each in document["defined_columns"]]
    indexes = [
        f"{each['name']} ({each['type']}: {', '.join(each['columns'])})"
        for each in document["indexes"]
    ]
    hours = document["stream_hours"]
    lines = [
        ("key", ", ".join(key)),
        ("defined columns", ", ".join(defined) or "none"),
        ("rows live", "for ever" if document["ttl"] == -1 else f"{document['ttl']:,} s"),
        ("versions kept", str(document["max_versions"])),
        ("version offset", f"{document['max_version_offset']:,} s at most"),
        ("updates", "allowed" if document["allow_update"] else "not allowed"),
        ("reserved units", f"{document['reserved_read']} read, {document['reserved_write']} write"),
        ("stream", "off" if hours is None else f"on, changes kept for {hours} h"),
        ("partitions", str(document["partitions"])),
        ("indexes", ", ".join(indexes) or "none"),
        ("status", document["status"]),
    ]
    return [(name, value) for name, value in lines if value]
