"""Values from the parts of a statement: one method for each rule of grammar.lark.

lark calls a method when its rule ends, so inner rules come first. The method gets the values of the
rule's parts: a keyword is a token, an optional part that is absent is None.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar, cast

from lark import Token, Transformer

from widerow.engine.typed.ddl.faults import ModelError, failed_at
from widerow.engine.typed.ddl.lexis import unquoted, word_position
from widerow.engine.typed.ddl.literals import value_of
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
    Position,
    PrimaryKeyClause,
    SetBeforeImage,
    SetTtl,
    ShowIndexesStatement,
    ShowNamespacesStatement,
    ShowTablesStatement,
    ShowTableStatement,
    UnfreezeSchema,
)
from widerow.errors import InvalidRequest, Unsupported
from widerow.limits import DDL_LIST_MAX
from widerow.model.typed.index_functions import joined_path
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import IndexField, TimeToLive
from widerow.model.typed.types import (
    BINARY,
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

__all__ = ["StatementBuilder"]

T = TypeVar("T")
Parts = list[Any]


class _Name(NamedTuple):
    """A name or path as written, and where."""

    text: str
    position: Position


class _Modifier(NamedTuple):
    """The clauses behind a column's type: default, NOT NULL, generator."""

    nullable: bool = True
    default: Literal | None = None
    identity: Identity | None = None
    uuid: bool = False
    uuid_generated: bool = False


class _Shard(tuple[KeyColumnClause, ...]):
    """The columns in SHARD(…)."""

    __slots__ = ()


class _Collection(NamedTuple):
    """AS JSON COLLECTION."""


class _Comment(NamedTuple):
    """A COMMENT clause."""

    text: str


class _BeforeImage(NamedTuple):
    """ENABLE BEFORE IMAGE."""

    ttl: TimeToLive


_BEFORE_IMAGE: Final = TimeToLive.hours(24)  # how long images are kept that say nothing of it
_MEMBERS_OF: Final = {"keyof": ".keys()", "elementof": ".values()"}


def _constant(literal: Literal) -> str | int:
    number = literal.kind is LiteralKind.NUMBER and literal.text.lstrip("-").isdigit()
    return int(literal.text) if number else literal.text


_INDEX_TYPES: Final = {
    **{kind.value: kind for kind in (Kind.INTEGER, Kind.LONG, Kind.DOUBLE, Kind.NUMBER)},
    **{kind.value: kind for kind in (Kind.STRING, Kind.BOOLEAN, Kind.ANY_ATOMIC)},
}
_INDEX_TYPES_REFUSED: Final = frozenset(("POINT", "GEOMETRY"))
_TTL_UNITS: Final = frozenset(("HOURS", "HOUR", "H", "DAYS", "DAY", "D"))


