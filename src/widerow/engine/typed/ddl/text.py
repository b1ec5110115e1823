"""Statements and definitions of tables written as text, which `parse` reads (ddl §1).

`parse(statement_text(statement)) == statement` for every statement.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from widerow.engine.typed.ddl.lexis import quoted
from widerow.engine.typed.ddl.statements import (
    AddField,
    Alteration,
    AlterTableStatement,
    ColumnDefinition,
    CreateIndexStatement,
    CreateNamespaceStatement,
    CreateTableStatement,
    DescribeIndexStatement,
    DescribeTableStatement,
    DropField,
    DropIdentity,
    DropIndexStatement,
    DropNamespaceStatement,
    DropTableStatement,
    FreezeSchema,
    KeyColumnClause,
    Literal,
    LiteralKind,
    ModifyField,
    PrimaryKeyClause,
    SetBeforeImage,
    SetTtl,
    ShowIndexesStatement,
    ShowNamespacesStatement,
    ShowTablesStatement,
    ShowTableStatement,
    Statement,
    UnfreezeSchema,
)
from widerow.model.typed.index_functions import parted
from widerow.model.typed.names import same_name
from widerow.model.typed.table import IndexField, TimeToLive, TypedTable
from widerow.model.typed.types import Field, FieldType, Identity, Kind
from widerow.model.typed.values import Timestamp, TypedValue

__all__ = ["declared_column", "definition_text", "statement_text", "type_text"]


def statement_text(statement: Statement) -> str:
    """The text of a statement, on one line."""
    return _WRITE[type(statement)](statement)


def definition_text(table: TypedTable) -> str:
    """The CREATE TABLE statement of a table, with IF NOT EXISTS and an explicit SHARD.

    The statement of a child table has its own columns and its own part of the key. That a schema is
    frozen is not told, as the vendor does not tell it.
    """
    own = table.shown_fields[table.parent_key_length :]
    own_key = table.primary_key[table.parent_key_length :]
    sizes = table.key_sizes[table.parent_key_length :] or (0,) * len(own_key)
    key = tuple(
        KeyColumnClause(name, size or None) for name, size in zip(own_key, sizes, strict=True)
    )
    shard = None if table.parent else key[: len(table.shard_key)]
    return statement_text(
        CreateTableStatement(
            name=table.qualified,
            columns=tuple(declared_column(field, own_key) for field in own),
            keys=(PrimaryKeyClause(key, shard),),
            if_not_exists=True,
            comment=table.comment,
            ttl=_whole_days(table.ttl),
            collection=table.collection,
            before_image=table.before_image,
        )
    )


def _whole_days(ttl: TimeToLive | None) -> TimeToLive | None:
    """A default time to live; none at all, once there was one, is told in days."""
    return ttl if ttl is None or ttl.value else TimeToLive.days(0)


def type_text(kind: FieldType) -> str:
    """A type as it is written in CREATE TABLE."""
    write = _TYPES.get(kind.kind)
    return kind.kind.value if write is None else write(kind)


# --- types and values ----------------------------------------------------------------------------


def _record(kind: FieldType) -> str:
    return f"RECORD({', '.join(map(_record_field, kind.fields))})"


def _record_field(field: Field) -> str:
    default = None if field.default is None else _literal_of(field.default, field.type)
    return " ".join(
        [
            f"{field.name} {type_text(field.type)}",
            *_defaults(default, nullable=field.nullable),
            *_comment(field.comment),
        ]
    )


_TYPES: Final[Mapping[Kind, Callable[[FieldType], str]]] = {
    Kind.ENUM: lambda kind: f"ENUM({', '.join(kind.symbols)})",
    Kind.TIMESTAMP: lambda kind: f"TIMESTAMP({kind.precision})",
    Kind.FIXED_BINARY: lambda kind: f"BINARY({kind.size})",
    Kind.ARRAY: lambda kind: f"ARRAY({type_text(_element(kind))})",
    Kind.MAP: lambda kind: f"MAP({type_text(_element(kind))})",
    Kind.RECORD: _record,
}


def _element(kind: FieldType) -> FieldType:
    assert kind.element is not None
    return kind.element


def _literal_of(value: TypedValue, kind: FieldType) -> Literal:
    """A value of a type as a literal."""
    if isinstance(value, bool):
        return Literal(LiteralKind.BOOLEAN, str(value).lower())
    if isinstance(value, bytes):
        return Literal(LiteralKind.STRING, b64encode(value).decode())
    if isinstance(value, Timestamp):
        return Literal(LiteralKind.STRING, value.text(kind.precision))
    if isinstance(value, str):
        bare = kind.kind is Kind.ENUM
        return Literal(LiteralKind.NAME if bare else LiteralKind.STRING, value)
    return Literal(LiteralKind.NUMBER, str(value))


def _literal(literal: Literal) -> str:
    return quoted(literal.text) if literal.kind is LiteralKind.STRING else literal.text


def _defaults(default: Literal | None, *, nullable: bool) -> Iterator[str]:
    if not nullable:
        yield "NOT NULL"
    if default is not None:
        yield f"DEFAULT {_literal(default)}"


def _comment(text: str | None) -> Iterator[str]:
    if text is not None:
        yield f"COMMENT {quoted(text)}"


# --- columns -------------------------------------------------------------------------------------


def declared_column(field: Field, key: tuple[str, ...] = ()) -> ColumnDefinition:
    """A column as statements declare it; `key`: the names of its table's own key columns."""
    in_key = any(same_name(field.name, name) for name in key)
    return ColumnDefinition(
        name=field.name,
        type=field.type,
        nullable=field.nullable or in_key,
        default=None if field.default is None else _literal_of(field.default, field.type),
        identity=field.identity,
        uuid_generated=field.uuid_generated,
        comment=field.comment,
    )


