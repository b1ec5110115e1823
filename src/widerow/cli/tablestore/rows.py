"""`widerow row`: read and write rows. Each command returns its exit code.

0: done. 1: the answer is no: there is no such row, the condition does not hold, some rows of many
were refused. 2 is the error of everything else, which is raised.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, Positional, command, group, switch
from widerow.cli.connection import endpoint_of
from widerow.cli.flags import listed, server_flags
from widerow.cli.names import TABLE_NAME
from widerow.cli.progress import row_bar
from widerow.cli.tablestore.asking import (
    only_columns,
    open_client,
    read_file,
    read_options,
    versions_asked,
    write_condition,
)
from widerow.cli.tablestore.batches import json_row, put_lines
from widerow.cli.tablestore.counting import Counting, split_ranges
from widerow.cli.tablestore.documents import cell_grid, row_document
from widerow.cli.tablestore.keys import KeyBounds, KeyColumns, key_range, split_row_words
from widerow.cli.tablestore.output import (
    RowFormat,
    confirmed,
    note,
    print_grid,
    row_format,
    row_sink,
)
from widerow.cli.tablestore.words import (
    Assignment,
    WordInvalid,
    parse_assignment,
    parse_column_word,
    parse_value,
    shown_value,
)
from widerow.client.failures import Refused
from widerow.client.reading import RowPage, fetch_row, scan_pages
from widerow.client.rows import CellEdit, decode_rows
from widerow.client.tables import TableFacts, known_table
from widerow.client.writing import delete_one_row, put_one_row, update_one_row
from widerow.limits import INT32_MAX
from widerow.model.tablestore.row import CellOperation
from widerow.rows.plain_values import Row
from widerow.transfer.layout import json_value
from widerow.wire.tablestore.errors.codes import CONDITION_CHECK_FAIL

__all__ = ["ROW", "edit_of"]

_SHOWN_ROWS: Final = 100  # of a table on a terminal, where no limit is given
_NO: Final = 1


# --- reads ---------------------------------------------------------------------------------------


def _get(table_name: str, words: Sequence[str], given: Given) -> int:
    shown = row_format(given)
    with open_client(given) as client:
        table = known_table(client, table_name)
        key = _key_alone(words, table)
        row = fetch_row(client, table.name, key, read_options(given, table))
    if row is None:
        note(f"{table.name} has no such row" + (", or --where hides it" if given["where"] else ""))
        if shown is RowFormat.JSON:
            _print_rows([], shown, table, given)
        return _NO
    (row,) = only_columns([row], listed(given["columns"]))
    if shown is RowFormat.TABLE:
        print_grid(cell_grid(row))
        return 0
    _print_rows([row], shown, table, given)
    return 0


def _key_alone(words: Sequence[str], table: TableFacts) -> KeyColumns:
    if table.auto_increment is not None and len(words) < len(table.key):
        raise WordInvalid(
            f"the key of {table.name} is {', '.join(column.name for column in table.key)}"
        )
    key, others = split_row_words(words, table, read_file)
    if others:
        raise WordInvalid(f"{others[0].name} is not in the key of {table.name}")
    return key


def _print_rows(rows: Sequence[Row], shown: RowFormat, table: TableFacts, given: Given) -> None:
    sink = row_sink(
        shown,
        [column.name for column in table.key],
        listed(given["columns"]),
        versions=_has_versions(given),
    )
    sink.add(rows)
    sink.finish()


def _has_versions(given: Given) -> bool:
    return versions_asked(given["max_versions"]) > 1


def _scan(table_name: str, given: Given) -> int:
    shown = row_format(given)
    limit = _limit(given["limit"], shown)
    wanted = listed(given["columns"])
    with open_client(given) as client:
        table = known_table(client, table_name)
        asked = key_range(_bounds(given), table, read_file)
        sink = row_sink(
            shown, [column.name for column in table.key], wanted, versions=_has_versions(given)
        )
        pages = scan_pages(client, table.name, asked, read_options(given, table), limit)
        count, last = 0, RowPage([], b"")
        with row_bar(f"reading {table.name}", prints_rows=True) as bar:
            for last in pages:
                sink.add(only_columns(last.rows, wanted))
                count += len(last.rows)
                bar(0, count)
    sink.finish()
    if shown is RowFormat.TABLE:
        note(_counted(count, table.name))
    if last.next_key:
        note(_going_on(last.next_key, given))
    return 0


def _counted(count: int, table: str) -> str:
    return f"{count:,} row{'' if count == 1 else 's'} of {table}"


def _going_on(next_key: bytes, given: Given) -> str:
    key = [json_value(value) for _, value in decode_rows(next_key)[0].key]
    if given["prefix"]:
        return "there are more; --limit 0 shows all"
    words = json.dumps(key, ensure_ascii=False, separators=(",", ":"))
    return f"there are more; --limit 0 shows all, and --from '{words}' goes on from here"


def _limit(given: int | None, shown: RowFormat) -> int | None:
    if given is None:
        return _SHOWN_ROWS if shown is RowFormat.TABLE else None
    if not 0 <= given <= INT32_MAX:
        raise WordInvalid(f"--limit {given}: write a number from 1 on, or 0 for all rows")
    return given or None


def _bounds(given: Given) -> KeyBounds:
    return KeyBounds(
        given["prefix"] or "",
        given["from_"] or "",
        given["to"] or "",
        backward=bool(given.get("reverse")),
    )


def _count(table_name: str, given: Given) -> int:
    if not 1 <= given["workers"] <= 64:
        raise click.BadParameter(f"--workers is 1 to 64, not {given['workers']}")
    """`widerow row count`. Interrupted, it says what was counted until then."""
    endpoint = endpoint_of(given)
    with open_client(given) as client:
        table = known_table(client, table_name)
        asked = key_range(_bounds(given), table, read_file)
        options = read_options(given, table)
        ranges = split_ranges(client, table, asked)
    if not options.columns and not options.filter:
        options = options._replace(columns=(table.key[0].name,))
    counting = Counting(ranges)
    try:
        with row_bar(f"counting {table.name}", len(ranges)) as bar:
            count = counting.run(
                endpoint, table, options, given["workers"], lambda step: bar(step.done, step.rows)
            )
    except KeyboardInterrupt:
        done, parts, rows = counting.progress
        note(f"interrupted: {_counted(rows, table.name)} until now, {done} of {parts} parts whole")
        raise
    document = {"table": table.name, "rows": count}
    tell(given, document, lambda: sys.stdout.write(f"{count}\n"))
    return 0


# --- writes --------------------------------------------------------------------------------------


def _put(table_name: str, words: Sequence[str], given: Given) -> int:
    if given["input"] is not None:
        if words:
            raise WordInvalid("--input brings the rows; leave out the other words")
        return put_lines(table_name, given)
    with open_client(given) as client:
        table = known_table(client, table_name)
        key, edits = _row_given(words, table)
        condition = write_condition(given, table)
        try:
            made = put_one_row(client, table.name, key, edits, condition)
        except Refused as error:
            return _refused(error, table, given)
    _tell_written(made, table, given)
    return 0


def _tell_written(made: Row | None, table: TableFacts, given: Given) -> None:
    """Say that a row is written, with what the server has chosen or counted of it."""
    document = {
        "table": table.name,
        "written": True,
        "row": None if made is None else row_document(made, versions=False),
    }
    tell(given, document, lambda: _print_made(made))


def _print_made(row: Row | None) -> None:
    """What the server has chosen or counted: the only thing that a write has to say."""
    if row is None:
        return
    shown = dict[str, Any](row.key)
    shown.update({cell.column: cell.value for cell in row.cells})
    sys.stdout.write(" ".join(f"{name}={shown_value(value)}" for name, value in shown.items()))
    sys.stdout.write("\n")


def _row_given(words: Sequence[str], table: TableFacts) -> tuple[KeyColumns, list[CellEdit]]:
    """The row that words or one JSON object give. Raises: `WordInvalid`."""
    if not any(word.startswith("{") for word in words):
        key, others = split_row_words(words, table, read_file)
        return key, [edit_of(each, table) for each in others]
    if len(words) > 1:
        raise WordInvalid(
            "a JSON object is the whole row: leave out the other words, and write a text of the "
            "key that begins with { in double quotes, as in '\"{\"'"
        )
    try:
        return json_row(words[0], table)
    except WordInvalid as error:
        raise WordInvalid(f"the row: {error}") from error


def edit_of(word: Assignment, table: TableFacts) -> CellEdit:
    """The put of a column that was typed. Raises: `WordInvalid`."""
    kind = word.kind or table.defined.get(word.name)
    return CellEdit(word.name, parse_value(word.name, word.text, kind, read_file), word.version)


def _update(table_name: str, words: Sequence[str], given: Given) -> int:
    with open_client(given) as client:
        table = known_table(client, table_name)
        key, edits = _row_given(words, table)
        edits += map(_increment, given["increment"])
        edits += map(_deletion, given["delete"])
        if not edits:
            raise WordInvalid("nothing to change: give NAME=VALUE, --increment or --delete")
        condition = write_condition(given, table)
        try:
            made = update_one_row(client, table.name, key, edits, condition)
        except Refused as error:
            return _refused(error, table, given)
    _tell_written(made, table, given)
    return 0


def _increment(word: str) -> CellEdit:
    given = parse_assignment(word)
    value = parse_value(given.name, given.text, given.kind or "integer", read_file)
    if given.version is not None or isinstance(value, bool) or not isinstance(value, int):
        raise WordInvalid(f"--increment {word}: write NAME=NUMBER, with a whole number")
    return CellEdit(given.name, value, None, CellOperation.INCREMENT)


def _deletion(word: str) -> CellEdit:
    name, kind, version = parse_column_word(word)
    if kind is not None:
        raise WordInvalid(f"--delete {word}: write NAME, or NAME@VERSION for one version")
    if version is None:
        return CellEdit(name, None, None, CellOperation.DELETE_ALL_VERSIONS)
    return CellEdit(name, None, version, CellOperation.DELETE_ONE_VERSION)


def _delete(table_name: str, words: Sequence[str], given: Given) -> int:
    with open_client(given) as client:
        table = known_table(client, table_name)
        key = _key_alone(words, table)
        condition = write_condition(given, table)
        shown = ", ".join(f"{name}={_shown_key(value)}" for name, value in key)
        sure = given["yes"] or not sys.stdin.isatty()  # one row, and its key was typed
        if not confirmed(f"Delete the row {shown} of {table.name}?", yes=sure):
            no = {"table": table.name, "written": False, "reason": "the answer was no"}
            tell(given, no, lambda: note("nothing was deleted"))
            return _NO
        try:
            delete_one_row(client, table.name, key, condition)
        except Refused as error:
            return _refused(error, table, given)
    _tell_written(None, table, given)
    return 0


def _shown_key(value: Any) -> str:  # noqa: ANN401  # values of keys, and markers
    return shown_value(value, typed=True) if isinstance(value, (int, str, bytes)) else str(value)


def _refused(error: Refused, table: TableFacts, given: Given) -> int:
    """The exit code where a condition does not hold; any other error is raised."""
    if error.code != CONDITION_CHECK_FAIL:
        raise error
    no = {"table": table.name, "written": False, "reason": str(error)}
    tell(given, no, lambda: note(f"widerow: nothing was written: {error}"))
    return _NO


# --- the commands --------------------------------------------------------------------------------

_SERVER: Final = server_flags("The server; any that speaks Tablestore.")
_KEY_WORDS: Final = Positional(
    "key", "KEY...", "Values in the order of the key, or NAME=VALUE.", "+"
)
_ROW_WORDS: Final = Positional(
    "row",
    "KEY... [NAME=VALUE]...",
    "The key, then columns: NAME=VALUE, NAME:TYPE=VALUE, NAME@VERSION=VALUE. Or a JSON object.",
    "*",
)
_OUTPUT: Final = Flag(
    "output",
    "table, json, jsonl or csv; table on a terminal, jsonl elsewhere if not given.",
    "FORMAT",
)
_READ: Final = (
    Flag("columns", "Only these columns.", "A,B"),
    Flag("where", 'A filter, which the server evaluates: "age >= 18".', "CONDITION"),
    Flag("max_versions", "Versions of each column; 1 if not given.", "NUMBER or all"),
    Flag(
        "time_range",
        "Versions from A on and before B: 2025-01-01..2025-02-01, or milliseconds.",
        "A..B",
    ),
)
_RANGE: Final = (
    Flag("prefix", "Keys that begin so: c-1, or a text and a star: c-*.", "KEY"),
    Flag("from_", "Where to begin, itself included.", "KEY"),
    Flag("to", "Where to end, itself not included.", "KEY"),
)
_IF: Final = (
    Flag("if_", 'Only if the row is like this: "amount < 10".', "CONDITION"),
    switch("if_exists", "Only if the row is there."),
    switch("if_not_exists", "Only if there is no such row."),
)
_CODES: Final = "Exit codes: 0 done, {no}, 2 it failed."
_WRITE_CODES: Final = _CODES.format(no="1 the condition does not hold")
_GET: Final = command(
    _get,
    TABLE_NAME,
    _KEY_WORDS,
    *_READ,
    _OUTPUT,
    JSON_OUTPUT,
    *_SERVER,
    help="Show one row: every column with its type and version, or as JSON.",
    examples=f"""
