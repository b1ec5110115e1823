"""SQLQuery: the message of a statement, and that of its result (sql §1, §9)."""

from typing import Final, NamedTuple

from widerow.auth.keyring import Permission
from widerow.engine.between import Between, never_ends
from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import TooLong, WiderowError
from widerow.wire.tablestore import sql_messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.sql.answers import encode_flat_rows
from widerow.wire.tablestore.operations.sql.run import (
    GroupPage,
    Result,
    permission_of,
    run_short,
    run_statement,
)
from widerow.wire.tablestore.operations.sql.syntax import named_tables, read_statement

__all__ = ["SQL_ACTIONS", "run_asked", "run_asked_short", "statement_permission", "statement_units"]

_FLAT_BUFFERS: Final = 2  # SQLPayloadVersion


class _Statement(NamedTuple):
    """A statement's text, and whether its client takes dates and times as numbers.

    `token`: of the page before. Who takes numbers takes pages.
    """

    text: str
    typed_times: bool
    token: str = ""

    @property
    def named_tables(self) -> frozenset[str]:
        """The tables that the statement names, none where it cannot be read."""
        try:
            return named_tables(read_statement(self.text))
        except WiderowError:
            return frozenset()


class _Answer(NamedTuple):
    """A result, and how it is written."""

    result: Result
    typed_times: bool


@decoder(m.SQLQueryRequest)
def _statement(sent: m.SQLQueryRequest) -> _Statement:
    return _Statement(text(sent.query), sent.sql_version >= 1, text(sent.search_token))


def statement_permission(body: bytes) -> Permission:
    """What the statement of a request needs. Raises `InvalidRequest` for another body."""
    return permission_of(_statement(body).text)


def run_asked(
    engine: TablestoreEngine, instance: str, asked: _Statement, between: Between = never_ends
) -> _Answer | Plan[_Answer]:
    """The answer to a statement, or the plan of its change. Raises as `run_statement`."""
    page = GroupPage(asked.token) if asked.typed_times or asked.token else None
    found = run_statement(engine, instance, asked.text, between, page)
    if isinstance(found, Plan):
        return found.answering(lambda result: _Answer(result, asked.typed_times))
    return _Answer(found, asked.typed_times)


def run_asked_short(
    engine: TablestoreEngine, instance: str, asked: _Statement, budget: Budget
) -> _Answer:
    """The answer to a query of few rows whose plan is kept. Raises `TooLong` for any other one.

    Raises also as `run_statement`.
    """
    result = None if asked.token else run_short(engine, instance, asked.text, budget)
    if result is None:
        raise TooLong("a statement that is no known query of few rows")
    return _Answer(result, asked.typed_times)


def _encode(answer: _Answer) -> bytes:
    result, typed_times = answer
    sent = m.SQLQueryResponse(version=_FLAT_BUFFERS, type=result.type)
    if result.table is not None:
        columns, values, rows = result.table
        sent.rows = encode_flat_rows(columns, values, rows, typed_times=typed_times)
    if result.affected is not None:
        sent.affected_rows = result.affected
    if result.token:
        sent.next_search_token = result.token
    for table, read, write, index, metas in result.consumed:
        unit = m.CapacityUnit(read=read, write=write)
        consumed = m.ConsumedCapacity(capacity_unit=unit)
        if index:
            sent.search_consumes.append(
                m.SearchConsumedCapacity(table_name=table, index_name=index, consumed=consumed)
            )
        else:
            of_table = m.TableConsumedCapacity(table_name=table, consumed=consumed)
            if metas:
                of_table.is_timeseries_meta = True
            sent.consumes.append(of_table)
    return sent.SerializeToString()


def statement_units(answer: _Answer) -> tuple[int, int]:
    """Read and write units of a statement, those of all its tables together."""
    consumed = answer.result.consumed
    return sum(each.read for each in consumed), sum(each.write for each in consumed)


SQL_ACTIONS: Final = {"SQLQuery": Action(_statement, run_asked, _encode)}
