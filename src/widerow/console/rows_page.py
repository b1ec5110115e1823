"""The page of a Tablestore table's rows: by prefix and range of the key, with a filter."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from widerow.auth.keyring import Permission
from widerow.console.forms import COLUMN_TYPE_NAMES, shown
from widerow.console.parts import ConsoleRefused, PageDocument, Visit, address
from widerow.console.places import TablePlace, asked_table, the_table
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
from widerow.model.tablestore.filter import Filter, Pagination
from widerow.model.tablestore.requests import GetRange, GetRow
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.rows.cells import PLAIN_HEADER, TAG_ROW_CHECKSUM
from widerow.rows.checksum import crc8_byte
from widerow.rows.plain_values import Row, VersionedValue, decode_plain_rows

__all__ = ["no_such_row", "show_rows", "shown_row"]

_GRID_COLUMNS_MAX = 8  # of attributes, beside the key's; a row has all of them on its own page


def show_rows(visit: Visit) -> PageDocument:
    """A page of rows, at most a hundred.

    Parameters: those of `row_keys.key_bounds`; `where`, a condition; `order`, `down` for the
    largest key first; `limit`; `after`, the key at which the page begins. A parameter that cannot
    be read stays in the form, with the error.
    """
    name = asked_table(visit)
    if name.model == "nosql":
        return show_typed_rows(visit, name)
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
        "columns": [],
        "columns_max": CONSOLE_COLUMNS_MAX,
        "rows": [],
        "limit": limit,
        "more": "",
        "may_write": visit.may(Permission.WRITE) and not table.index_of,
    }
    return with_refusal(form, lambda: _page(visit, name, table, limit))


def _page(visit: Visit, name: TablePlace, table: Table, limit: int) -> PageDocument:
    """The rows of the page, as a document."""
    where = visit.asked.get("where", "").strip()
    tree = visit.languages.condition(where, _kinds(table)) if where else None
    found, following = _read(visit, table, tree, limit)
    return {
        "columns": _columns(found),
        "rows": [shown_row(each) for each in found],
        "more": _following(visit, name, following),
    }


def _bounded(table: Table, given: int) -> PageDocument | None:
    """The first key column without a value, to which bounds apply."""
    if given == len(table.key_columns):
        return None
    column = table.key_columns[given]
    return {"name": column.name, "type": KEY_TYPE_NAMES[column.type]}


def _kinds(table: Table) -> dict[str, str]:
    return {each.name: COLUMN_TYPE_NAMES[each.type] for each in table.defined_columns}


def _read(
    visit: Visit, table: Table, tree: Filter | None, limit: int
) -> tuple[list[Row], PrimaryKey | None]:
    """The rows of a page, and the key of the next one."""
    low, high = key_bounds(table, visit.asked)
    versions = table.options.max_versions
    selection = Selection(
        max_versions=versions, filter=tree, pagination=Pagination(0, CONSOLE_COLUMNS_MAX)
    )
    rows = visit.parts.tablestore.rows
    if len(key_prefix(table, visit.asked)) == len(table.key_columns):
        read = rows.get_row(table.instance, GetRow(table.name, low, selection))
        return decode_plain_rows(PLAIN_HEADER + read.row) if read.row else [], None
    direction = RangeDirection.FORWARD
    if visit.asked.get("order") == "down":
        direction, low, high = RangeDirection.BACKWARD, high, low
    if visit.asked.get("after"):
        low = key_from_text(table, visit.asked["after"])
    request = GetRange(table.name, RowRange(low, high, direction, limit), selection)
    with visit.parts.long_work():
        page = rows.get_range(table.instance, request)
    return decode_plain_rows(PLAIN_HEADER + page.rows), _next_key(page)


def _next_key(page: RangePage) -> PrimaryKey | None:
    """The key at which the next page begins, read as a row without cells."""
    if page.next_key is None:
        return None
    section, crc = page.next_key
    row = decode_plain_rows(PLAIN_HEADER + section + bytes((TAG_ROW_CHECKSUM, crc8_byte(0, crc))))[
        0
    ]
    return PrimaryKey(row.key)


def _following(visit: Visit, name: TablePlace, key: PrimaryKey | None) -> str:
    """The address of the next page; "" for the last page."""
    if key is None:
        return ""
    asked = {each: text for each, text in visit.asked.items() if each != "after"}
    asked |= {"instance": name.instance, "table": name.name}
    return address("rows", **asked, after=key_text_of([value for _, value in key.columns]))


def _columns(rows: Sequence[Row]) -> list[str]:
    """The attribute columns that most rows of a page have, as many as fit."""
    count = Counter(name for row in rows for name in dict.fromkeys(c.column for c in row.cells))
    usual = sorted(count, key=lambda name: (-count[name], name))[:_GRID_COLUMNS_MAX]
    return sorted(usual)


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
