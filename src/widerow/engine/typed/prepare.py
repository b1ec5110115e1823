"""Checking and packing the row that a caller gives, before a transaction begins (model §5, §9)."""

from collections.abc import Callable, Mapping
from typing import Any

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.write import TypedRowWrite
from widerow.errors import InvalidRequest
from widerow.limits import VALUE_DEPTH_MAX
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import Field, IdentityMode
from widerow.model.typed.values import JSON_NULL, TypedValue

__all__ = ["Generate", "prepare"]

Generate = Callable[[TableForm, Field], TypedValue]


def prepare(form: TableForm, choice: WriteChoice, generate: Generate) -> TypedRowWrite:
    """The write for a choice, with everything checked that needs no stored row.

    `generate` makes the value of an identity or UUID column that the row leaves to the store.
    Raises: `InvalidRequest`, and what `generate` raises.
    """
    packed: bytes | None = None
    made: TypedValue = None
    kind = choice.kind
    if kind is OperationKind.DELETE or kind is OperationKind.DELETE_IF_VERSION:
        given = choice.values
        key_values = form.complete(given.key if isinstance(given, StoredRow) else given)
    else:
        row = _filled(form, choice.values)
        if form.generated >= 0:
            made = _generated(form, choice.values, row, generate)
        key_values = [row[position] for position in form.key_positions]
        if None in key_values:
            name = form.table.primary_key[key_values.index(None)]
            raise InvalidRequest(TypedRule.KEY_MISSING, field=name)
        packed = form.values.pack(row)
        if len(packed) > choice.bytes_max:
            raise InvalidRequest(TypedRule.ROW_LENGTH, size=len(packed), limit=choice.bytes_max)
    shard, key = form.row_key(key_values)
    return TypedRowWrite(choice, form, shard, key, packed, made)


def _filled(form: TableForm, given: Mapping[str, Any]) -> list[TypedValue]:
    """The given row with defaults for the columns left out; a key column left out is None."""
    row = form.values.empty
    names, columns, takes_text = form.names, form.columns, form.takes_text
    document: dict[str, Any] = {}
    for name, value in given.items():
        position = names.get(name)
        if position is None:
            if form.document >= 0 and name.lower() not in names:
                document[name] = None if value is JSON_NULL else value
                continue
            position = form.position(name)
        if type(value) is str and takes_text[position] and value.isascii():
            row[position] = value
            continue
        coerce, kind, declared, nullable = columns[position]
        if value is not None:
            row[position] = coerce(value, kind, declared, VALUE_DEPTH_MAX)
        elif nullable or position == form.generated:
            row[position] = None
        elif position in form.key_positions:
            raise InvalidRequest(TypedRule.KEY_NULL)
        else:
            raise InvalidRequest(TypedRule.NOT_NULLABLE, field=declared)
    if form.document >= 0:
        column = columns[form.document]
        row[form.document] = column.coerce(document, column.type, "document", VALUE_DEPTH_MAX)
    return row


def _generated(
    form: TableForm, given: Mapping[str, Any], row: list[TypedValue], generate: Generate
) -> TypedValue:
    """Generate the value of the generated column unless the row gives it; the value, or None."""
    position = form.generated
    field = form.table.fields[position]
    named = any(form.position(name) == position for name in given)
    mode = None if field.identity is None else field.identity.mode
    if mode is IdentityMode.ALWAYS and named:
        raise InvalidRequest(TypedRule.IDENTITY_ALWAYS, field=field.name)
    if named and (row[position] is not None or mode is not IdentityMode.BY_DEFAULT_ON_NULL):
        if row[position] is None and position in form.key_positions:
            raise InvalidRequest(TypedRule.KEY_MISSING, field=field.name)
        if row[position] is None and not field.nullable:
            raise InvalidRequest(TypedRule.NOT_NULLABLE, field=field.name)
        return None
    value = row[position] = generate(form, field)
    return value