class StatementBuilder(Transformer[Token, Any]):
    """Makes the values; each method has the name of its rule."""

    # --- words -------------------------------------------------------------------------------

    def identifier(self, parts: Parts) -> _Name:
        """A name."""
        return _Name(str(parts[0]), word_position(parts[0]))

    key_name = identifier
    plain_name = identifier

    def dotted(self, parts: Parts) -> _Name:
        """`a.b.c`."""
        return _Name(".".join(name.text for name in parts), parts[0].position)

    def name(self, parts: Parts) -> _Name:
        """`[namespace:]a.b`."""
        first, second = parts
        if second is None:
            return cast("_Name", first)
        return _Name(f"{first.text}:{second.text}", first.position)

    def path(self, parts: Parts) -> _Name:
        """A column, or steps into it."""
        return _Name(parts[0].text + "".join(parts[1:]), parts[0].position)

    def named(self, parts: Parts) -> str:
        """A step to a field."""
        return f".{parts[0].text}"

    def elements(self, _: Parts) -> str:
        """A step to the elements of an array."""
        return "[]"

    def map_values(self, _: Parts) -> str:
        """A step to the values of a map."""
        return ".values()"

    def map_keys(self, _: Parts) -> str:
        """A step to the keys of a map."""
        return ".keys()"

    def size(self, parts: Parts) -> int:
        """A number without a sign."""
        return _integer(str(parts[0]), word_position(parts[0]))

    def integer(self, parts: Parts) -> int:
        """A number with or without a sign."""
        number = _integer(str(parts[-1]), word_position(parts[-1]))
        return number if parts[0] is None else -number

    def comment(self, parts: Parts) -> _Comment:
        """COMMENT and a text."""
        return _Comment(unquoted(str(parts[1]), word_position(parts[1])))

    def _flag(self, _: Parts) -> bool:
        return True

    if_not_exists = if_exists = as_json = cascade = not_null = uuid_generated = minus = _flag
    unique_keys = force = _flag

    def with_nulls(self, _: Parts) -> bool:
        """WITH NULLS."""
        return True

    def without_nulls(self, _: Parts) -> bool:
        """WITH NO NULLS."""
        return False

    # --- literals ----------------------------------------------------------------------------

    def signed(self, parts: Parts) -> str:
        """A number as written, its sign in front."""
        text = str(parts[-1]).removesuffix("n")
        return text if parts[0] is None else f"-{text}"

    def number(self, parts: Parts) -> Literal:
        """A number."""
        return Literal(LiteralKind.NUMBER, parts[0])

    def text(self, parts: Parts) -> Literal:
        """A quoted text."""
        return Literal(LiteralKind.STRING, unquoted(str(parts[0]), word_position(parts[0])))

    def true(self, _: Parts) -> Literal:
        """TRUE."""
        return Literal(LiteralKind.BOOLEAN, "true")

    def false(self, _: Parts) -> Literal:
        """FALSE."""
        return Literal(LiteralKind.BOOLEAN, "false")

    def bare(self, parts: Parts) -> Literal:
        """A name, such as a symbol of an enumeration."""
        return Literal(LiteralKind.NAME, parts[0].text)

    # --- types -------------------------------------------------------------------------------

    def simple_type(self, parts: Parts) -> FieldType:
        """A type that is one word."""
        return FieldType(Kind(str(parts[0]).upper()))

    def binary(self, parts: Parts) -> FieldType:
        """BINARY or BINARY(n)."""
        if parts[1] is None:
            return BINARY
        return _at(word_position(parts[0]), lambda: fixed_binary(parts[1]))

    def timestamp(self, parts: Parts) -> FieldType:
        """TIMESTAMP(p)."""
        position = word_position(parts[0])
        if parts[1] is None:
            raise failed_at(position, InvalidRequest(TypedRule.DDL_TIMESTAMP))
        return _at(position, lambda: timestamp(parts[1]))

    def enum(self, parts: Parts) -> FieldType:
        """ENUM(a, b)."""
        symbols = [name.text for name in parts[1:]]
        try:
            return enum_of(symbols)
        except InvalidRequest as error:
            shown = f"{parts[0]}({','.join(symbols)})"[:200]
            told = InvalidRequest(TypedRule.DDL_ENUM, type=shown, text=str(error))
            raise failed_at(word_position(parts[0]), told) from error

    def array(self, parts: Parts) -> FieldType:
        """ARRAY(type)."""
        return _at(word_position(parts[0]), lambda: array_of(parts[1]))

    def map(self, parts: Parts) -> FieldType:
        """MAP(type)."""
        return _at(word_position(parts[0]), lambda: map_of(parts[1]))

    def record(self, parts: Parts) -> FieldType:
        """RECORD(a type, …)."""
        position = word_position(parts[0])
        _bounded(parts, position)
        return _at(position, lambda: record_of(*parts[1:]))

    def record_field(self, parts: Parts) -> Field:
        """A field of a record, its default in the type's form."""
        name, type_, modifier, comment = parts
        modifier = modifier or _Modifier()
        default = _at(name.position, lambda: value_of(modifier.default, type_, name.text))
        if not modifier.nullable and default is None:
            raise failed_at(
                name.position,
                InvalidRequest(TypedRule.NOT_NULL_WITHOUT_DEFAULT, field=name.text),
            )
        text = None if comment is None else comment.text
        return Field(name.text, type_, modifier.nullable, default, text)

    # --- columns -----------------------------------------------------------------------------

    def column(self, parts: Parts) -> ColumnDefinition:
        """A column of CREATE TABLE with its type and clauses."""
        name, type_, modifier, comment = parts
        modifier = modifier or _Modifier()
        if modifier.uuid:
            if type_.kind is not Kind.STRING:
                raise failed_at(name.position, InvalidRequest(TypedRule.UUID_TYPE))
            type_ = replace(type_, uuid=True)
        return ColumnDefinition(
            name=name.text,
            type=type_,
            nullable=modifier.nullable,
            default=modifier.default,
            identity=modifier.identity,
            uuid_generated=modifier.uuid_generated,
            comment=None if comment is None else comment.text,
            position=name.position,
        )

    def default(self, parts: Parts) -> Literal:
        """DEFAULT and a literal."""
        return cast("Literal", parts[1])

    def default_first(self, parts: Parts) -> _Modifier:
        """DEFAULT x [NOT NULL]."""
        return _Modifier(nullable=parts[1] is None, default=parts[0])

    def not_null_first(self, parts: Parts) -> _Modifier:
        """NOT NULL [DEFAULT x]."""
        return _Modifier(nullable=False, default=parts[1])

    def uuid(self, parts: Parts) -> _Modifier:
        """AS UUID [GENERATED BY DEFAULT]."""
        return _Modifier(uuid=True, uuid_generated=parts[2] is not None)

    def identity(self, parts: Parts) -> _Modifier:
        """GENERATED … AS IDENTITY (…)."""
        mode = parts[1]
        values: dict[str, Any] = {}
        for name, value in (option for option in parts[4:] if option is not None):
            if name in values:
                told = InvalidRequest(TypedRule.DDL_REPEATED, what=f"The sequence's {name}")
                raise failed_at(word_position(parts[0]), told)
            values[name] = value
        given = {name: value for name, value in values.items() if value is not None}
        return _Modifier(identity=Identity(mode=mode, **given))

    def always(self, _: Parts) -> IdentityMode:
        """GENERATED ALWAYS."""
        return IdentityMode.ALWAYS

    def by_default(self, _: Parts) -> IdentityMode:
        """GENERATED BY DEFAULT."""
        return IdentityMode.BY_DEFAULT

    def by_default_on_null(self, _: Parts) -> IdentityMode:
        """GENERATED BY DEFAULT ON NULL."""
        return IdentityMode.BY_DEFAULT_ON_NULL

    def start(self, parts: Parts) -> tuple[str, int]:
        """START WITH."""
        return "start", parts[-1]

    def increment(self, parts: Parts) -> tuple[str, int]:
        """INCREMENT BY."""
        return "increment", parts[-1]

    def maximum(self, parts: Parts) -> tuple[str, int]:
        """MAXVALUE."""
        return "maximum", parts[-1]

    def no_maximum(self, _: Parts) -> tuple[str, None]:
        """NO MAXVALUE."""
        return "maximum", None

    def minimum(self, parts: Parts) -> tuple[str, int]:
        """MINVALUE."""
        return "minimum", parts[-1]

    def no_minimum(self, _: Parts) -> tuple[str, None]:
        """NO MINVALUE."""
        return "minimum", None

    def cache(self, parts: Parts) -> tuple[str, int]:
        """CACHE."""
        return "cache", parts[-1]

    def no_cache(self, _: Parts) -> tuple[str, int]:
        """NO CACHE: every value is made durable by itself."""
        return "cache", 1

    def cycle(self, _: Parts) -> tuple[str, bool]:
        """CYCLE."""
        return "cycle", True

    def no_cycle(self, _: Parts) -> tuple[str, bool]:
        """NO CYCLE."""
        return "cycle", False

    # --- tables ------------------------------------------------------------------------------

    def key_column(self, parts: Parts) -> KeyColumnClause:
        """A column of the primary key."""
        return KeyColumnClause(parts[0].text, parts[1])

    def shard(self, parts: Parts) -> _Shard:
        """SHARD(…)."""
        return _Shard(parts[1:])

    def primary_key(self, parts: Parts) -> PrimaryKeyClause:
        """PRIMARY KEY(…)."""
        position = word_position(parts[0])
        _bounded(parts, position)
        columns = [part for part in parts[2:] if isinstance(part, KeyColumnClause)]
        shard = parts[2] if isinstance(parts[2], _Shard) else None
        return PrimaryKeyClause(
            columns=(*(shard or ()), *columns),
            shard=None if shard is None else tuple(shard),
            position=position,
        )

    def ttl(self, parts: Parts) -> TimeToLive:
        """USING TTL n unit."""
        _, _, value, unit = parts
        text = f"{value} {unit.text}"
        if unit.text.upper() not in _TTL_UNITS:
            told = InvalidRequest(TypedRule.TTL_UNIT, unit=unit.text.upper()[:50], text=text[:100])
            raise failed_at(word_position(parts[0]), told)
        return _at(word_position(parts[0]), lambda: TimeToLive.parse(text))

    def create_table(self, parts: Parts) -> CreateTableStatement:
        """CREATE TABLE."""
        _, _, if_not_exists, name, comment, *items = parts
        _bounded(items, name.position)
        for kind, what in _ONCE.items():
            if sum(isinstance(each, kind) for each in items) > 1:
                raise failed_at(name.position, InvalidRequest(TypedRule.DDL_REPEATED, what=what))
        image = _option(items, _BeforeImage)
        return CreateTableStatement(
            name=name.text,
            columns=tuple(each for each in items if isinstance(each, ColumnDefinition)),
            keys=tuple(each for each in items if isinstance(each, PrimaryKeyClause)),
            if_not_exists=if_not_exists is not None,
            comment=None if comment is None else comment.text,
            ttl=_option(items, TimeToLive),
            collection=_option(items, _Collection) is not None,
            freeze=_option(items, FreezeSchema),
            before_image=None if image is None else image.ttl,
            position=name.position,
        )

    def collection(self, _: Parts) -> _Collection:
        """AS JSON COLLECTION."""
        return _Collection()

    def freeze(self, parts: Parts) -> FreezeSchema:
        """FREEZE SCHEMA, or WITH SCHEMA FROZEN."""
        return FreezeSchema(force=parts[-1] is not None)

    frozen = freeze

    def unfreeze(self, _: Parts) -> UnfreezeSchema:
        """UNFREEZE SCHEMA."""
        return UnfreezeSchema()

    def before_image(self, parts: Parts) -> _BeforeImage:
        """ENABLE BEFORE IMAGE, with the time that images are kept."""
        return _BeforeImage(_BEFORE_IMAGE if parts[-1] is None else parts[-1])

    def set_before_image(self, parts: Parts) -> SetBeforeImage:
        """ENABLE BEFORE IMAGE by itself."""
        return SetBeforeImage(parts[0].ttl)

    def no_before_image(self, _: Parts) -> SetBeforeImage:
        """DISABLE BEFORE IMAGE."""
        return SetBeforeImage(None)

    def drop_table(self, parts: Parts) -> DropTableStatement:
        """DROP TABLE."""
        return DropTableStatement(parts[3].text, if_exists=parts[2] is not None)

    def alter_table(self, parts: Parts) -> AlterTableStatement:
        """ALTER TABLE."""
        _, _, name, *changes = parts
        _bounded(changes, name.position)
        return AlterTableStatement(name.text, tuple(cast("Sequence[Alteration]", changes)))

    def set_ttl(self, parts: Parts) -> SetTtl:
        """USING TTL by itself."""
        return SetTtl(parts[0])

    def add_field(self, parts: Parts) -> AddField:
        """ADD path type …."""
        return AddField(self.column(parts[1:]))

    def drop_field(self, parts: Parts) -> DropField:
        """DROP path."""
        return DropField(parts[1].text, parts[1].position)

    def modify_field(self, parts: Parts) -> ModifyField:
        """MODIFY path and a generator."""
        word, path, modifier = parts
        return ModifyField(
            path=path.text,
            identity=modifier.identity,
            uuid_generated=modifier.uuid_generated,
            position=path.position,
            begins=word_position(word),
        )

    def modify_type(self, parts: Parts) -> ModifyField:
        """MODIFY path type …, which only serves to name the type of a generated UUID."""
        column = self.column(parts[1:])
        return ModifyField(
            path=column.name,
            type=column.type,
            identity=column.identity,
            uuid_generated=column.uuid_generated,
            position=column.position,
            begins=word_position(parts[0]),
        )

    def drop_identity(self, parts: Parts) -> DropIdentity:
        """MODIFY path DROP IDENTITY."""
        return DropIdentity(parts[1].text, parts[1].position)

    # --- indexes and namespaces --------------------------------------------------------------

    def index_field(self, parts: Parts) -> IndexField:
        """A path, and its type inside JSON."""
        path, _, type_ = parts
        if type_ is None:
            return IndexField(path.text)
        kind = _INDEX_TYPES.get(type_.text.upper())
        if kind is not None:
            return IndexField(path.text, kind)
        if type_.text.upper() in _INDEX_TYPES_REFUSED:
            raise _unsupported(f"AS {type_.text.upper()}", type_.position)
        told = InvalidRequest(TypedRule.DDL_INDEX_TYPE, type=type_.text[:100])
        raise failed_at(type_.position, told)

    def index_function(self, parts: Parts) -> IndexField:
        """A function of a path, with constants."""
        name, path, as_, type_, *literals = parts
        field = self.index_field([path, as_, type_])
        if name.text.lower() in _MEMBERS_OF and not literals:
            return IndexField(field.path + _MEMBERS_OF[name.text.lower()], field.type)
        constants = [_constant(each) for each in literals]
        return IndexField(joined_path(name.text, field.path, constants), field.type)

    def index_row_function(self, parts: Parts) -> IndexField:
        """A function of the row."""
        return IndexField(joined_path(parts[0].text, "", ()))

    def create_index(self, parts: Parts) -> CreateIndexStatement:
        """CREATE INDEX."""
        _, _, if_not_exists, name, _, table, *fields, nulls, unique, comment = parts
        _bounded(fields, name.position)
        return CreateIndexStatement(
            name=name.text,
            table=table.text,
            fields=tuple(fields),
            if_not_exists=if_not_exists is not None,
            with_nulls=nulls is not False,
            unique_keys_per_row=unique is not None,
            comment=None if comment is None else comment.text,
        )

    def drop_index(self, parts: Parts) -> DropIndexStatement:
        """DROP INDEX."""
        _, _, if_exists, name, _, table = parts
        return DropIndexStatement(name.text, table.text, if_exists=if_exists is not None)

    def create_namespace(self, parts: Parts) -> CreateNamespaceStatement:
        """CREATE NAMESPACE."""
        return CreateNamespaceStatement(parts[3].text, if_not_exists=parts[2] is not None)

    def drop_namespace(self, parts: Parts) -> DropNamespaceStatement:
        """DROP NAMESPACE."""
        _, _, if_exists, name, cascade = parts
        return DropNamespaceStatement(
            name.text, if_exists=if_exists is not None, cascade=cascade is not None
        )

    # --- showing -----------------------------------------------------------------------------

    def show_tables(self, parts: Parts) -> ShowTablesStatement:
        """SHOW TABLES."""
        return ShowTablesStatement(as_json=parts[1] is not None)

    def show_table(self, parts: Parts) -> ShowTableStatement:
        """SHOW TABLE."""
        return ShowTableStatement(parts[3].text, as_json=parts[1] is not None)

    def show_indexes(self, parts: Parts) -> ShowIndexesStatement:
        """SHOW INDEXES ON."""
        return ShowIndexesStatement(parts[4].text, as_json=parts[1] is not None)

    def show_namespaces(self, parts: Parts) -> ShowNamespacesStatement:
        """SHOW NAMESPACES."""
        return ShowNamespacesStatement(as_json=parts[1] is not None)

    def describe_table(self, parts: Parts) -> DescribeTableStatement:
        """DESCRIBE TABLE."""
        _, as_json, _, name, *fields = parts
        shown = tuple(each.text for each in fields if each is not None)
        return DescribeTableStatement(name.text, shown, as_json=as_json is not None)

    def describe_index(self, parts: Parts) -> DescribeIndexStatement:
        """DESCRIBE INDEX."""
        _, as_json, _, name, _, table = parts
        return DescribeIndexStatement(name.text, table.text, as_json=as_json is not None)


