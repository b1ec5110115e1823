"""CREATE INDEX, DROP INDEX (ddl §1)."""

from widerow.engine.typed.ddl.faults import failed
from widerow.engine.typed.ddl.result import DONE, NOT_REQUIRED, Context, StatementResult
from widerow.engine.typed.ddl.statements import CreateIndexStatement, DropIndexStatement
from widerow.errors import Conflict, InvalidRequest, NotFound, Unsupported
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index

__all__ = ["index_of", "run_create_index", "run_drop_index"]


def run_create_index(context: Context, statement: CreateIndexStatement) -> StatementResult:
    """CREATE INDEX; done when every row is in it.

    Raises: `InvalidRequest`, `NotFound`, `Conflict`, `Unsupported`.
    """
    form = context.form(statement.table, TypedRule.DDL_TABLE_NOT_FOUND)
    index = index_of(statement)
    exists_is_fine = statement.if_not_exists
    try:
        created = context.schema.create_index(
            form, index, if_not_exists=exists_is_fine, progress=context.progress
        )
    except (InvalidRequest, NotFound, Conflict, Unsupported) as error:
        what = f"table {form.table.name}, index {statement.name}"
        raise failed("CREATE INDEX", what, error) from error
    return DONE if created else NOT_REQUIRED


def index_of(statement: CreateIndexStatement) -> Index:
    """The index that a statement declares."""
    return Index(
        name=statement.name,
        fields=statement.fields,
        with_nulls=statement.with_nulls,
        unique_keys_per_row=statement.unique_keys_per_row,
        comment=statement.comment,
    )


def run_drop_index(context: Context, statement: DropIndexStatement) -> StatementResult:
    """DROP INDEX. Raises `NotFound`."""
    if statement.if_exists:
        found = context.tables.get_qualified(context.qualified(statement.table))
        if found is None or found.table.index(statement.name) is None:
            return NOT_REQUIRED
    form = context.form(statement.table, TypedRule.DDL_TABLE_NOT_FOUND)
    try:
        context.schema.drop_index(form, statement.name)
    except NotFound as error:
        what = f"table {form.table.name}, index {statement.name}"
        raise failed("DROP INDEX", what, error) from error
    return DONE
