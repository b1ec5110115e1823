"""Tables of typed fields in a directory of your own: Oracle NoSQL's table model as a library.

from widerow import nosql

builder = nosql.TableBuilder("users")
builder.add_field("id", nosql.INTEGER).add_field("name", nosql.STRING).primary_key("id")
"""

from widerow.engine.partitions.rules import Thresholds
from widerow.engine.typed.execute import OperationFailed
from widerow.engine.typed.index_scan import IndexKey
from widerow.engine.typed.stored import Key
from widerow.engine.typed.stored import StoredRow as Row
from widerow.engine.typed.write import WriteResult
from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound, WiderowError
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.index_paths import EMPTY
from widerow.model.typed.requests import Direction, FieldRange, ReturnRow, Version
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
from widerow.nosql.operation import Operation
from widerow.nosql.store import TypedStore, open  # noqa: A004  # read as nosql.open
from widerow.nosql.table import TableHandle

__all__ = [
    "BINARY",
    "BOOLEAN",
    "DOUBLE",
    "EMPTY",
    "FLOAT",
    "INTEGER",
    "JSON",
    "JSON_NULL",
    "LONG",
    "NUMBER",
    "STRING",
    "UUID",
    "Conflict",
    "Direction",
    "Exhausted",
    "Field",
    "FieldRange",
    "FieldType",
    "Identity",
    "IdentityMode",
    "Index",
    "IndexField",
    "IndexKey",
    "InvalidRequest",
    "Key",
    "Kind",
    "NotFound",
    "Operation",
    "OperationFailed",
    "ReturnRow",
    "Row",
    "TableBuilder",
    "TableEvolver",
    "TableHandle",
    "Thresholds",
    "TimeToLive",
    "Timestamp",
    "TtlUnit",
    "TypedRule",
    "TypedStore",
    "TypedTable",
    "Version",
    "WiderowError",
    "WriteResult",
    "array_of",
    "enum_of",
    "fixed_binary",
    "map_of",
    "open",
    "record_of",
    "timestamp",
    "value_from_text",
]
