"""The catalogue record of a typed table, as JSON (docs/formats/catalog.md)."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from typing import Any, Final

from widerow.engine.stored_json import decode_json
from widerow.model.typed.table import (
    Index,
    IndexField,
    TableLimits,
    TimeToLive,
    TtlUnit,
    TypedTable,
)
from widerow.model.typed.types import Field, FieldType, Identity, IdentityMode, Kind
from widerow.model.typed.values import Timestamp, TypedValue

__all__ = ["decode_typed_table", "encode_typed_table"]

_FORMAT: Final = 1
_PLAIN: Final = (
    *("name", "namespace", "parent", "parent_key_length", "comment", "next_number", "id"),
    *("schema", "revision", "created_us"),
)
_LISTS: Final = ("primary_key", "shard_key", "key_sizes", "path", "parent_lengths")


def encode_typed_table(table: TypedTable) -> bytes:
    """The record of a table."""
    record: dict[str, Any] = {"format": _FORMAT}
    record |= {name: getattr(table, name) for name in _PLAIN}
    record |= {name: list(getattr(table, name)) for name in _LISTS}
    record["layouts"] = [list(layout) for layout in table.layouts]
    record["fields"] = [_field(field) for field in table.fields]
    record["indexes"] = [_index(index) for index in table.indexes]
    if table.collection:
        record["collection"] = True
    if table.splits:
        record["splits"] = [bound.hex() for bound in table.splits]
    if table.ttl is not None:
        record["ttl"] = [table.ttl.value, table.ttl.unit.name]
    if table.limits is not None:
        record["limits"] = list(table.limits)
    if table.dropped:
        record["dropped"] = [_field(field) for field in table.dropped]
    if table.frozen:
        record["frozen"] = True
    if table.before_image is not None:
        record["before_image"] = [table.before_image.value, table.before_image.unit.name]
    return json.dumps(record, separators=(",", ":")).encode()


def decode_typed_table(data: bytes) -> TypedTable:
    """The table of a record. Raises `StoreDamaged` for anything `encode_typed_table` never writes.

    An unknown field is refused, because it may change what the rows mean.
    """
    return decode_json(data, "typed catalogue record", _table, form=_FORMAT, whole=True)


def _table(record: dict[str, Any]) -> TypedTable:
    pop = record.pop
    given: dict[str, Any] = {name: pop(name) for name in _PLAIN}
    given |= {name: tuple(pop(name)) for name in _LISTS}
    ttl, before_image = pop("ttl", None), pop("before_image", None)
    limits = pop("limits", None)
    return TypedTable(
        **given,
        fields=tuple(map(_read_field, pop("fields"))),
        dropped=tuple(map(_read_field, pop("dropped", ()))),
        layouts=tuple(tuple(layout) for layout in pop("layouts")),
        indexes=tuple(map(_read_index, pop("indexes"))),
        splits=tuple(map(bytes.fromhex, pop("splits", ()))),
        ttl=_read_ttl(ttl),
        before_image=_read_ttl(before_image),
        frozen=pop("frozen", False),
        collection=pop("collection", False),
        limits=None if limits is None else TableLimits(*limits),
    )


def _read_ttl(given: list[Any] | None) -> TimeToLive | None:
    return None if given is None else TimeToLive(given[0], TtlUnit[given[1]])


# --- fields and types: what is empty or usual is left out ----------------------------------------


def _field(field: Field) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": field.name,
        "type": _type(field.type),
        "number": field.number,
    }
    if not field.nullable:
        record["nullable"] = False
    if field.default is not None:
        record["default"] = _value(field.default)
    if field.comment is not None:
        record["comment"] = field.comment
    if field.identity is not None:
        record["identity"] = {
            each.name: getattr(field.identity, each.name) for each in fields(Identity)
        }
        record["identity"]["mode"] = field.identity.mode.name
    if field.uuid_generated:
        record["uuid_generated"] = True
    return record


def _read_field(record: dict[str, Any]) -> Field:
    given = dict(record)
    given["type"] = _read_type(given["type"])
    if "default" in given:
        given["default"] = _read_value(given["default"], given["type"])
    if "identity" in given:
        identity = dict(given["identity"])
        given["identity"] = Identity(**{**identity, "mode": IdentityMode[identity["mode"]]})
    return Field(**given)


def _type(kind: FieldType) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": kind.kind.value}
    if kind.symbols:
        record["symbols"] = list(kind.symbols)
    if kind.kind is Kind.TIMESTAMP:
        record["precision"] = kind.precision
    if kind.size:
        record["size"] = kind.size
    if kind.element is not None:
        record["element"] = _type(kind.element)
    if kind.kind is Kind.RECORD:
        record["fields"] = [_field(field) for field in kind.fields]
        record["next_number"] = kind.next_number
    if kind.uuid:
        record["uuid"] = True
    return record


def _read_type(record: dict[str, Any]) -> FieldType:
    given = dict(record)
    given["kind"] = Kind(given["kind"])
    given["symbols"] = tuple(given.get("symbols", ()))
    if "element" in given:
        given["element"] = _read_type(given["element"])
    given["fields"] = tuple(map(_read_field, given.get("fields", ())))
    return FieldType(**given)


def _value(value: TypedValue) -> Any:  # noqa: ANN401  # what JSON takes
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, Timestamp):
        return list(value)
    if isinstance(value, float):
        return repr(value)
    return str(value) if isinstance(value, Decimal) else value


def _read_value(value: Any, kind: FieldType) -> TypedValue:  # noqa: ANN401  # what JSON gives
    read = _READ.get(kind.kind)
    return value if read is None else read(value)


_READ: Final[dict[Kind, Callable[[Any], TypedValue]]] = {
    Kind.BINARY: lambda value: b64decode(value, validate=True),
    Kind.FIXED_BINARY: lambda value: b64decode(value, validate=True),
    Kind.TIMESTAMP: lambda value: Timestamp(*value),
    Kind.FLOAT: float,
    Kind.DOUBLE: float,
    Kind.NUMBER: Decimal,
}


def _index(index: Index) -> dict[str, Any]:
    record: dict[str, Any] = {
        each.name: getattr(index, each.name) for each in fields(Index) if each.name != "fields"
    }
    record["fields"] = list(map(_index_field, index.fields))
    return record


def _index_field(field: IndexField) -> list[str | None]:
    record = [field.path, None if field.type is None else field.type.value]
    return [*record, field.written] if field.written else record


def _read_index(record: dict[str, Any]) -> Index:
    indexed = tuple(
        IndexField(path, None if kind is None else Kind(kind), *written)
        for path, kind, *written in record["fields"]
    )
    return Index(**{**record, "fields": indexed})
