"""The page of one Tablestore row: shown with all versions, edited, added, deleted.

A change is an UpdateRow, PutRow or DeleteRow as a client would send it, so the rules and the errors
are the service's own. An edit sends only what was changed, on the condition that the row exists and
that the changed cells are as they were shown: no other client's write is lost.
"""

from collections.abc import Mapping
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.console.conflict import conflict_of, is_as_it_was
from widerow.console.forms import (
    KIND_NAMES,
    kind_name,
    numbered,
    typed_text,
    typed_value,
    value_from_kept,
    value_to_keep,
)
from widerow.console.parts import ConsoleRefused, Moved, PageDocument, Visit, address, not_permitted
from widerow.console.places import TablePlace, asked_table, the_table
from widerow.console.refusals import refusal_of
from widerow.console.row_keys import KEY_TYPE_NAMES, key_from_text, key_text_of, typed_key
from widerow.console.rows_page import no_such_row, shown_row
from widerow.console.typed_rows import show_typed_row
from widerow.errors import Conflict
from widerow.limits import CONSOLE_COLUMNS_MAX, CONSOLE_VALUE_CHARACTERS_MAX, FILTER_NODES_MAX
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.filter import (
    Comparator,
    Comparison,
    Composite,
    Filter,
    LogicalOperator,
    Pagination,
)
from widerow.model.tablestore.requests import GetRow
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    ReturnContent,
    ReturnType,
    RowChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyMarker, Value, value_bytes
from widerow.rows.cells import PLAIN_HEADER, cell_body
from widerow.rows.plain_values import Row, VersionedValue, decode_plain_rows

__all__ = ["show_row"]

_CHANGES_MAX: Final = FILTER_NODES_MAX - 1  # of one edit: each is a leaf of its condition
_CAME_FIRST: Final = (
    *(TablestoreRule.CONDITION_FAILED, TablestoreRule.ROW_ABSENT, TablestoreRule.ROW_EXISTS),
)
"""The rules that a change breaks where somebody else came first."""

_RETURN_KEY: Final = ReturnContent(ReturnType.PRIMARY_KEY)


def show_row(visit: Visit) -> PageDocument | Moved:
    """One row: `id` names it, without it a form for a new one.

    `column`: how many columns to skip.
    """
    name = asked_table(visit)
    if name.model == "nosql":
        return show_typed_row(visit, name)
    table = the_table(visit, name)
    if visit.form is not None:
        return _change(visit, name, table, visit.form)
    identity = visit.asked.get("id", "")
    start = visit.number("column", 1, 1_000_000)
    document: PageDocument = {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "is_new": not identity,
        "id": identity,
        "kinds": list(KIND_NAMES),
        "key": [
            {
                "name": each.name,
                "type": KEY_TYPE_NAMES[each.type],
                "auto_increment": each.auto_increment,
            }
            for each in table.key_columns
        ],
        "max_versions": table.options.max_versions,
        "may_write": visit.may(Permission.WRITE) and not table.index_of,
        "row": None,
        "cells": [],
        "more": "",
    }
    if identity:
        document |= _found(visit, table, identity, start)
    return document


def _found(visit: Visit, table: Table, identity: str, start: int) -> PageDocument:
    """The row as a document, and as the fields of a form."""
    selection = Selection(
        max_versions=table.options.max_versions,
        pagination=Pagination(start - 1, CONSOLE_COLUMNS_MAX),
    )
    request = GetRow(table.name, key_from_text(table, identity), selection)
    read = visit.parts.tablestore.rows.get_row(table.instance, request)
    if not read.row:
        raise no_such_row()
    row = decode_plain_rows(PLAIN_HEADER + read.row)[0]
    shown = shown_row(row)
    more = ""
    if len(shown["cells"]) == CONSOLE_COLUMNS_MAX:
        asked = {"instance": table.instance, "table": table.name, "id": identity}
        more = address("row", **asked, column=start + CONSOLE_COLUMNS_MAX)
    return {"row": shown, "cells": _fields(row), "more": more}


def _fields(row: Row) -> list[PageDocument]:
    """The newest version of each column as fields of a form; long values are not editable."""
    newest: dict[str, VersionedValue] = {}
    for each in row.cells:
        newest.setdefault(each.column, each)
    return [
        {
            "column": name,
            "type": kind_name(cell.value),
            "text": typed_text(cell.value),
            "was": value_to_keep(cell.value),
            "version": cell.version,
            "lines": min(8, 1 + typed_text(cell.value).count("\n")),
        }
        if len(typed_text(cell.value)) <= CONSOLE_VALUE_CHARACTERS_MAX
        else {"column": name, "type": kind_name(cell.value), "was": "", "version": cell.version}
        for name, cell in sorted(newest.items())
    ]


# --- changes --------------------------------------------------------------------------------------


