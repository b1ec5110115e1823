"""Tables of typed fields in a directory of your own: Oracle NoSQL's table model as a library.

from widerow import nosql

builder = nosql.TableBuilder("users")
builder.add_field("id", nosql.INTEGER).add_field("name", nosql.STRING).primary_key("id")
"""

from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound, WiderowError
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index, IndexField, TimeToLive, TtlUnit, TypedTable
from widerow.model.typed.texts import value_from_text
from widerow.model.typed.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    JSON,
    LONG,
    NUMBER,
    STRING,
    UUID,
    Field,
    FieldType,
    Identity,
    IdentityMode,
    Kind,
    array_of,
    enum_of,
    fixed_binary,
    map_of,
    record_of,
    timestamp,
)
from widerow.model.typed.values import JSON_NULL, Timestamp

__all__ = [
    "BINARY",
    "BOOLEAN",
    "DOUBLE",
    "FLOAT",
    "INTEGER",
    "JSON",
    "JSON_NULL",
    "LONG",
    "NUMBER",
    "STRING",
    "UUID",
    "Conflict",
    "Exhausted",
    "Field",
    "FieldType",
    "Identity",
    "IdentityMode",
    "Index",
    "IndexField",
    "InvalidRequest",
    "Kind",
    "NotFound",
    "TableBuilder",
    "TableEvolver",
    "TimeToLive",
    "Timestamp",
    "TtlUnit",
    "TypedRule",
    "TypedTable",
    "WiderowError",
    "array_of",
    "enum_of",
    "fixed_binary",
    "map_of",
    "record_of",
    "timestamp",
    "value_from_text",
]
