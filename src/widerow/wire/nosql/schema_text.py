"""A table's definition as JSON text, as GET_TABLE answers it (nosql-wire §5.2, model §12)."""

from typing import Any, Final

from widerow.model.typed.index_paths import IndexPath, index_paths
from widerow.model.typed.json_rows import value_to_json
from widerow.model.typed.schema_json import document_text
from widerow.model.typed.table import Index, IndexField, TableLimits, TypedTable
from widerow.model.typed.types import Field, FieldType, Identity, IdentityMode, Kind

__all__ = ["ON_DEMAND_UNITS", "cloud_schema_json", "told_units"]

ON_DEMAND_UNITS: Final = 2**31 - 2
"""The throughput that is told of a table on demand."""

_INDEX_KEY_BYTES: Final = 64
_WIDEST: Final = (-(2**63), 2**63 - 1)
_TYPE_NAMES: Final = {Kind.ANY_ATOMIC: "AnyAtomic"}


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
        "ttl": _ttl(table),
        "beforeImageTTL": table.before_image.text() if table.before_image else None,
        "id": str(table.id),
        "parent": table.parent.rpartition(".")[2] if table.parent else None,
        "comment": table.comment,
        "limits": None if limits is None else _limits(limits),
        "jsonCollection": True if table.collection else None,
        "fields": [_field(field) for field in table.shown_fields],
        "primaryKey": list(table.primary_key),
        "primaryKeySizes": list(table.key_sizes) if any(table.key_sizes) else None,
        "shardKey": list(table.shard_key),
        "children": children or None,
        "indexes": [_index(index, table) for index in _by_name(table)] or None,
        "identity": _identity(table),
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
        "sequence": _sequence(made.identity, made.type),
    }


def _sequence(identity: Identity, kind: FieldType) -> dict[str, Any]:
    """A generator of values; of a NUMBER without the bounds that it was not given."""
    bounds = {"min": identity.minimum, "max": identity.maximum}
    cache: int | float = identity.cache
    if kind.kind is Kind.NUMBER:
        bounds = {} if (identity.minimum, identity.maximum) == _WIDEST else bounds
        cache = float(cache)
    return {
        "start": identity.start,
        "increment": identity.increment,
        **bounds,
        "cache": cache,
        "cycle": identity.cycle,
    }


def _ttl(table: TypedTable) -> str | None:
    """The default time to live; none at all, once there was one, is told in days."""
    if table.ttl is None:
        return None
    return table.ttl.text() if table.ttl.value else "0 DAYS"


def _by_name(table: TypedTable) -> list[Index]:
    return sorted(table.indexes, key=lambda index: index.name.lower())


def _index(index: Index, table: TypedTable) -> dict[str, Any]:
    paths = zip(index_paths(table, index), index.fields, strict=True)
    return {
        "name": index.name,
        "type": "secondary",
        "fields": [_indexed(path, field) for path, field in paths],
        "withNoNulls": not index.with_nulls,
        "withUniqueKeysPerRow": index.unique_keys_per_row,
    }


def _indexed(path: IndexPath, field: IndexField) -> dict[str, Any]:
    """One path of an index, or a function of one with the type of its result."""
    if path.function is not None:
        _, _, arguments = field.path.partition("#")
        kind = path.type.kind
        return {"function": path.function.name, "arguments": arguments, "type": _type_name(kind)}
    if field.type is None:
        return {"path": field.path}
    return {"path": field.path, "type": _type_name(field.type)}


def _type_name(kind: Kind) -> str:
    return _TYPE_NAMES.get(kind, kind.value.capitalize())
