"""Running statements: one function for each kind, in a table (ddl §1)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from widerow.nosql.ddl.describe import describe_index, describe_table
from widerow.nosql.ddl.indexes import create_index, drop_index
from widerow.nosql.ddl.namespaces import create_namespace, drop_namespace
from widerow.nosql.ddl.parse import parse
from widerow.nosql.ddl.result import Context, StatementResult
from widerow.nosql.ddl.show import show_indexes, show_namespaces, show_table, show_tables
from widerow.nosql.ddl.statements import (
    AlterTable,
    CreateIndex,
    CreateNamespace,
    CreateTable,
    DescribeIndex,
    DescribeTable,
    DropIndex,
    DropNamespace,
    DropTable,
    ShowIndexes,
    ShowNamespaces,
    ShowTable,
    ShowTables,
    Statement,
)
from widerow.nosql.ddl.tables import alter_table, create_table, drop_table
from widerow.nosql.store import Store

__all__ = ["run"]


def run(
    store: Store,
    statement: str,
    *,
    namespace: str = "",
    progress: Callable[[int], None] = lambda _: None,
) -> StatementResult:
    """Run one statement. What it changed is on stable storage when it returns.

    `namespace`: of names that have none. `progress` is told how many rows a CREATE INDEX has done.

    Raises: `InvalidRequest`, `NotFound`, `Conflict` and `Unsupported` with the vendor's texts
    (ddl §1), storage failures as they are.
    """
    read = parse(statement)
    return _RUN[type(read)](Context(store, namespace, progress), read)


_RUN: Final[Mapping[type[Statement], Callable[[Context, Any], StatementResult]]] = {
    CreateTable: create_table,
    AlterTable: alter_table,
    DropTable: drop_table,
    CreateIndex: create_index,
    DropIndex: drop_index,
    CreateNamespace: create_namespace,
    DropNamespace: drop_namespace,
    ShowTables: show_tables,
    ShowTable: show_table,
    ShowIndexes: show_indexes,
    ShowNamespaces: show_namespaces,
    DescribeTable: describe_table,
    DescribeIndex: describe_index,
}
