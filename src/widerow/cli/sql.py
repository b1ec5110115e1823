"""`widerow sql`: statements of SQL, one, a file of them, or a conversation."""

import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.cli.answers import tell_error
from widerow.cli.command import CommandFailed, Flag, Given, Positional, command, switch
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import server_flags
from widerow.cli.shell.running import Shell, print_line, run_shell
from widerow.client.connection import Client
from widerow.client.failures import RequestFailed
from widerow.client.statements import StatementAnswer, ask_statement
from widerow.errors import WiderowError
from widerow.text_lines import text_lines

__all__ = ["SQL", "SqlLines", "SqlSession", "completed_names", "rows_as_table"]

_PROMPT: Final = "sql> "
_FAILED: Final = 1
_KEYWORDS: Final = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "DISTINCT", "JOIN"),
    *("LEFT JOIN", "ON", "USING", "AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS NULL", "AS"),
    *("SHOW TABLES", "SHOW INDEX IN", "DESCRIBE", "EXPLAIN", "CREATE TABLE", "ALTER TABLE"),
    *("DROP MAPPING TABLE", "INSERT INTO", "VALUES", "UPDATE", "SET", "DELETE FROM"),
)


class SqlLines:
    """Collects lines until a semicolon ends a statement; quoted ones do not."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    @property
    def pending(self) -> bool:
        """Whether a statement was begun."""
        return bool("".join(self._lines).strip())

    def take(self, line: str) -> Sequence[str]:
        """The statements that this line completes."""
        *whole, rest = _divided("\n".join([*self._lines, line]))
        self._lines = [rest] if rest.strip() else []
        return [each for each in whole if each.strip()]

    def end(self) -> Sequence[str]:
        """What has been collected, as one statement."""
        rest, self._lines = "\n".join(self._lines).strip(), []
        return [rest] if rest else []


def _divided(text: str) -> list[str]:
    """The parts of a text between semicolons that stand in no quotes."""
    parts, quote, first = [], "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter == ";":
            parts.append(text[first:at])
            first = at + 1
    return [*parts, text[first:]]


class SqlSession:
    """The connection of a shell, and how it prints."""

    def __init__(self, client: Client, form: Callable[[StatementAnswer], Iterator[str]]) -> None:
        self.finished = False
        self.write: Callable[[str], None] = print_line
        self.told = False  # whether times and capacity units are printed as well
        self.client = client
        self._form = form
        self._names: list[str] | None = None

    @property
    def prompt(self) -> str:
        """The text before a line that is typed."""
        return _PROMPT

    def run(self, statement: str) -> int:
        """Ask a statement and print its answer, or what is wrong; the exit code."""
        try:
            self.ask(statement)
        except (RequestFailed, WiderowError) as error:
            tell_error(error)
            return _FAILED
        return 0

    def ask(self, statement: str) -> None:
        """Ask a statement and print its answer. Raises as `ask_statement`."""
        begun = time.perf_counter()
        answer = ask_statement(self.client, statement)
        for line in self._form(answer):
            self.write(line)
        if self.told:
            self.write(_costs(answer, time.perf_counter() - begun))
        if not statement.lstrip()[:6].upper().startswith(("SELECT", "SHOW", "DESC")):
            self._names = None  # tables and columns may be others now

    def names(self) -> list[str]:
        """The names of tables and of their columns, asked for once; none where that fails."""
        if self._names is None:
            self._names = []
            try:
                tables = [str(row[0]) for row in ask_statement(self.client, "SHOW TABLES").rows]
                described = [ask_statement(self.client, f"DESCRIBE `{each}`") for each in tables]
            except WiderowError:
                return []
            columns = {str(row[0]) for answer in described for row in answer.rows}
            self._names = [*tables, *sorted(columns)]
        return self._names

    def close(self) -> None:
        """End the connection."""
        self.client.close()


def _costs(answer: StatementAnswer, seconds: float) -> str:
    counted = "" if answer.columns is None else f"{_rows(len(answer.rows))} in "
    costs = [
        f"{each.table}{f' by index {each.search}' if each.search else ''}: {each.read} read, "
        f"{each.write} write units"
        for each in answer.costs
    ]
    return "; ".join([f"{counted}{seconds * 1000:.0f} ms", *costs])


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


# --- forms of answers ------------------------------------------------------------------------


def rows_as_table(answer: StatementAnswer) -> Iterator[str]:
    """The lines of a table with a head; of a statement without rows what it changed."""
    if answer.columns is None:
        yield "OK" if answer.affected is None else f"OK, {_rows(answer.affected)} changed"
        return
    shown = Table()
    for place, name in enumerate(answer.columns):
        values = [row[place] for row in answer.rows if row[place] is not None]
        is_number = bool(values) and all(type(value) in (int, float) for value in values)
        shown.add_column(Text(name), overflow="fold", justify="right" if is_number else "left")
    for row in answer.rows:
        shown.add_row(*[Text(_word(each), "dim" if each is None else "") for each in row])
    console = Console(file=io.StringIO(), width=Console().width)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    yield console.file.getvalue().rstrip("\n")


def _word(value: object) -> str:
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, bool):
        return str(value).lower()
    return "NULL" if value is None else str(value)


def _as_json(answer: StatementAnswer) -> Iterator[str]:
    """A line for each row; for a statement without rows what it changed."""
    if answer.columns is None:
        yield json.dumps({"affected": answer.affected})
        return
    for row in answer.rows:
        values = [f"X'{value.hex()}'" if isinstance(value, bytes) else value for value in row]
        yield json.dumps(dict(zip(answer.columns, values, strict=True)), ensure_ascii=False)


def _as_csv(answer: StatementAnswer) -> Iterator[str]:
    """A line of headers, then a line for each row; NULL is an empty field."""
    if answer.columns is None:
        return
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(answer.columns)
    lines.writerows(["" if each is None else _word(each) for each in row] for row in answer.rows)
    yield file.getvalue().rstrip("\n")


def _form(given: Given) -> Callable[[StatementAnswer], Iterator[str]]:
    if given["as_json"] and given["csv"]:
        raise CommandFailed("give --json or --csv, not both")
    if given["as_json"]:
        return _as_json
    return _as_csv if given["csv"] else rows_as_table


# --- the command -----------------------------------------------------------------------------


def _run_sql(words: Sequence[str], given: Given) -> int:
    """Run statements; the exit code of the first that failed. Raises: `WiderowError`."""
    file = given["file"]
    if words and file is not None:
        raise CommandFailed("give statements or --file, not both")
    session = SqlSession(Client(endpoint_of(given)), _form(given))
    session.told = given["timing"]
    try:
        script = None if file is None else text_lines(Path(file).read_bytes().decode())
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{file} cannot be read: {error}") from error
    try:
        return run_shell(_shell(session), words, script)
    finally:
        session.close()


def _shell(session: SqlSession) -> Shell:
    def run_words(words: Sequence[str]) -> int:
        reader = SqlLines()
        statements = [each for word in words for each in (*reader.take(word), *reader.end())]
        return max([session.run(each) for each in statements], default=0)

    def meet() -> None:
        session.told = True
        session.write("Statements end with ; and Tab completes tables, columns and words of SQL.")

    return Shell(
        session,
        history="sql-history",
        mark="> ",
        reader=SqlLines,
        script_reader=SqlLines,
        run=session.run,
        run_words=run_words,
        completions=partial(completed_names, session),
        meet=meet,
        interrupted=session.close,  # an answer may be on its way
    )


def completed_names(session: SqlSession, line: str) -> list[str]:
    """The tables, columns and words of SQL that may end the word under the cursor."""
    begun = line.rpartition(" ")[2]
    words: list[Any] = [*session.names(), *_KEYWORDS]
    return [f"{word} " for word in words if word.lower().startswith(begun.lower())]


SQL: Final = command(
    _run_sql,
    Positional("statements", "[STATEMENT]...", "Statements of SQL, in quotes.", "*"),
    Flag("file", "Run the statements of this file.", "FILE", spelled=("--file", "-f")),
    switch("as_json", "Print a JSON object for each row."),
    switch("csv", "Print rows as CSV."),
    switch("timing", "Print times and capacity units, too."),
    *server_flags("The server; any that speaks Tablestore."),
    examples="""
`widerow sql` — a conversation: statements end with `;`, Tab completes
`widerow sql 'SELECT customer, sum(total) FROM orders GROUP BY customer'`
`widerow sql 'EXPLAIN SELECT * FROM orders WHERE customer = "ann"'` — what would be read
`widerow sql --json 'SELECT * FROM orders LIMIT 10' | jq .total`
`widerow sql -f report.sql --csv > report.csv` — every statement of a file
Exit codes: 0 done, 1 a statement was refused or there was no answer, 2 the flags cannot be used.
""",
)