_ONCE: Final[Mapping[type[object], str]] = {
    TimeToLive: "USING TTL",
    _Collection: "AS JSON COLLECTION",
    FreezeSchema: "WITH SCHEMA FROZEN",
    _BeforeImage: "ENABLE BEFORE IMAGE",
}


def _option(items: Sequence[object], kind: type[T]) -> T | None:
    """The clause of a kind, if there is one."""
    return next((each for each in items if isinstance(each, kind)), None)


def _at(position: Position, make: Callable[[], T]) -> T:
    """Call `make`, and give its errors the position."""
    try:
        return make()
    except InvalidRequest as error:
        raise failed_at(position, error) from error


def _integer(digits: str, position: Position) -> int:
    if len(digits) > 40:  # no bound of any type has more
        raise failed_at(position, InvalidRequest(TypedRule.DDL_NUMBER, text=digits[:100]))
    return int(digits)


def _bounded(parts: Sequence[object], position: Position) -> None:
    if len(parts) > DDL_LIST_MAX:
        raise failed_at(position, InvalidRequest(TypedRule.DDL_LIST, limit=DDL_LIST_MAX))


def _unsupported(what: str, position: Position) -> ModelError:
    return failed_at(position, Unsupported(TypedRule.DDL_UNSUPPORTED, what=what))
