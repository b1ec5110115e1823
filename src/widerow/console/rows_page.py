"""The page of a Tablestore table's rows: by prefix and range of the key, with a filter."""

from typing import Any

from widerow.auth.keyring import Permission
from widerow.console.forms import COLUMN_TYPE_NAMES, shown
from widerow.console.grid import (
    files_of,
    grid_columns,
    grid_place,
    names_chosen,
    next_address,
    usual_columns,
)
from widerow.console.parts import ConsoleRefused, Moved, PageDocument, Visit, address
from widerow.console.places import TablePlace, asked_table, sizes_of, the_table
from widerow.console.refusals import with_refusal
from widerow.console.row_keys import (
    KEY_TYPE_NAMES,
    key_bounds,
    key_from_text,
    key_prefix,
    key_text_of,
)
from widerow.console.typed_rows import show_typed_rows
from widerow.limits import (
    CONSOLE_COLUMNS_MAX,
    CONSOLE_ROWS_DEFAULT,
    CONSOLE_ROWS_MAX,
)
from widerow.model.tablestore.answers import RangePage
from widerow.model.tablestore.filter import Pagination
from widerow.model.tablestore.requests import GetRange, GetRow
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.rows.cells import PLAIN_HEADER, TAG_ROW_CHECKSUM
from widerow.rows.checksum import crc8_byte
from widerow.rows.plain_values import Row, VersionedValue, decode_plain_rows

__all__ = [
    "next_key",
    "no_such_row",
    "range_asked",
    "selection_asked",
    "show_rows",
    "shown_row",
]


def show_rows(visit: Visit) -> PageDocument | Moved:
    """A page of rows, at most a hundred; of a timeseries table, its series.

    Parameters: those of `row_keys.key_bounds` and of `grid.py`; `where`, a condition; `order`,
    `down` for the largest key first; `limit`; `after`, the key at which the page begins. A
    parameter that cannot be read stays in the form, with the error.
    """
    name = asked_table(visit)
    if name.model == "nosql":
        return show_typed_rows(visit, name)
    if name.model == "timeseries":
        return Moved(address("series", **name.parameters))
    table = the_table(visit, name)
    limit = visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX)
    prefix = key_prefix(table, visit.asked)
    form: PageDocument = {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "key": [
            {"name": each.name, "type": KEY_TYPE_NAMES[each.type]} for each in table.key_columns
        ],
        "prefix": prefix,
        "bounded": _bounded(table, len(prefix)),
        "asked": {
            each: visit.asked.get(each, "")
            for each in ("k0", "k1", "k2", "k3", "from", "to", "begins", "where", "order", "limit")
        },
        "chosen": names_chosen(visit.asked),
        "columns": [],
        "known": [],
        "columns_max": CONSOLE_COLUMNS_MAX,
        "rows": [],
        "limit": limit,
        "place": None,
        "more": "",
        "may_write": visit.may(Permission.WRITE) and not table.index_of,
    }
    return with_refusal(form, lambda: _page(visit, name, table, limit))


def _page(visit: Visit, name: TablePlace, table: Table, limit: int) -> PageDocument:
    """The rows of the page, as a document."""
    chosen = names_chosen(visit.asked)
    found, following = _read(visit, table, limit)
    rows = [shown_row(_with_columns(visit, table, each, chosen)) for each in found]
    kinds = {each.name: {COLUMN_TYPE_NAMES[each.type]} for each in table.defined_columns}
    for row in rows:
        for cell in row["cells"]:
            kinds.setdefault(cell["column"], set()).add(cell["versions"][0]["type"])
    known = {each["name"]: each for each in grid_columns(sorted(kinds.items()))}
    absent = {"type": "", "number": False}
    shown = chosen or usual_columns([[cell["column"] for cell in row["cells"]] for row in rows])
    more = _following(visit, following, len(rows))
    size = sizes_of(visit, [name]).get(name) if more else None
    return {
        "columns": [known.get(each, {"name": each, **absent}) for each in shown],
        "known": [{**each, "shown": each["name"] in shown} for each in known.values()],
        "rows": rows,
        "place": grid_place(visit, len(rows), more, size),
        "more": more,
        "files": files_of(visit),
    }


