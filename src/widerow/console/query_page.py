"""The page of a typed table for statements of SQL: rows, plan, units, and where it is wrong.

A statement is asked as a driver asks it (`wire/nosql/operations/query`): with the permission that
it needs, and page by page. Of the tables that it names the visitor must be let into the namespace.
"""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.auth.policy import authorize
from widerow.console.download import as_file
from widerow.console.forms import shown
from widerow.console.grid import FILE_FORMS, grid_columns
from widerow.console.parts import ConsoleRefused, Download, PageDocument, Visit
from widerow.console.places import TablePlace, asked_table, the_typed_table
from widerow.console.refusals import refusal_of
from widerow.engine.plan import Plan
from widerow.errors import InvalidRequest, WiderowError
from widerow.limits import (
    CONSOLE_DOWNLOAD_ROWS_MAX,
    CONSOLE_QUERY_SECONDS_MAX,
    CONSOLE_SQL_ROWS_MAX,
)
from widerow.model.typed.json_rows import dumps
from widerow.wire.nosql.requests import (
    PREPARE_CODE,
    QUERY_CODE,
    answer_of,
    plain_json,
    request_frame,
)

__all__ = ["show_query"]

_TYPE_OF_OTHERS: Final = "json"  # of arrays, maps and records, and where values have several types


def show_query(visit: Visit) -> PageDocument | Download:
    """A form for a statement; with a form, its rows and its plan, or its rows as a file.

    Parameters: those of a table, and `statement`, which is only put into the form. Of a form: `do`,
    which is `run`, `explain` or a form of files, and `after`, where the page before has ended.
    """
    name = asked_table(visit)
    form = the_typed_table(visit, name)
    given = visit.asked if visit.form is None else visit.form
    usual = f"SELECT * FROM {form.table.qualified} LIMIT 25"  # noqa: S608  # a name of the catalogue
    statement = given.get("statement", usual).replace("\r\n", "\n")
    document: PageDocument = {
        **_asked(name),
        "statement": statement,
        "columns": [field.name for field in form.table.shown_fields],
        "result": None,
        "plan": [],
        "after": "",
    }
    if visit.form is None:
        return document
    wish = visit.form.get("do", "run")
    try:
        if not statement.strip():
            raise ConsoleRefused(400, "There is no statement.", f"Write one, such as {usual}.")
        if wish in FILE_FORMS:
            return _download(visit, statement, wish)
        return document | _answer(visit, statement, only_plan=wish == "explain")
    except (WiderowError, UnicodeError) as error:
        place = _place_of(statement, error)
        return document | {"refusal": refusal_of(error)[1], "place": place}


def _asked(name: TablePlace) -> PageDocument:
    return {"instance": name.instance, "table": name.name, "model": name.model}


