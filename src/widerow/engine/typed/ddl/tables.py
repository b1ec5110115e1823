"""CREATE TABLE, ALTER TABLE, DROP TABLE (ddl §1)."""

from collections.abc import Callable
from typing import Final, TypeVar

from widerow.engine.typed.ddl.faults import failed, failed_at, failed_creating
from widerow.engine.typed.ddl.literals import value_of
from widerow.engine.typed.ddl.result import DONE, NOT_REQUIRED, Context, StatementResult
from widerow.engine.typed.ddl.statements import (
    AddField,
    Alteration,
    AlterTableStatement,
    ColumnDefinition,
    CreateTableStatement,
    DropField,
    DropIdentity,
    DropTableStatement,
    FreezeSchema,
    ModifyField,
    Position,
    PrimaryKeyClause,
    SetBeforeImage,
    SetTtl,
    UnfreezeSchema,
)
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.evolve import TableEvolver
from widerow.model.typed.names import folded, split_name
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable

__all__ = [
    "altered_table",
    "declared_table",
    "run_alter_table",
    "run_create_table",
    "run_drop_table",
]

T = TypeVar("T")

_ATTEMPTS: Final = 8  # of an ALTER TABLE, when others change the table at the same time


def run_create_table(context: Context, statement: CreateTableStatement) -> StatementResult:
    """CREATE TABLE. Raises `InvalidRequest`, `NotFound` without parent, `Conflict`."""
    name = context.qualified(statement.name)
    definition = declared_table(context, statement)
    if statement.if_not_exists and context.tables.get_qualified(name) is not None:
        return NOT_REQUIRED
    try:
        context.schema.create_table(definition)
    except (Conflict, NotFound) as error:
        if statement.if_not_exists and error.rule is TypedRule.TABLE_EXISTS:
            return NOT_REQUIRED
        raise failed("CREATE TABLE", f"table {definition.name}", error) from error
    return DONE


def declared_table(context: Context, statement: CreateTableStatement) -> TypedTable:
    """The table that a statement declares. Raises `InvalidRequest`, `NotFound` without parent."""
    name = context.qualified(statement.name)
    namespace, path = split_name(name)
    parent_path, _, short = path.rpartition(".")
    parent = None
    if parent_path:
        found = context.tables.get(folded(namespace), folded(parent_path))
        if found is None:
            told = NotFound(TypedRule.PARENT_MISSING, parent=parent_path[:300], table=path[:300])
            raise failed_at(statement.position, told)
        parent = found.table
    return _definition(statement, namespace, short, parent)


def _definition(
    statement: CreateTableStatement, namespace: str, short: str, parent: TypedTable | None
) -> TypedTable:
    builder = _located(Position(), lambda: TableBuilder(short, namespace=namespace, parent=parent))
    for column in statement.columns:
        _located(column.position, lambda column=column: _add_column(builder, column))  # type: ignore[misc]  # bound at once
    if len(statement.keys) != 1:
        places = [each.position for each in statement.columns]
        first = min(places + [each.position for each in statement.keys])
        raise failed_at(first, InvalidRequest(TypedRule.DDL_PRIMARY_KEY))
    key = statement.keys[0]
    try:
        _add_key(builder, key)
    except InvalidRequest as error:
        if error.rule is TypedRule.PRIMARY_KEY_SIZE_TYPE:
            raise failed_creating(error) from error
        raise failed_at(key.position, error) from error
    builder.ttl(statement.ttl).comment(statement.comment)
    builder.collection(documents=statement.collection).before_image(statement.before_image)
    if statement.freeze is not None:
        builder.freeze(force=statement.freeze.force)
    try:
        return builder.build()
    except InvalidRequest as error:
        raise failed_creating(error) from error


def _add_column(builder: TableBuilder, column: ColumnDefinition) -> None:
    default = value_of(column.default, column.type, column.name)
    if not column.nullable and default is None:
        raise InvalidRequest(TypedRule.NOT_NULL_WITHOUT_DEFAULT, field=column.name)
    try:
        builder.add_field(
            column.name,
            column.type,
            nullable=column.nullable,
            default=default,
            comment=column.comment,
            identity=column.identity,
            uuid_generated=column.uuid_generated,
        )
    except InvalidRequest as error:
        if error.rule is TypedRule.CHILD_FIELD_IN_PARENT_KEY:  # another text for statements
            raise InvalidRequest(TypedRule.PRIMARY_KEY_DUPLICATE, field=column.name) from error
        raise


