"""Definition statements as values: what was written, with nothing looked up (ddl §1).

Types, identities and index paths are already checked as far as they can be by themselves. Where a
statement gives a position (line from 1, column from 0), it is for messages and not compared.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from widerow.model.typed.table import IndexField, TimeToLive
from widerow.model.typed.types import FieldType, Identity

__all__ = [
    "AddField",
    "AlterTableStatement",
    "Alteration",
    "ColumnDefinition",
    "CreateIndexStatement",
    "CreateNamespaceStatement",
    "CreateTableStatement",
    "DescribeIndexStatement",
    "DescribeTableStatement",
    "DropField",
    "DropIdentity",
    "DropIndexStatement",
    "DropNamespaceStatement",
    "DropTableStatement",
    "FreezeSchema",
    "KeyColumnClause",
    "Literal",
    "LiteralKind",
    "ModifyField",
    "Position",
    "PrimaryKeyClause",
    "SetBeforeImage",
    "SetTtl",
    "ShowIndexesStatement",
    "ShowNamespacesStatement",
    "ShowTableStatement",
    "ShowTablesStatement",
    "Statement",
    "UnfreezeSchema",
]


class Position(NamedTuple):
    """Where something begins: line from 1, column from 0."""

    line: int = 1
    column: int = 0


class LiteralKind(Enum):
    """How a default value was written."""

    NUMBER = "NUMBER"
    STRING = "STRING"
    BOOLEAN = "BOOLEAN"
    NAME = "NAME"


class Literal(NamedTuple):
    """A default value: its text without quotes, escapes resolved."""

    kind: LiteralKind
    text: str


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of CREATE TABLE, or the field that ALTER TABLE adds under a path."""

    name: str
    type: FieldType
    nullable: bool = True
    default: Literal | None = None
    identity: Identity | None = None
    uuid_generated: bool = False
    comment: str | None = None
    position: Position = field(default=Position(), compare=False)


class KeyColumnClause(NamedTuple):
    """A column of the primary key; `size` in bytes where it is constrained."""

    name: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class PrimaryKeyClause:
    """The PRIMARY KEY clause; `shard` columns come first, None where SHARD was not written."""

    columns: tuple[KeyColumnClause, ...]
    shard: tuple[KeyColumnClause, ...] | None = None
    position: Position = field(default=Position(), compare=False)


@dataclass(frozen=True, slots=True)
class CreateTableStatement:
    """CREATE TABLE. `keys`: every PRIMARY KEY clause that was written; `position`: of the name.

    `before_image`: how long images of changed rows are kept; None: there are none.
    """

    name: str
    columns: tuple[ColumnDefinition, ...]
    keys: tuple[PrimaryKeyClause, ...]
    if_not_exists: bool = False
    comment: str | None = None
    ttl: TimeToLive | None = None
    collection: bool = False
    freeze: "FreezeSchema | None" = None
    before_image: TimeToLive | None = None
    position: Position = field(default=Position(), compare=False)


@dataclass(frozen=True, slots=True)
class AddField:
    """ADD of ALTER TABLE; the column's name may be a path."""

    column: ColumnDefinition


@dataclass(frozen=True, slots=True)
class DropField:
    """DROP of ALTER TABLE."""

    path: str
    position: Position = field(default=Position(), compare=False)


@dataclass(frozen=True, slots=True)
class ModifyField:
    """MODIFY of ALTER TABLE: a generator of values for a column; `type` where one was written.

    `position`: of the path; `begins`: of the word MODIFY.
    """

    path: str
    type: FieldType | None = None
    identity: Identity | None = None
    uuid_generated: bool = False
    position: Position = field(default=Position(), compare=False)
    begins: Position = field(default=Position(), compare=False)


@dataclass(frozen=True, slots=True)
class DropIdentity:
    """MODIFY … DROP IDENTITY of ALTER TABLE."""

    path: str
    position: Position = field(default=Position(), compare=False)


@dataclass(frozen=True, slots=True)
class SetTtl:
    """USING TTL of ALTER TABLE."""

    ttl: TimeToLive


@dataclass(frozen=True, slots=True)
class FreezeSchema:
    """FREEZE SCHEMA of ALTER TABLE; `force`: also without a JSON column."""

    force: bool = False


@dataclass(frozen=True, slots=True)
class UnfreezeSchema:
    """UNFREEZE SCHEMA of ALTER TABLE."""


@dataclass(frozen=True, slots=True)
class SetBeforeImage:
    """ENABLE BEFORE IMAGE of ALTER TABLE; without a `ttl` DISABLE BEFORE IMAGE."""

    ttl: TimeToLive | None


Alteration = (
    AddField
    | DropField
    | ModifyField
    | DropIdentity
    | SetTtl
    | FreezeSchema
    | UnfreezeSchema
    | SetBeforeImage
)


@dataclass(frozen=True, slots=True)
class AlterTableStatement:
    """ALTER TABLE; the changes happen together or not at all."""

    name: str
    changes: tuple[Alteration, ...]


@dataclass(frozen=True, slots=True)
class DropTableStatement:
    """DROP TABLE."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateIndexStatement:
    """CREATE INDEX. Paths are as written; whether they exist is asked of the table."""

    name: str
    table: str
    fields: tuple[IndexField, ...]
    if_not_exists: bool = False
    with_nulls: bool = True
    unique_keys_per_row: bool = False
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class DropIndexStatement:
    """DROP INDEX."""

    name: str
    table: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateNamespaceStatement:
    """CREATE NAMESPACE."""

    name: str
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropNamespaceStatement:
    """DROP NAMESPACE; `cascade`: with its tables."""

    name: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class ShowTablesStatement:
    """SHOW TABLES."""

    as_json: bool = False


@dataclass(frozen=True, slots=True)
class ShowTableStatement:
    """SHOW TABLE: a table, its ancestors and its children."""

    name: str
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class ShowIndexesStatement:
    """SHOW INDEXES ON."""

    table: str
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class ShowNamespacesStatement:
    """SHOW NAMESPACES."""

    as_json: bool = False


@dataclass(frozen=True, slots=True)
class DescribeTableStatement:
    """DESCRIBE TABLE; `fields`: only those, all when empty."""

    name: str
    fields: tuple[str, ...] = ()
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class DescribeIndexStatement:
    """DESCRIBE INDEX."""

    name: str
    table: str
    as_json: bool = False


Statement = (
    CreateTableStatement
    | AlterTableStatement
    | DropTableStatement
    | CreateIndexStatement
    | DropIndexStatement
    | CreateNamespaceStatement
    | DropNamespaceStatement
    | ShowTablesStatement
    | ShowTableStatement
    | ShowIndexesStatement
    | ShowNamespacesStatement
    | DescribeTableStatement
    | DescribeIndexStatement
)
