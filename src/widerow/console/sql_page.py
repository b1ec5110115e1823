"""The page for statements of SQL: the rows, the plan beside them, what it cost, where it is wrong.

A statement is run as SQLQuery runs it (`wire/tablestore/operations/sql`): with the permission that
it needs, and within the same bounds.
"""

import re
from typing import TYPE_CHECKING, Any

from widerow.auth.keyring import Permission
from widerow.auth.policy import authorize
from widerow.console.download import as_file
from widerow.console.forms import shown
from widerow.console.grid import FILE_FORMS, grid_columns
from widerow.console.parts import ConsoleRefused, Download, PageDocument, Visit
from widerow.console.places import known_instances
from widerow.console.refusals import refusal_of
from widerow.engine.plan import Plan
from widerow.errors import InvalidRequest, WiderowError
from widerow.limits import CONSOLE_SQL_ROWS_MAX
from widerow.transfer.layout import json_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from widerow.wire.tablestore.operations.sql.describing import Listing
    from widerow.wire.tablestore.operations.sql.run import Result

__all__ = ["error_place", "show_sql"]


def show_sql(visit: Visit) -> PageDocument | Download:
    """A form for a statement; with a form, its result, its plan or its rows as a file.

    Parameters: `instance`, `statement`, which is only put into the form. `do` of a form: `run`,
    `explain`, or a form of files.
    """
    asked = visit.asked if visit.form is None else visit.form
    instances = known_instances(visit)
    instance = asked.get("instance", "").strip() or (instances[0] if instances else "")
    statement = asked.get("statement", "").replace("\r\n", "\n")
    document: PageDocument = {
        "instances": instances,
        "instance": instance,
        "statement": statement,
        "result": None,
        "plan": [],
        "tables": [],
    }
    if instance:
        visit.parts.identity().instances.admit(instance, visit.key)
        names = visit.parts.tablestore.list_tables(instance)
        document["tables"] = list(names)
    if visit.form is None:
        return document
    wish = visit.form.get("do", "run")
    try:
        if wish in FILE_FORMS:
            return _download(visit, instance, statement, wish)
        return document | _answer(visit, instance, statement, only_plan=wish == "explain")
    except (WiderowError, UnicodeError) as error:
        place = error_place(statement, error)
        return document | {"refusal": refusal_of(error)[1], "place": place}


def _answer(visit: Visit, instance: str, statement: str, *, only_plan: bool) -> PageDocument:
    """The plan of a SELECT, and the result of the statement."""
    from widerow.wire.tablestore.operations.sql.syntax import Select, read_statement  # noqa: PLC0415  # imported with the first statement

    if not statement.strip():
        raise ConsoleRefused(400, "There is no statement.", "Write one, such as SHOW TABLES.")
    plan: list[str] = []
    if isinstance(read_statement(statement), Select):
        result, _ = _run(visit, instance, f"EXPLAIN {statement}")
        assert result.table is not None, "a plan has lines"
        plan = list(result.table.values[0])
    elif only_plan:
        raise ConsoleRefused(400, "Only a SELECT has a plan.", "Run the statement.")
    if only_plan:
        return {"plan": plan}
    result, ms = _run(visit, instance, statement)
    found: PageDocument = {
        "ms": ms,
        "affected": result.affected,
        "costs": [each._asdict() for each in result.consumed],
        "read_units": sum(each.read for each in result.consumed),
        "write_units": sum(each.write for each in result.consumed),
        "columns": None,
        "rows": [],
    }
    if result.table is not None:
        found |= _grid(result.table)
    return {"plan": plan, "result": found}


def _run(visit: Visit, instance: str, statement: str) -> "tuple[Result, float]":
    """The result of a statement, and how many milliseconds it took.

    Raises the refusals of the service, `NotPermitted` among them.
    """
    from widerow.wire.tablestore.operations.sql.run import permission_of, run_statement  # noqa: PLC0415  # imported with the first statement

    authorize(visit.key, permission_of(statement))
    clock = visit.parts.clock
    begun = clock.monotonic_ns()
    with visit.parts.long_work():
        found = run_statement(visit.parts.tablestore, instance, statement)
    result = visit.parts.committer.run(found) if isinstance(found, Plan) else found
    return result, round((clock.monotonic_ns() - begun) / 1e6, 2)


def _rows(table: "Listing", most: int | None = None) -> list[tuple[Any, ...]]:
    """The rows of a result, at most so many; dates and times are texts, as SQLQuery has them."""
    from widerow.wire.tablestore.operations.sql.kinds import SqlKind  # noqa: PLC0415  # imported with the first statement
    from widerow.wire.tablestore.operations.sql.moments import (  # noqa: PLC0415  # imported with the first statement
        date_text,
        datetime_text,
        time_text,
    )

    texts = {SqlKind.DATETIME: datetime_text, SqlKind.DATE: date_text, SqlKind.TIME: time_text}
    columns: list[Sequence[Any]] = []
    for column, values in zip(table.columns, table.values, strict=True):
        some, text = values[:most], texts.get(column.kind)
        columns.append(some if text is None else [v if v is None else text(v) for v in some])
    return list(zip(*columns, strict=True))


def _grid(table: "Listing") -> PageDocument:
    """The first rows of a result."""
    rows = _rows(table, CONSOLE_SQL_ROWS_MAX)
    return {
        "columns": grid_columns((each.name, [each.kind.value]) for each in table.columns),
        "rows": [[_cell(value) for value in row] for row in rows],
        "place": {"first": 1, "last": len(rows), "of": table.rows, "exact": True},
    }


def _cell(value: Any) -> PageDocument:  # noqa: ANN401  # of any column
    return {"type": "null", "value": None, "bytes": 0} if value is None else shown(value)


def _download(visit: Visit, instance: str, statement: str, form: str) -> Download:
    """The rows of a statement that changes nothing, as a file."""
    from widerow.wire.tablestore.operations.sql.run import permission_of  # noqa: PLC0415  # imported with the first statement

    if permission_of(statement) is not Permission.READ:
        raise ConsoleRefused(400, "Only rows that are read can be downloaded.", "Run it instead.")
    result, _ = _run(visit, instance, statement)
    if result.table is None:
        raise ConsoleRefused(400, "The statement has no rows.", "Run it instead.")
    names = [each.name for each in result.table.columns]
    records = [
        {name: json_value(value) for name, value in zip(names, row, strict=True)}
        for row in _rows(result.table)
    ]
    return as_file("rows", form, records, "Add LIMIT to the statement, or run it with: widerow sql")


# --- where a statement is wrong -------------------------------------------------------------------


def error_place(statement: str, error: Exception) -> PageDocument | None:
    """Line, column and text of the line where a statement is wrong, as far as the error tells.

    An error of syntax says near which text it is, with one space for any run of them.
    """
    near = error.details.get("near") if isinstance(error, InvalidRequest) else None
    if not isinstance(near, str) or not near:
        return None
    pattern = r"\s+".join(map(re.escape, near.split()))
    found = list(re.finditer(pattern, statement))
    if not found:
        return None
    start = found[-1].start()  # what is near reaches to the end, unless it is long
    before = statement[:start]
    line_start = before.rfind("\n") + 1
    return {
        "line": before.count("\n") + 1,
        "column": start - line_start + 1,
        "text": statement[line_start:].partition("\n")[0][: start - line_start + 80],
    }