def _bounded(table: Table, given: int) -> PageDocument | None:
    """The first key column without a value, to which bounds apply."""
    if given == len(table.key_columns):
        return None
    column = table.key_columns[given]
    return {"name": column.name, "type": KEY_TYPE_NAMES[column.type]}


def selection_asked(visit: Visit, table: Table, columns_max: int | None) -> Selection:
    """The condition of the address, on rows with at most so many columns (None: all)."""
    where = visit.asked.get("where", "").strip()
    kinds = {each.name: COLUMN_TYPE_NAMES[each.type] for each in table.defined_columns}
    return Selection(
        max_versions=table.options.max_versions,
        filter=visit.languages.condition(where, kinds) if where else None,
        pagination=None if columns_max is None else Pagination(0, columns_max),
    )


def range_asked(visit: Visit, table: Table, limit: int | None) -> RowRange | PrimaryKey:
    """The range of the address, from its `after` on; the key where all columns have a value."""
    low, high = key_bounds(table, visit.asked)
    if len(key_prefix(table, visit.asked)) == len(table.key_columns):
        return low
    direction = RangeDirection.FORWARD
    if visit.asked.get("order") == "down":
        direction, low, high = RangeDirection.BACKWARD, high, low
    if visit.asked.get("after"):
        low = key_from_text(table, visit.asked["after"])
    return RowRange(low, high, direction, limit)


def _read(visit: Visit, table: Table, limit: int) -> tuple[list[Row], PrimaryKey | None]:
    """The rows of a page, and the key of the next one."""
    asked = range_asked(visit, table, limit)
    selection = selection_asked(visit, table, CONSOLE_COLUMNS_MAX)
    rows = visit.parts.tablestore.rows
    if isinstance(asked, PrimaryKey):
        read = rows.get_row(table.instance, GetRow(table.name, asked, selection))
        return decode_plain_rows(PLAIN_HEADER + read.row) if read.row else [], None
    request = GetRange(table.name, asked, selection)
    with visit.parts.long_work():
        page = rows.get_range(table.instance, request)
    return decode_plain_rows(PLAIN_HEADER + page.rows), next_key(page)


def _with_columns(visit: Visit, table: Table, row: Row, chosen: list[str]) -> Row:
    """A row with the chosen columns too, where it has more columns than were read."""
    names = {each.column for each in row.cells}
    absent = frozenset(chosen) - names
    if len(names) < CONSOLE_COLUMNS_MAX or not absent:
        return row
    selection = Selection(columns=absent, max_versions=table.options.max_versions)
    request = GetRow(table.name, PrimaryKey(row.key), selection)
    read = visit.parts.tablestore.rows.get_row(table.instance, request)
    if not read.row:
        return row
    return row._replace(cells=row.cells + decode_plain_rows(PLAIN_HEADER + read.row)[0].cells)


def next_key(page: RangePage) -> PrimaryKey | None:
    """The key at which the next page begins, read as a row without cells."""
    if page.next_key is None:
        return None
    section, crc = page.next_key
    row = decode_plain_rows(PLAIN_HEADER + section + bytes((TAG_ROW_CHECKSUM, crc8_byte(0, crc))))[
        0
    ]
    return PrimaryKey(row.key)


def _following(visit: Visit, key: PrimaryKey | None, count: int) -> str:
    """The address of the next page; "" for the last page."""
    if key is None:
        return ""
    return next_address(visit, "rows", key_text_of([value for _, value in key.columns]), count)


def shown_row(row: Row) -> PageDocument:
    """A row with its cells by column, the newest version of each first."""
    cells: dict[str, list[Any]] = {}
    for each in row.cells:
        assert isinstance(each, VersionedValue)
        cells.setdefault(each.column, []).append({"version": each.version, **shown(each.value)})
    return {
        "id": key_text_of([value for _, value in row.key]),
        "key": [{"name": name, **shown(value)} for name, value in row.key],
        "cells": [{"column": name, "versions": found} for name, found in sorted(cells.items())],
    }


def no_such_row() -> ConsoleRefused:
    """The answer for a row that does not exist (any more)."""
    return ConsoleRefused(
        404, "There is no such row (any more).", "It was deleted, or it has expired."
    )