`widerow row get cards c-1 7` — by the values of the key, in order
`widerow row get cards CardID=c-1 OrderNumber=7 --columns amount --output json`
`widerow row get cards c-1 7 --max-versions all --time-range 2025-01-01..`

{_CODES.format(no="1 there is no such row")}
""",
)
_PUT: Final = command(
    _put,
    TABLE_NAME,
    _ROW_WORDS,
    JSON_OUTPUT,
    Flag("input", "Rows as JSON lines, from a file or from - (stdin).", "FILE"),
    *_IF,
    *_SERVER,
    help="Put a row, in place of any that has its key; or many, as JSON lines.",
    examples=f"""
`widerow row put cards c-1 7 amount=250 city=Hangzhou`
`widerow row put cards c-1 7 score:double=1 note:string=42 photo:binary=@photo.png`
`widerow row put cards '{{"CardID": "c-1", "OrderNumber": 7, "amount": 250}}'`
`widerow row put cards --input - < rows.jsonl` — as `row scan` prints them

{_CODES.format(no="1 the condition does not hold, or rows were refused")}
""",
)
_UPDATE: Final = command(
    _update,
    TABLE_NAME,
    _ROW_WORDS,
    Flag("increment", "Add to a column of whole numbers; repeatable.", "NAME=NUMBER", default=[]),
    Flag("delete", "Delete a column, or one version; repeatable.", "NAME[@VERSION]", default=[]),
    JSON_OUTPUT,
    *_IF,
    *_SERVER,
    help="Change some columns of a row and leave the others; makes the row if it is not there.",
    examples=f"""
