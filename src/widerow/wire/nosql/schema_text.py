"""A table's definition as JSON text, as GET_TABLE answers it (nosql-wire §5.2, model §12)."""

from typing import Any

from widerow.model.typed.json_rows import value_to_json
from widerow.model.typed.schema_json import document_text
from widerow.model.typed.table import Index, TableLimits, TypedTable
from widerow.model.typed.types import Field, FieldType, IdentityMode, Kind

__all__ = ["ON_DEMAND_UNITS", "cloud_schema_json", "told_units"]

ON_DEMAND_UNITS = 2**31 - 2
"""The throughput that is told of a table on demand."""

_INDEX_KEY_BYTES = 64


def told_units(limits: TableLimits) -> tuple[int, int]:
    """Read and write units of a table as they are told."""
    if limits.on_demand:
        return ON_DEMAND_UNITS, ON_DEMAND_UNITS
    return limits.read_units, limits.write_units


def cloud_schema_json(table: TypedTable, limits: TableLimits | None, children: list[str]) -> str:
    """The text. `limits`: those of the top table; `children`: short names of child tables."""
    document: dict[str, Any] = {
        "json_version": 2,
        "type": "table",
        "namespace": table.shown_namespace,
        "name": table.short_name,
        "ttl": table.ttl.text() if table.ttl else None,
        "id": str(table.id),
        "parent": table.parent.rpartition(".")[2] if table.parent else None,
        "comment": table.comment,
        "limits": None if limits is None else _limits(limits),
        "fields": [_field(field) for field in table.fields],
        "primaryKey": list(table.primary_key),
        "primaryKeySizes": list(table.key_sizes) if any(table.key_sizes) else None,
        "shardKey": list(table.shard_key),
        "identity": _identity(table),
        "children": children or None,
        "indexes": [_index(index) for index in table.indexes] or None,
    }
    return document_text({name: value for name, value in document.items() if value is not None})


def _limits(limits: TableLimits) -> dict[str, int]:
    read, write = told_units(limits)
    return {
        "readLimit": read,
        "writeLimit": write,
        "sizeLimit": limits.storage_gb,
        "indexKeySizeLimit": _INDEX_KEY_BYTES,
    }


def _field(field: Field) -> dict[str, Any]:
    default = field.default
    document = {
        "name": field.name,
        "type": field.type.kind.value,
        "comment": field.comment,
        "nullable": field.nullable,
        "default": None if default is None else value_to_json(default, field.type),
        **_members(field.type),
    }
    if field.uuid_generated:
        document["generated"] = True
    return {name: value for name, value in document.items() if value is not None}


def _members(kind: FieldType) -> dict[str, Any]:
    if kind.kind is Kind.ENUM:
        return {"symbols": list(kind.symbols)}
    if kind.kind is Kind.TIMESTAMP:
        return {"precision": kind.precision}
    if kind.kind is Kind.FIXED_BINARY:
        return {"size": kind.size}
    if kind.kind is Kind.RECORD:
        return {"fields": [_field(field) for field in kind.fields]}
    if kind.element is not None:
        return {"collection": {"type": kind.element.kind.value, **_members(kind.element)}}
    return {"as uuid": True} if kind.uuid else {}


def _identity(table: TypedTable) -> dict[str, Any] | None:
    made = table.generated
    if made is None or made.identity is None:
        return None
    mode = made.identity.mode
    return {
        "name": made.name,
        "always": mode is IdentityMode.ALWAYS,
        "null": mode is IdentityMode.BY_DEFAULT_ON_NULL,
    }


def _index(index: Index) -> dict[str, Any]:
    fields = [
        {"path": path} | ({} if kind is None else {"type": kind.value.capitalize()})
        for path, kind in index.fields
    ]
    return {
        "name": index.name,
        "type": "secondary",
        "fields": fields,
        "withNoNulls": not index.with_nulls,
        "withUniqueKeysPerRow": index.unique_keys_per_row,
    }
