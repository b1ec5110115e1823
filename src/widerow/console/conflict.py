"""Both sides of a refused change of a Tablestore row: what is there, and what the person typed."""

from collections.abc import Mapping

from widerow.console.forms import (
    kind_name,
    numbered,
    same_text,
    shown,
    typed_text,
    value_from_kept,
    value_to_keep,
)
from widerow.console.parts import PageDocument, Visit
from widerow.console.row_keys import key_text_of
from widerow.model.tablestore.filter import Pagination
from widerow.model.tablestore.requests import GetRow
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Selection
from widerow.model.values import Value
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.plain_values import decode_plain_rows

__all__ = ["conflict_of", "is_as_it_was"]


def is_as_it_was(field: Mapping[str, str], was: Value) -> bool:
    """Whether a field of a form still has its original value."""
    return field.get("type") == kind_name(was) and same_text(
        field.get("value", ""), typed_text(was)
    )


def conflict_of(
    visit: Visit, table: Table, form: Mapping[str, str], change: RowChange
) -> PageDocument:
    """The document of a conflict, with the fields for another try.

    `is_gone`: there is no row any more; then `fields` are all of the form, else the changed ones.
    `now` is what is there, None for nothing; `by_others`: it is not what the person saw.
    """
    rows = visit.parts.tablestore.rows
    sent = [each for each in numbered(form, "col") if each.get("name")]
    names = frozenset(each["name"] for each in sent)

    def read(selection: Selection) -> dict[str, Value] | None:
        found = rows.get_row(table.instance, GetRow(table.name, change.key, selection))
        if not found.row:
            return None
        row = decode_plain_rows(PLAIN_HEADER + found.row)[0]
        return {cell.column: cell.value for cell in row.cells}

    is_gone = read(Selection(max_versions=1, pagination=Pagination(0, 1))) is None
    now = (read(Selection(columns=names, max_versions=1)) if names else None) or {}
    fields = [_field(each, now.get(each["name"])) for each in sent]
    key = [value for _, value in change.key.columns]
    return {
        "is_gone": is_gone,
        "id": key_text_of(key),
        "key": [each.hex() if isinstance(each, bytes) else each for each in key],
        "fields": [each for each in fields if is_gone or each["changed"]],
    }


def _field(field: Mapping[str, str], now: Value | None) -> PageDocument:
    was = value_from_kept(field["was"]) if field.get("was") else None
    deleted = "delete" in field
    return {
        "column": field["name"],
        "now": None if now is None else shown(now),
        "kept": "" if now is None else value_to_keep(now),
        "by_others": now != was or type(now) is not type(was),
        "type": field.get("type", ""),
        "typed": field.get("value", ""),
        "deleted": deleted,
        "changed": deleted or was is None or not is_as_it_was(field, was),
    }
