"""Statements of SQL run on an engine in memory, without a server: for the tests of SQL."""

from typing import Any

import pytest
from tests.support.engines import open_tablestore

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, Conflict, Exhausted, InvalidRequest, NotFound, Unsupported
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore.operations.sql.run import Result, run_statement

__all__ = ["rows_of_statement", "rule_of_refusal", "run_sql", "statement_engine"]


def statement_engine() -> TablestoreEngine:
    """An engine without tables."""
    return open_tablestore(MemoryStore(), FakeClock(), FakeEntropy())


def run_sql(engine: TablestoreEngine, text: str) -> Result:
    """The result of a statement in the instance `i`, its change committed. Raises its errors."""
    found = run_statement(engine, "i", text)
    return engine.core.run(found) if isinstance(found, Plan) else found


def rows_of_statement(engine: TablestoreEngine, text: str) -> list[tuple[Any, ...]]:
    """The rows of a statement."""
    table = run_sql(engine, text).table
    assert table is not None
    return list(zip(*table.values, strict=True)) if table.values else [()] * table.rows


def rule_of_refusal(engine: TablestoreEngine, text: str) -> AnyRule:
    """The rule that a statement breaks."""
    with pytest.raises((InvalidRequest, NotFound, Unsupported, Conflict, Exhausted)) as caught:
        run_sql(engine, text)
    return caught.value.rule