def _change(
    visit: Visit, name: TablePlace, table: Table, form: Mapping[str, str]
) -> PageDocument | Moved:
    """Make the change of a form, and move on; or both sides, where somebody else came first.

    Raises the refusals of the service.
    """
    if not visit.may(Permission.WRITE):
        raise not_permitted(Permission.WRITE)
    make = _CHANGES.get(form.get("do", ""))
    if make is None:
        raise ConsoleRefused(400, "The form asks for nothing.", "Use a button of the page.")
    change = make(table, form)
    plan = visit.parts.tablestore.rows.write_row(table.instance, change)
    try:
        written = visit.parts.committer.run(plan)
    except Conflict as error:
        if error.rule not in _CAME_FIRST or make is _deleted:
            raise
        told = {
            "refusal": refusal_of(error)[1],
            "conflict": conflict_of(visit, table, form, change),
        }
        return {
            **name._asdict(),
            "table": name.name,
            "kinds": list(KIND_NAMES),
            "is_new": False,
            **told,
        }
    asked = {"instance": name.instance, "table": name.name}
    if change.modification is Modification.DELETE:
        return Moved(address("rows", **asked))
    values: list[Any] = [value for _, value in change.key.columns]
    if written.row:  # the service has chosen a value of the key
        values = [value for _, value in decode_plain_rows(PLAIN_HEADER + written.row)[0].key]
    return Moved(address("row", **asked, id=key_text_of(values), saved=1))


def _added(table: Table, form: Mapping[str, str]) -> RowChange:
    """The PutRow of a new row, on the condition that it does not exist."""
    columns: list[tuple[str, Any]] = []
    for number, column in enumerate(table.key_columns):
        text = form.get(f"key.{number}", "")
        automatic = column.auto_increment and not text
        columns.append(
            (column.name, KeyMarker.AUTO_INCREMENT if automatic else typed_key(column, text))
        )
    cells = [_put(each) for each in numbered(form, "col") if each.get("name")]
    chosen = any(isinstance(value, KeyMarker) for _, value in columns)
    expected = RowExpectation.IGNORE if chosen else RowExpectation.EXPECT_NOT_EXIST
    return RowChange(
        table.name,
        Modification.PUT,
        PrimaryKey(tuple(columns)),
        tuple(cells),
        Condition(expected),
        _RETURN_KEY,
    )


def _edited(table: Table, form: Mapping[str, str]) -> RowChange:
    """The UpdateRow of the changed fields, on the condition that they are as they were shown."""
    cells: list[CellChange] = []
    leaves: list[Filter] = []
    for each in numbered(form, "col"):
        if not each.get("name") or "keep" in each:
            continue
        was = value_from_kept(each["was"]) if each.get("was") else None
        if "delete" in each:
            cells.append(
                CellChange(
                    CellOperation.DELETE_ALL_VERSIONS,
                    each["name"],
                    None,
                    len(each["name"].encode()),
                )
            )
        elif was is None or not is_as_it_was(each, was):
            cells.append(_put(each))
        else:
            continue
        if was is not None or "is_new" in each:
            leaves.append(_still(each["name"], was))
    if not cells:
        raise ConsoleRefused(400, "Nothing is changed.", "Change a value, or go back to the rows.")
    if len(cells) > _CHANGES_MAX:
        raise ConsoleRefused(
            400, f"{len(cells)} columns are changed.", f"Change at most {_CHANGES_MAX} at once."
        )
    condition = Condition(RowExpectation.EXPECT_EXIST, _all_of(leaves))
    key = key_from_text(table, form.get("id", ""))
    return RowChange(table.name, Modification.UPDATE, key, tuple(cells), condition)


def _deleted(table: Table, form: Mapping[str, str]) -> RowChange:
    """The DeleteRow of an existing row."""
    key = key_from_text(table, form.get("id", ""))
    return RowChange(
        table.name, Modification.DELETE, key, (), Condition(RowExpectation.EXPECT_EXIST)
    )


_CHANGES: Final = {"add": _added, "edit": _edited, "delete": _deleted}


def _put(field: Mapping[str, str]) -> CellChange:
    """The put of a field's value. Raises: `ConsoleRefused` for a value of another type."""
    name = field["name"]
    value = typed_value(name, field.get("type", ""), field.get("value", ""))
    body, crc = cell_body(name, value)
    size = len(name.encode()) + value_bytes(value)
    return CellChange(CellOperation.PUT, name, _version(name, field), size, body, crc)


def _version(name: str, field: Mapping[str, str]) -> int | None:
    text = field.get("at", "").strip()
    if not text:
        return None
    value = typed_value(f"{name} (version)", "integer", text)
    assert isinstance(value, int), "as asked for"
    return value


def _still(column: str, was: Value | None) -> Filter:
    """The condition that a column still has the value `was`; None: does not exist."""
    if was is None:
        return Comparison(column, Comparator.NOT_EXIST, "")
    return Comparison(column, Comparator.EQUAL, was, pass_if_missing=False)


def _all_of(leaves: list[Filter]) -> Filter | None:
    if len(leaves) < 2:
        return leaves[0] if leaves else None
    return Composite(LogicalOperator.AND, tuple(leaves))