class _Statement:
    """A statement that the visitor may run, for at most so many seconds."""

    def __init__(self, visit: Visit, statement: str) -> None:
        """Prepare it. Raises: `InvalidRequest`, `NotFound`, `NotPermitted`."""
        from widerow.wire.nosql.operations.query import permission_of_query  # noqa: PLC0415  # imported with the first statement
        from widerow.wire.nosql.sql.run import prepare_statement  # noqa: PLC0415  # imported with the first statement

        self._visit = visit
        self._clock = visit.parts.clock
        self._begun = self._clock.monotonic_ns()
        self.payload: dict[str, Any] = {"qv": 4, "st": statement}
        self.permission = permission_of_query(request_frame(QUERY_CODE, self.payload))
        authorize(visit.key, self.permission)
        instances = visit.parts.identity().instances
        with visit.parts.long_work():
            prepared = prepare_statement(statement, visit.parts.typed.tables)
        for form in prepared.forms:
            instances.admit(form.table.shown_namespace, visit.key)
        asked = {**self.payload, "gq": True, "gs": True}
        self.prepared = self._asked(PREPARE_CODE, asked)

    @property
    def ms(self) -> float:
        """The milliseconds since it was begun."""
        return round((self._clock.monotonic_ns() - self._begun) / 1e6, 2)

    def pages(self, limit: int, after: bytes = b"") -> Iterator[Mapping[str, Any]]:
        """Its pages of at most `limit` rows, behind `after`. Raises as a driver's are refused."""
        payload = {**self.payload, "nl": limit}
        while True:
            page = self._asked(QUERY_CODE, payload | ({"ck": after} if after else {}))
            yield page
            after = page.get("ck", b"")
            if not after:
                return
            self._check_time()

    def _asked(self, code: int, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        from widerow.wire.nosql.operations import query  # noqa: PLC0415  # imported with the first statement
        from widerow.wire.nosql.operations.rows import decode_row_request  # noqa: PLC0415  # imported with the first statement

        engine, asked = self._visit.parts.typed, decode_row_request(request_frame(code, payload))
        with self._visit.parts.long_work():
            if code == PREPARE_CODE:
                return answer_of(query.encode_answered(query.prepare_query(engine, "", asked)))
            found = query.run_query(engine, "", asked, self._check_time)
        answered = self._visit.parts.committer.run(found) if isinstance(found, Plan) else found
        return answer_of(query.encode_answered(answered))

    def _check_time(self) -> None:
        if self._clock.monotonic_ns() - self._begun > CONSOLE_QUERY_SECONDS_MAX * 1e9:
            raise ConsoleRefused(
                503,
                f"The statement ran for {CONSOLE_QUERY_SECONDS_MAX} seconds and was given up.",
                "Ask for fewer rows, or run it with: widerow kv --endpoint URL -e STATEMENT",
            )


def _answer(visit: Visit, statement: str, *, only_plan: bool) -> PageDocument:
    """The plan of a statement, and its rows unless only the plan is asked for.

    Pages without rows, of which a filter leaves none, are passed over.
    """
    asked = _Statement(visit, statement)
    plan = _plan_lines(str(asked.prepared["qs"]))
    if only_plan:
        return {"plan": plan}
    rows: list[Mapping[str, Any]] = []
    cost = {"ru": 0, "rk": 0, "wk": 0}
    after = b""
    for page in asked.pages(CONSOLE_SQL_ROWS_MAX, _after(visit)):
        rows = [plain_json(row) for row in page["qr"]]
        cost = {name: cost[name] + page["c"][name] for name in cost}
        after = page.get("ck", b"")
        if rows:
            break
    schema = _schema(asked.prepared)
    seen = visit.form.get("seen", "") if visit.form else ""
    first = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else 0
    last = first + len(rows)
    result: PageDocument = {
        "ms": asked.ms,
        "read_units": cost["ru"],
        "read_kb": cost["rk"],
        "write_kb": cost["wk"],
        "columns": grid_columns((name, [kind]) for name, kind in schema),
        "rows": [[_cell(row[name]) for name, _ in schema] for row in rows],
        "place": {"first": first + 1, "last": last, "of": None if after else last, "exact": True},
        "reads": asked.permission is Permission.READ,
    }
    return {"plan": plan, "result": result, "after": after.hex()}


def _schema(prepared: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and types of the columns of a prepared statement."""
    document = json.loads(str(prepared["qc"]))
    return [(each["name"], str(each["type"]).lower()) for each in document["fields"]]


def _plan_lines(text: str) -> list[str]:
    """How a statement reaches its rows: for each table the index, and what bounds its columns."""
    lines = []
    for path in json.loads(text)["query plan"]:
        how = path.get("index used")
        reached = "no rows, the condition is never true" if how is None else f"{how}, "
        lines.append(f"table {path['target table']}: {reached}{path['row order'] if how else ''}")
        bounds = path.get("conditions of leading columns", ())
        lines += [
            f"  column {number} of it: {', '.join(signs)}" for number, signs in enumerate(bounds, 1)
        ]
        if how is not None and not bounds:
            lines.append("  from its first entry to its last")
    return lines


def _after(visit: Visit) -> bytes:
    """Where the page before has ended. Raises: `ConsoleRefused`."""
    try:
        return bytes.fromhex((visit.form or {}).get("after", ""))
    except ValueError as error:
        raise ConsoleRefused(
            400, "The form does not say where the rows go on.", "Run the statement again."
        ) from error


def _cell(value: Any) -> PageDocument:  # noqa: ANN401  # of any column
    if value is None:
        return {"type": "null", "value": None, "bytes": 0}
    if isinstance(value, Decimal):
        value = _number(value)
    if isinstance(value, (str, bool, int, float)):
        return shown(value)
    return {**shown(dumps(value)), "type": _TYPE_OF_OTHERS}


def _number(value: Decimal) -> int | float | str:
    """A NUMBER as one of the page, or as a text where that would lose digits."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else dumps(value)


def _download(visit: Visit, statement: str, form: str) -> Download:
    """The rows of a statement that changes nothing, as a file. Raises: `ConsoleRefused`."""
    asked = _Statement(visit, statement)
    if asked.permission is not Permission.READ:
        raise ConsoleRefused(400, "Only rows that are read can be downloaded.", "Run it instead.")
    records: list[dict[str, Any]] = []
    for page in asked.pages(CONSOLE_SQL_ROWS_MAX):
        records += [json.loads(dumps(plain_json(row))) for row in page["qr"]]
        if len(records) > CONSOLE_DOWNLOAD_ROWS_MAX:
            break
    hint = "Add LIMIT to the statement, or run it with: widerow kv --endpoint URL -e STATEMENT"
    return as_file("rows", form, records, hint)


# --- where a statement is wrong -------------------------------------------------------------------


def _place_of(statement: str, error: Exception) -> PageDocument | None:
    """Line, column and text of the line where a statement is wrong, as far as the error tells."""
    if not isinstance(error, InvalidRequest):
        return None
    line, column = error.details.get("line"), error.details.get("column")
    lines = statement.split("\n")
    if not isinstance(line, int) or not isinstance(column, int) or not 1 <= line <= len(lines):
        return None
    return {"line": line, "column": column + 1, "text": lines[line - 1][: column + 80]}
