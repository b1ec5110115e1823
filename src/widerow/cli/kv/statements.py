"""`execute` and `mode`: statements of definition, statements about rows, and how rows are shown.

Statements about rows are asked as a driver asks them (nosql-wire §6): of a server, or of the same
operations in this process (cli §6, ddl §2).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from widerow.cli.kv.command import Command
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.results import RESULT_FORMS, ResultRow, pretty_lines
from widerow.cli.kv.session import Session, counting
from widerow.cli.kv.values import counted
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.engine.plan import Plan
from widerow.model.typed.json_rows import dumps
from widerow.nosql import TypedStore
from widerow.text_lines import text_lines

if TYPE_CHECKING:
    from widerow.wire.nosql.sql.syntax import FromTable, NosqlStatement

__all__ = ["EXECUTE", "MODE", "SQL_WORDS"]

_ROW_WORDS: Final = frozenset(("SELECT", "INSERT", "UPSERT", "UPDATE", "DELETE", "DECLARE"))
_SHOW_QUERY: Final = ("SHOW", "QUERY")
SQL_WORDS: Final = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "OFFSET", "DISTINCT", "AS"),
    *("AND", "OR", "NOT", "IN", "BETWEEN", "EXISTS", "IS NULL", "CASE", "CAST", "DECLARE"),
    *("INSERT INTO", "UPSERT INTO", "VALUES", "UPDATE", "SET", "SET TTL", "DELETE FROM"),
    *("RETURNING", "CREATE TABLE", "CREATE INDEX", "ALTER TABLE", "DROP TABLE", "DROP INDEX"),
    *("SHOW TABLES", "SHOW INDEXES ON", "SHOW QUERY", "DESCRIBE TABLE", "DESCRIBE INDEX"),
)
"""The words that Tab offers in a statement."""

Ask = Callable[[int, Mapping[str, Any]], Mapping[str, Any]]
"""Answers an operation's payload; refusals are raised."""


def _run(session: Session, statement: str) -> str | None:
    """Run one statement and show its answer; what is to be printed behind it.

    Raises: `CommandFault` for an empty one; the errors of the store or the server.
    """
    from widerow.wire.nosql.sql.lexis import cut_statement  # noqa: PLC0415  # imported with the first statement

    statement = statement.rstrip("; \t\r\n")
    if not statement.strip():
        raise CommandFault("Empty statement")
    words = tuple(word.text.upper() for word in cut_statement(statement)[:2])
    if words == _SHOW_QUERY:
        session.show(text_lines(_plan(session, statement)))
    elif words[0] in _ROW_WORDS:
        return _show_rows(session, statement)
    else:
        with counting(session, "rows indexed") as report:
            result = session.store.run_statement(
                statement, namespace=session.namespace, progress=report
            )
        session.show(text_lines(result.text))
    return None


def _show_rows(session: Session, statement: str) -> str:
    """Run a query or a statement that writes; its rows are shown as they come, or collected.

    Returns how many they were.
    """
    from widerow.wire.nosql.requests import QUERY_CODE, plain_json  # noqa: PLC0415  # imported with the first statement

    ask = _asking(session)
    costs = [0, 0]

    def pages() -> Iterator[Iterator[ResultRow]]:
        asked: dict[str, Any] = {"qv": 4, "st": _in_namespace(statement, session.namespace)}
        while True:
            page = ask(QUERY_CODE, asked)
            cost = page.get("c", {})
            costs[0] += cost.get("ru", 0)
            costs[1] += cost.get("wk", 0)
            yield (plain_json(row) for row in page["qr"])
            if "ck" not in page:
                return
            asked["ck"] = page["ck"]

    count = 0

    def rows() -> Iterator[ResultRow]:
        nonlocal count
        for row in chain.from_iterable(pages()):
            count += 1
            yield row

    is_pretty = session.pretty and session.result_form == "JSON"
    form = pretty_lines if is_pretty else RESULT_FORMS[session.result_form]
    if session.collects:
        session.value = [json.loads(dumps(dict(row))) for row in rows()]
    else:
        session.show(form(rows()))
        session.write("")
    told = f"{counted(count, 'row')} returned"
    return f"{told}\n{costs[0]} read units, {costs[1]} write units" if session.verbose else told