def _column(column: ColumnDefinition) -> str:
    parts = [f"{column.name} {type_text(column.type)}"]
    if column.identity is not None:
        parts.append(_identity(column.identity, column.type))
    elif column.type.uuid:
        parts.append("AS UUID GENERATED BY DEFAULT" if column.uuid_generated else "AS UUID")
    else:
        parts.extend(_defaults(column.default, nullable=column.nullable))
    parts.extend(_comment(column.comment))
    return " ".join(parts)


_OPTIONS: Final = (
    ("start", "START WITH"),
    ("increment", "INCREMENT BY"),
    ("maximum", "MAXVALUE"),
    ("minimum", "MINVALUE"),
    ("cache", "CACHE"),
)


_WIDEST: Final = (-(2**63), 2**63 - 1)


def _identity(identity: Identity, kind: FieldType | None) -> str:
    """A sequence with all that it was given or has by itself; a NUMBER has no bounds by itself."""
    unsaid = {None} if kind is None or kind.kind is not Kind.NUMBER else {None, *_WIDEST}
    options = [
        f"{words} {getattr(identity, name)}"
        for name, words in _OPTIONS
        if getattr(identity, name) not in unsaid
    ]
    if identity.cycle:
        options.append("CYCLE")
    return f"{identity.mode.value} AS IDENTITY ( {' '.join(options)})"


def _key(key: PrimaryKeyClause) -> str:
    shard = key.shard or ()
    parts = [] if key.shard is None else [f"SHARD({', '.join(map(_key_column, shard))})"]
    parts += map(_key_column, key.columns[len(shard) :])
    return f"PRIMARY KEY({', '.join(parts)})"


def _key_column(column: KeyColumnClause) -> str:
    return column.name if column.size is None else f"{column.name}({column.size})"


# --- statements ----------------------------------------------------------------------------------


def _create_table(statement: CreateTableStatement) -> str:
    items = [*map(_column, statement.columns), *map(_key, statement.keys)]
    parts = ["CREATE TABLE", *_flag("IF NOT EXISTS", statement.if_not_exists), statement.name]
    parts += [*_comment(statement.comment), f"({', '.join(items)})"]
    if statement.ttl is not None:
        parts.append(f"USING TTL {statement.ttl.text()}")
    parts += _flag("AS JSON COLLECTION", statement.collection)
    if statement.freeze is not None:
        parts += ["WITH SCHEMA FROZEN", *_flag("FORCE", statement.freeze.force)]
    if statement.before_image is not None:
        parts.append(_before_image(SetBeforeImage(statement.before_image)))
    return " ".join(parts)


def _before_image(change: SetBeforeImage) -> str:
    if change.ttl is None:
        return "DISABLE BEFORE IMAGE"
    return f"ENABLE BEFORE IMAGE USING TTL {change.ttl.text()}"


_ALONE: Final = (SetTtl, FreezeSchema, UnfreezeSchema, SetBeforeImage)


