"""SHOW TABLES, TABLE, INDEXES and NAMESPACES (ddl §1)."""

import json
from collections.abc import Sequence

from widerow.engine.typed.ddl.result import Context, StatementResult
from widerow.engine.typed.ddl.statements import (
    ShowIndexesStatement,
    ShowNamespacesStatement,
    ShowTablesStatement,
    ShowTableStatement,
)
from widerow.model.typed.names import DEFAULT_NAMESPACE

__all__ = ["run_show_indexes", "run_show_namespaces", "run_show_table", "run_show_tables"]


def run_show_tables(context: Context, statement: ShowTablesStatement) -> StatementResult:
    """Every table, with its namespace where it is not the default one."""
    names = [form.table.qualified for form in context.tables.all()]
    return _listed("tables", names, as_json=statement.as_json)


def run_show_table(context: Context, statement: ShowTableStatement) -> StatementResult:
    """The table's ancestors, itself and all tables below it. Raises `NotFound`."""
    wanted = context.form(statement.name).table
    tables = [form.table for form in context.tables.in_namespace(wanted.namespace)]
    names = [
        table.qualified for table in tables if wanted.id in table.path or table.id in wanted.path
    ]
    return _listed("tableHierarchy", names, as_json=statement.as_json)


def run_show_indexes(context: Context, statement: ShowIndexesStatement) -> StatementResult:
    """The table's indexes by name, those still being built too. Raises `NotFound`."""
    indexes = context.form(statement.table).table.indexes
    names = sorted(index.name for index in indexes)
    return _listed("indexes", names, as_json=statement.as_json)


def run_show_namespaces(context: Context, statement: ShowNamespacesStatement) -> StatementResult:
    """Every namespace, the default one first."""
    names = [DEFAULT_NAMESPACE, *context.tables.namespaces()]
    return _listed("namespaces", names, as_json=statement.as_json)


def _listed(title: str, names: Sequence[str], *, as_json: bool) -> StatementResult:
    if as_json:
        listed = ",".join(json.dumps(name) for name in names)
        return StatementResult(f'{{"{title}" : [{listed}]}}')
    return StatementResult("\n".join([title, *(f"  {name}" for name in names)]))