def _plan(session: Session, statement: str) -> str:
    """How the query behind SHOW QUERY would reach its rows, as JSON; it is not run."""
    from widerow.wire.nosql.requests import PREPARE_CODE  # noqa: PLC0415  # imported with the first statement
    from widerow.wire.nosql.sql.lexis import cut_statement  # noqa: PLC0415  # imported with the first statement

    place = cut_statement(statement)[2].place
    query = _from_place(statement, place.line, place.column)
    asked = {"qv": 4, "st": _in_namespace(query, session.namespace), "gq": True}
    return str(_asking(session)(PREPARE_CODE, asked)["qs"])


def _from_place(text: str, line: int, column: int) -> str:
    """What of a text begins at a line, from 1, and a column, from 0."""
    lines = text.split("\n")[line - 1 :]
    return "\n".join([lines[0][column:], *lines[1:]])


def _in_namespace(statement: str, namespace: str) -> str:
    """The statement with its tables named in full, where the shell is in a namespace."""
    if not namespace:
        return statement
    from widerow.wire.nosql.sql.parse import parse_statement  # noqa: PLC0415  # imported with the first statement

    lines = statement.split("\n")
    tables = {table.place: table for table in _tables_of(parse_statement(statement))}
    for place in sorted(tables, reverse=True):
        table, text = tables[place], lines[place.line - 1]
        # Without an alias of its own a table is called by its name, which columns may begin with.
        alias = f" {table.name}" if table.alias == table.name and "." not in table.name else ""
        end = place.column + len(table.name)
        lines[place.line - 1] = (
            f"{text[: place.column]}{namespace}:{text[place.column : end]}{alias}{text[end:]}"
        )
    return "\n".join(lines)


def _tables_of(read: "NosqlStatement") -> list["FromTable"]:
    """The tables that a statement names without a namespace."""
    tables = getattr(read, "tables", None) or (read.table,)  # type: ignore[attr-defined]  # of writes
    return [table for table in tables if ":" not in table.name]


def _asking(session: Session) -> Ask:
    """Who answers operations: the server, or its operations on the store of this process."""
    store = session.store
    if not isinstance(store, TypedStore):
        return store.ask

    def ask(code: int, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        from widerow.wire.nosql.operations.table import BY_CODE  # noqa: PLC0415  # imported with the first statement
        from widerow.wire.nosql.requests import answer_of, request_frame  # noqa: PLC0415  # imported with the first statement

        operation = BY_CODE[code]
        asked = operation.decode(request_frame(code, payload))
        found = operation.call(store.engine, "", asked)
        answered = store.commit(found) if isinstance(found, Plan) else found
        return answer_of(operation.encode(answered))

    return ask


def _execute(session: Session, given: Arguments) -> str | None:
    (statement,) = given.words
    return _run(session, statement)


EXECUTE: Final = Command(
    name="execute",
    shortest=4,
    description=(
        "Runs a statement; quote it. SELECT, INSERT, UPSERT, UPDATE and DELETE show their rows in\n"
        "the form that mode has chosen; SHOW QUERY before one of them shows how it would be run.\n"
        "CREATE, ALTER and DROP TABLE, CREATE and DROP INDEX, CREATE and DROP NAMESPACE change\n"
        "definitions; SHOW and DESCRIBE tell of them."
    ),
    run=_execute,
    takes=(1, 1),
    words="<statement>",
)


def _check_mode(_: Session, given: Arguments) -> None:
    word = given.words[0].upper() if given.words else "JSON"
    if word not in RESULT_FORMS:
        raise ArgumentFault(given.words[0])
    if given.has("-pretty") and word != "JSON":
        raise ArgumentFault("-pretty can only be used with JSON")


def _mode(session: Session, given: Arguments) -> str:
    if given.words or given.has("-pretty"):
        session.result_form = given.words[0].upper() if given.words else "JSON"
        session.pretty = given.has("-pretty")
    pretty = " -pretty" if session.pretty else ""
    return f"Query output mode is {session.result_form}{pretty}"


MODE: Final = Command(
    name="mode",
    shortest=3,
    description=(
        "Says how execute shows rows, or shows them in another way: a grid, a block for each row,\n"
        "JSON on one line or with -pretty on several, or CSV without a head."
    ),
    run=_mode,
    takes=(0, 1),
    flags=(ShellFlag("-pretty"),),
    words="[column | line | json | csv]",
    check=_check_mode,
)
