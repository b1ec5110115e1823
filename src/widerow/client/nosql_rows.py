"""Rows, keys and selections of typed tables on their way to a server and back (nosql-wire §4, §6).

A row that comes from a server becomes a row as the store of this process would read it, so that
whoever shows rows need not know where they are from.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from widerow.engine.typed.ddl.text import type_text
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.coerce import coerce
from widerow.model.typed.requests import Version
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import JSON, FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull
from widerow.rows.typed import typed_record
from widerow.wire.nosql.convert import row_columns
from widerow.wire.nosql.nson import EncodedValue
from widerow.wire.nosql.typed_values import encoded_value

__all__ = ["PathBound", "RowQuery", "columns_sent", "received_row", "row_query"]

_NO_VERSION = Version(bytes(16))
_HOUR_MS = 3_600_000


def columns_sent(form: TableForm, values: Mapping[str, Any]) -> dict[str, EncodedValue]:
    """The columns of a row or a key, each by its type. Raises `InvalidRequest` for a value.

    A NULL in a column of JSON is left out: sent, it would be the null of JSON (nosql-wire §8).
    """
    table = form.table
    sent: dict[str, EncodedValue] = {}
    for name, value in values.items():
        if table.collection and name.lower() not in form.names:
            sent[name] = encoded_value(JSON_NULL if value is None else value, JSON)
            continue
        field = table.fields[form.position(name)]
        if value is None and field.type.kind is Kind.JSON:
            continue
        made = None if value is None else coerce(value, field.type, field.name)
        sent[field.name] = encoded_value(made, field.type)
    return sent


def received_row(form: TableForm, sent: Mapping[str, Any], about: Mapping[str, Any]) -> StoredRow:
    """A row of an answer. `about`: the members `rv`, `md` and `xp` as far as the answer has them.

    Raises `InvalidRequest` for values that are not those of the table.
    """
    table = form.table
    row = form.values.empty
    columns = row_columns(table, dict(sent), exact=False)
    document: dict[str, Any] = {}
    for name, value in columns.items():
        position = form.names.get(name.lower())
        if position is None:
            document[name] = None if isinstance(value, JsonNull) else value
        else:
            row[position] = value
    for name, value in sent.items():
        if value is None and name.lower() in form.names:
            row[form.names[name.lower()]] = None  # a NULL, also of a column of JSON
    if form.document >= 0:
        row[form.document] = coerce(document, JSON, "document")
    _, key = form.row_key([row[position] for position in form.key_positions])
    version = about.get("rv")
    unique = (_NO_VERSION if version is None else Version.from_bytes(version)).unique
    expiry_hour, modified_ms = about.get("xp", 0) // _HOUR_MS, about.get("md", 0)
    record = typed_record(table, expiry_hour, modified_ms, unique, form.values.pack(row))
    return StoredRow(form, key, record)


class PathBound(NamedTuple):
    """What a path is to be: `operator` is one of comparison; None as the value is NULL."""

    path: str
    type: FieldType
    operator: str
    value: Any


class RowQuery(NamedTuple):
    """A statement that reads rows, and the values of its variables."""

    statement: str
    variables: Sequence[Mapping[str, Any]]


def row_query(
    table: TypedTable, bounds: Iterable[PathBound], order: Iterable[str], *, reverse: bool = False
) -> RowQuery:
    """The rows of a table within bounds, in the order of paths. Raises `InvalidRequest`."""
    declared, conditions, variables = [], [], []
    for number, bound in enumerate(bounds):
        if bound.value is None:
            conditions.append(f"$t.{bound.path} IS NULL")
            continue
        name = f"$v{number}"
        value = coerce(bound.value, bound.type, bound.path)
        declared.append(f"{name} {type_text(bound.type)};")
        conditions.append(f"$t.{bound.path} {bound.operator} {name}")
        variables.append({"m": name, "l": encoded_value(value, bound.type)})
    direction = " DESC" if reverse else ""
    parts = [
        *(["DECLARE", *declared] if declared else []),
        f"SELECT * FROM {table.qualified} $t",  # noqa: S608  # names of a definition
        *([f"WHERE {' AND '.join(conditions)}"] if conditions else []),
        f"ORDER BY {', '.join(f'$t.{path}{direction}' for path in order)}",
    ]
    return RowQuery(" ".join(parts), variables)
