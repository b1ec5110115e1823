"""The work of `widerow row get|put|update|delete|scan|count`; each returns the exit code.

0: done. 1: the answer is no: there is no such row, the condition does not hold, some rows of many
were refused. 2 is the error of everything else, which is raised.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from widerow.cli.connection import endpoint_of
from widerow.cli.flags import listed
from widerow.cli.progress import RowBar, row_bar
from widerow.cli.tablestore.asking import (
    Given,
    only_columns,
    open_client,
    read_file,
    read_options,
    versions_asked,
    write_condition,
)
from widerow.cli.tablestore.batches import json_row, put_lines
from widerow.cli.tablestore.counting import Counting, split_ranges
from widerow.cli.tablestore.documents import cell_grid
from widerow.cli.tablestore.keys import (
    KeyBounds,
    KeyColumns,
    key_range,
    split_row_words,
)
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
from widerow.client.writing import (
    delete_one_row,
    put_one_row,
    update_one_row,
)
from widerow.limits import INT32_MAX
from widerow.model.tablestore.row import CellOperation
from widerow.rows.reading import Row
from widerow.transfer.layout import json_value
from widerow.wire.tablestore.errors.codes import CONDITION_CHECK_FAIL

__all__ = [
    "edit_of",
    "run_count",
    "run_delete",
    "run_get",
    "run_put",
    "run_scan",
    "run_update",
]

_SHOWN_ROWS: Final = 100  # of a table on a terminal, where no limit is given
_NO: Final = 1


# --- reads ---------------------------------------------------------------------------------------


def run_get(table_name: str, words: Sequence[str], given: Given) -> int:
    """`widerow row get`."""
    shown = row_format(given["output"])
    with open_client(given) as client:
        table = known_table(client, table_name)
        key = _key_alone(words, table)
        row = fetch_row(client, table.name, key, read_options(given, table))
    if row is None:
        note(f"{table.name} has no such row" + (", or --where hides it" if given["where"] else ""))
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


def run_scan(table_name: str, given: Given) -> int:
    """`widerow row scan`."""
    shown = row_format(given["output"])
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
        with _scan_bar(table.name) as bar:
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


@contextmanager
def _scan_bar(table: str) -> Iterator[RowBar]:
    """A bar where the rows go elsewhere; on a terminal the rows themselves are the progress."""
    if sys.stdout.isatty():
        yield lambda _behind, _rows, _rejected=0: None
        return
    with row_bar(f"reading {table}") as bar:
        yield bar


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


def run_count(table_name: str, given: Given) -> int:
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
    if given["as_json"]:
        sys.stdout.write(json.dumps({"table": table.name, "rows": count}) + "\n")
    else:
        sys.stdout.write(f"{count}\n")
    return 0


# --- writes --------------------------------------------------------------------------------------


def run_put(table_name: str, words: Sequence[str], given: Given) -> int:
    """`widerow row put`."""
    if given["input"] is not None:
        if words or given["json"] is not None:
            raise WordInvalid("--input brings the rows; leave out the other words and --json")
        return put_lines(table_name, given)
    with open_client(given) as client:
        table = known_table(client, table_name)
        key, edits = _row_given(words, given["json"], table)
        condition = write_condition(given, table)
        try:
            made = put_one_row(client, table.name, key, edits, condition)
        except Refused as error:
            return _refused(error)
    if made is not None:
        _print_made(made)
    return 0


def _print_made(row: Row) -> None:
    """What the server has chosen or counted: the only thing that a write has to say."""
    shown = dict[str, Any](row.key)
    shown.update({cell.column: cell.value for cell in row.cells})
    sys.stdout.write(" ".join(f"{name}={shown_value(value)}" for name, value in shown.items()))
    sys.stdout.write("\n")


def _row_given(
    words: Sequence[str], document: str | None, table: TableFacts
) -> tuple[KeyColumns, list[CellEdit]]:
    """The row that words or a JSON object give. Raises: `WordInvalid`."""
    if document is None:
        key, others = split_row_words(words, table, read_file)
        return key, [edit_of(each, table) for each in others]
    if words:
        raise WordInvalid("--json brings the row; leave out the other words")
    try:
        return json_row(document, table)
    except WordInvalid as error:
        raise WordInvalid(f"--json: {error}") from error


def edit_of(word: Assignment, table: TableFacts) -> CellEdit:
    """The put of a column that was typed. Raises: `WordInvalid`."""
    kind = word.kind or table.defined.get(word.name)
    return CellEdit(word.name, parse_value(word.name, word.text, kind, read_file), word.version)


def run_update(table_name: str, words: Sequence[str], given: Given) -> int:
    """`widerow row update`."""
    with open_client(given) as client:
        table = known_table(client, table_name)
        key, edits = _row_given(words, given["json"], table)
        edits += map(_increment, given["increment"])
        edits += map(_deletion, given["delete"])
        if not edits:
            raise WordInvalid("nothing to change: give NAME=VALUE, --increment or --delete")
        condition = write_condition(given, table)
        try:
            made = update_one_row(client, table.name, key, edits, condition)
        except Refused as error:
            return _refused(error)
    if made is not None:
        _print_made(made)
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


def run_delete(table_name: str, words: Sequence[str], given: Given) -> int:
    """`widerow row delete`."""
    with open_client(given) as client:
        table = known_table(client, table_name)
        key = _key_alone(words, table)
        condition = write_condition(given, table)
        shown = ", ".join(f"{name}={_shown_key(value)}" for name, value in key)
        sure = given["yes"] or not sys.stdin.isatty()  # one row, and its key was typed
        if not confirmed(f"Delete the row {shown} of {table.name}?", yes=sure):
            note("nothing was deleted")
            return _NO
        try:
            delete_one_row(client, table.name, key, condition)
        except Refused as error:
            return _refused(error)
    return 0


def _shown_key(value: Any) -> str:  # noqa: ANN401  # values of keys, and markers
    return shown_value(value, typed=True) if isinstance(value, (int, str, bytes)) else str(value)


def _refused(error: Refused) -> int:
    """The exit code where a condition does not hold; any other error is raised."""
    if error.code != CONDITION_CHECK_FAIL:
        raise error
    note(f"widerow: nothing was written: {error}")
    return _NO