def _alter_table(statement: AlterTableStatement) -> str:
    changes = ", ".join(_CHANGES[type(change)](change) for change in statement.changes)
    if isinstance(statement.changes[0], _ALONE):
        return f"ALTER TABLE {statement.name} {changes}"
    return f"ALTER TABLE {statement.name} ({changes})"


def _modify(change: ModifyField) -> str:
    parts = [f"MODIFY {change.path}"]
    if change.type is not None:
        parts.append(type_text(change.type))
    if change.identity is not None:
        parts.append(_identity(change.identity, None))
    elif change.uuid_generated:
        parts.append("AS UUID GENERATED BY DEFAULT")
    elif change.type is None or change.type.uuid:
        parts.append("AS UUID")
    return " ".join(parts)


_CHANGES: Final[Mapping[type[Alteration], Callable[[Any], str]]] = {
    AddField: lambda change: f"ADD {_column(change.column)}",
    DropField: lambda change: f"DROP {change.path}",
    ModifyField: _modify,
    DropIdentity: lambda change: f"MODIFY {change.path} DROP IDENTITY",
    SetTtl: lambda change: f"USING TTL {change.ttl.text()}",
    FreezeSchema: lambda change: _words("FREEZE SCHEMA", _flag("FORCE", change.force)),
    UnfreezeSchema: lambda _: "UNFREEZE SCHEMA",
    SetBeforeImage: _before_image,
}


def _create_index(statement: CreateIndexStatement) -> str:
    paths = ", ".join(map(_index_field, statement.fields))
    parts = ["CREATE INDEX", *_flag("IF NOT EXISTS", statement.if_not_exists), statement.name]
    parts += ["ON", statement.table, f"({paths})"]
    parts += _flag("WITH NO NULLS", not statement.with_nulls)
    parts += _flag("WITH UNIQUE KEYS PER ROW", statement.unique_keys_per_row)
    return " ".join([*parts, *_comment(statement.comment)])


def _index_field(field: IndexField) -> str:
    function, path = parted(field.path)
    typed = path if field.type is None else f"{path} AS {field.type.value}"
    if function is None:
        return typed
    constants = [
        quoted(each) if isinstance(each, str) else str(each) for each in function.constants
    ]
    return f"{function.name}({', '.join([*([typed] if typed else []), *constants])})"


def _flag(words: str, given: bool) -> list[str]:  # noqa: FBT001  # whether it is written
    return [words] if given else []


def _words(*parts: str | list[str]) -> str:
    flat = [[part] if isinstance(part, str) else part for part in parts]
    return " ".join(word for words in flat for word in words)


def _describe_table(statement: DescribeTableStatement) -> str:
    fields = f" ({', '.join(statement.fields)})" if statement.fields else ""
    as_json = _flag("AS JSON", statement.as_json)
    return _words("DESCRIBE", as_json, "TABLE", statement.name + fields)


_WRITE: Final[Mapping[type[Statement], Callable[[Any], str]]] = {
    CreateTableStatement: _create_table,
    AlterTableStatement: _alter_table,
    DropTableStatement: lambda it: _words("DROP TABLE", _flag("IF EXISTS", it.if_exists), it.name),
    CreateIndexStatement: _create_index,
    DropIndexStatement: lambda it: _words(
        "DROP INDEX", _flag("IF EXISTS", it.if_exists), it.name, "ON", it.table
    ),
    CreateNamespaceStatement: lambda it: _words(
        "CREATE NAMESPACE", _flag("IF NOT EXISTS", it.if_not_exists), it.name
    ),
    DropNamespaceStatement: lambda it: _words(
        *("DROP NAMESPACE", _flag("IF EXISTS", it.if_exists), it.name),
        _flag("CASCADE", it.cascade),
    ),
    ShowTablesStatement: lambda it: _words("SHOW", _flag("AS JSON", it.as_json), "TABLES"),
    ShowTableStatement: lambda it: _words("SHOW", _flag("AS JSON", it.as_json), "TABLE", it.name),
    ShowIndexesStatement: lambda it: _words(
        "SHOW", _flag("AS JSON", it.as_json), "INDEXES ON", it.table
    ),
    ShowNamespacesStatement: lambda it: _words("SHOW", _flag("AS JSON", it.as_json), "NAMESPACES"),
    DescribeTableStatement: _describe_table,
    DescribeIndexStatement: lambda it: _words(
        "DESCRIBE", _flag("AS JSON", it.as_json), "INDEX", it.name, "ON", it.table
    ),
}