def _add_key(builder: TableBuilder, key: PrimaryKeyClause) -> None:
    builder.primary_key(
        *(column.name for column in key.columns), sizes=[column.size for column in key.columns]
    )
    if key.shard is not None:
        builder.shard_key(*(column.name for column in key.shard))


def run_alter_table(context: Context, statement: AlterTableStatement) -> StatementResult:
    """ALTER TABLE: all its changes or none. Raises `InvalidRequest`, `NotFound`."""
    for attempt in range(1, _ATTEMPTS + 1):
        table = context.form(statement.name).table
        changed = altered_table(table, statement)
        try:
            context.schema.alter_table(changed)
        except Conflict as error:
            if error.rule is not TypedRule.EVOLVE_STALE or attempt == _ATTEMPTS:
                raise failed("ALTER TABLE", f"table {table.name}", error) from error
        else:
            break
    return DONE


def altered_table(table: TypedTable, statement: AlterTableStatement) -> TypedTable:
    """What a statement makes of a table. Raises `InvalidRequest`."""
    evolver = TableEvolver(table)
    for change in statement.changes:
        _change(evolver, change)
    return evolver.build()


def _change(evolver: TableEvolver, change: Alteration) -> None:
    if isinstance(change, SetTtl):
        evolver.ttl(change.ttl)
    elif isinstance(change, SetBeforeImage):
        evolver.before_image(change.ttl)
    elif isinstance(change, FreezeSchema):
        _located(Position(), lambda: evolver.freeze(force=change.force))
    elif isinstance(change, UnfreezeSchema):
        evolver.unfreeze()
    else:
        _change_columns(evolver, change)


def _change_columns(
    evolver: TableEvolver, change: AddField | DropField | ModifyField | DropIdentity
) -> None:
    if isinstance(change, AddField):
        _located(change.column.position, lambda: _add(evolver, change.column))
    elif isinstance(change, DropField):
        _located(change.position, lambda: _remove(evolver, change.path))
    elif isinstance(change, DropIdentity):
        _located(change.position, lambda: evolver.modify_generation(change.path))
    else:
        _located(change.position, lambda: _modify(evolver, change))


def _add(evolver: TableEvolver, column: ColumnDefinition) -> None:
    evolver.add_field(
        column.name,
        column.type,
        nullable=column.nullable,
        default=value_of(column.default, column.type, column.name),
        comment=column.comment,
        identity=column.identity,
        uuid_generated=column.uuid_generated,
    )


def _remove(evolver: TableEvolver, path: str) -> None:
    try:
        evolver.remove_field(path)
    except InvalidRequest as error:
        if error.rule is TypedRule.EVOLVE_INDEXED:  # another text for statements
            raise InvalidRequest(TypedRule.DDL_DROP_INDEXED, field=path) from error
        raise


def _modify(evolver: TableEvolver, change: ModifyField) -> None:
    """Change the generator of a column; a type may only repeat that of a UUID column."""
    column = evolver.table.field(change.path)
    if change.identity is None and (column is not None or change.type is not None):
        asked = change.type
        if column is None or not column.type.uuid or (asked is not None and not asked.uuid):
            raise failed_at(change.begins, InvalidRequest(TypedRule.DDL_MODIFY))
    evolver.modify_generation(
        change.path, identity=change.identity, uuid_generated=change.uuid_generated
    )


def run_drop_table(context: Context, statement: DropTableStatement) -> StatementResult:
    """DROP TABLE. Raises `NotFound`, and `InvalidRequest` while it has children."""
    name = context.qualified(statement.name)
    try:
        dropped = context.schema.drop_table(name, if_exists=statement.if_exists)
    except (NotFound, InvalidRequest) as error:
        raise failed("DROP TABLE", f"table {split_name(name)[1]}", error) from error
    return DONE if dropped else NOT_REQUIRED


def _located(position: Position, make: Callable[[], T]) -> T:
    """Call `make`, and give its errors the position."""
    try:
        return make()
    except InvalidRequest as error:
        told = failed_at(position, error)
        if told is error:  # it has a position already
            raise
        raise told from error
