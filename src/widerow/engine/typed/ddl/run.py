"""Running statements: one function for each kind, in a table (ddl §1)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from widerow.engine.typed.ddl.describe import run_describe_index, run_describe_table
from widerow.engine.typed.ddl.indexes import run_create_index, run_drop_index
from widerow.engine.typed.ddl.namespaces import run_create_namespace, run_drop_namespace
from widerow.engine.typed.ddl.parse import parse
from widerow.engine.typed.ddl.result import Context, StatementResult
from widerow.engine.typed.ddl.show import (
    run_show_indexes,
    run_show_namespaces,
    run_show_table,
    run_show_tables,
)
from widerow.engine.typed.ddl.statements import (
    AlterTableStatement,
    CreateIndexStatement,
    CreateNamespaceStatement,
    CreateTableStatement,
    DescribeIndexStatement,
    DescribeTableStatement,
    DropIndexStatement,
    DropNamespaceStatement,
    DropTableStatement,
    ShowIndexesStatement,
    ShowNamespacesStatement,
    ShowTablesStatement,
    ShowTableStatement,
    Statement,
)
from widerow.engine.typed.ddl.tables import run_alter_table, run_create_table, run_drop_table
from widerow.engine.typed.schema_changes import SchemaChanges

__all__ = ["run", "run_read"]


def run(
    schema: SchemaChanges,
    statement: str,
    *,
    namespace: str = "",
    progress: Callable[[int], None] = lambda _: None,
) -> StatementResult:
    """Run one statement. Its changes are on stable storage when the function returns.

    `namespace`: for names that have none. `progress` is told how many rows a CREATE INDEX has done.

    Raises: `InvalidRequest`, `NotFound`, `Conflict` and `Unsupported` with the vendor's texts
    (ddl §1), storage failures as they are.
    """
    read = parse(statement)
    return _RUN[type(read)](Context(schema, namespace, progress), read)


def run_read(context: Context, statement: Statement) -> StatementResult:
    """Run a statement that shows something and changes nothing. Raises `NotFound`."""
    return _READ[type(statement)](context, statement)


_READ: Final[Mapping[type[Statement], Callable[[Context, Any], StatementResult]]] = {
    ShowTablesStatement: run_show_tables,
    ShowTableStatement: run_show_table,
    ShowIndexesStatement: run_show_indexes,
    ShowNamespacesStatement: run_show_namespaces,
    DescribeTableStatement: run_describe_table,
    DescribeIndexStatement: run_describe_index,
}
_RUN: Final[Mapping[type[Statement], Callable[[Context, Any], StatementResult]]] = {
    **_READ,
    CreateTableStatement: run_create_table,
    AlterTableStatement: run_alter_table,
    DropTableStatement: run_drop_table,
    CreateIndexStatement: run_create_index,
    DropIndexStatement: run_drop_index,
    CreateNamespaceStatement: run_create_namespace,
    DropNamespaceStatement: run_drop_namespace,
}