`widerow row update cards c-1 7 city=Shanghai --delete note`
`widerow row update cards c-1 7 --increment visits=1` — prints the new count
`widerow row update cards c-1 7 paid=true --if "amount = 250"`

{_WRITE_CODES}
""",
)
_DELETE: Final = command(
    _delete,
    TABLE_NAME,
    _KEY_WORDS,
    switch("yes", "Do not ask."),
    JSON_OUTPUT,
    *_IF,
    *_SERVER,
    help="Delete one row. Asks first on a terminal.",
    examples=f"""
`widerow row delete cards c-1 7`
`widerow row delete cards c-1 7 --if "paid = true" --yes`

{_WRITE_CODES}
""",
)
_SCAN: Final = command(
    _scan,
    TABLE_NAME,
    *_RANGE,
    switch("reverse", "From the greatest key to the smallest."),
    Flag("limit", "Rows at most; 0 for all.", "NUMBER", int),
    *_READ,
    _OUTPUT,
    JSON_OUTPUT,
    *_SERVER,
    help="Show rows in the order of their keys.",
    examples="""
`widerow row scan cards` — the first 100 rows on a terminal, all of them into a pipe
`widerow row scan cards --prefix c-1 --reverse --limit 10` — the last ten of a card
`widerow row scan cards --prefix 'c-*' --where "amount >= 100 and city = 'Hangzhou'"`
`widerow row scan cards --from c-1,7 --to c-2 --columns amount --output csv`
Exit codes: 0 done, 2 it failed.
""",
)
_COUNT: Final = command(
    _count,
    TABLE_NAME,
    *_RANGE,
    Flag("where", 'Only rows that are like this: "age >= 18".', "CONDITION"),
    Flag("workers", "Connections that read at one time, 1 to 64.", "NUMBER", int, 4),
    JSON_OUTPUT,
    *_SERVER,
    help="Count rows, by reading them: there is no number that the server keeps.",
    examples="""
`widerow row count cards`
`widerow row count cards --where "paid is null" --workers 8`
`widerow row count cards --prefix c-1 --json`
Exit codes: 0 done, 2 it failed.
""",
)
ROW: Final = group(
    "Example: `widerow row put cards c-1 7 amount=250`, then `widerow row scan cards`",
    {
        "get": _GET,
        "put": _PUT,
        "update": _UPDATE,
        "delete": _DELETE,
        "scan": _SCAN,
        "count": _COUNT,
    },
)
