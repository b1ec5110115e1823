"""`widerow row put --input`: rows as JSON lines, in batches; and one row as a JSON object.

For more than a few thousand rows, or for files of other formats, there is `widerow import`, which
spreads them over the keys and goes on after a kill.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from widerow.cli.answers import tell
from widerow.cli.command import CommandFailed
from widerow.cli.progress import row_bar
from widerow.cli.tablestore.asking import open_client, write_condition
from widerow.cli.tablestore.keys import KeyColumns, named_json_key
from widerow.cli.tablestore.output import note
from widerow.cli.tablestore.words import WordInvalid
from widerow.client.connection import Client
from widerow.client.failures import Refused
from widerow.client.rows import PIECE_BYTES, CellEdit, encode_edits
from widerow.client.tables import TableFacts, known_table
from widerow.client.writing import PUT, Change, WriteIf, send, send_once
from widerow.limits import BATCH_WRITE_ROWS_MAX
from widerow.transfer.layout import CELLS, Reading, cells_of, plain_cells

__all__ = ["BatchesDone", "json_row", "put_batches", "put_lines"]

_TOLD: Final = 10  # rows whose errors are printed; of the others there is the count
_REFUSED: Final = 1


ReadLine = Callable[[str], tuple[KeyColumns, list[CellEdit]]]


class _Line(NamedTuple):
    number: int
    key: KeyColumns
    data: bytes


def json_row(text: str, table: TableFacts) -> tuple[KeyColumns, list[CellEdit]]:
    """The row that a JSON object is: its columns, or `@cells` with versions.

    A column of null is left out. Raises: `WordInvalid`.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WordInvalid(f"it is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise WordInvalid('it is not a JSON object such as {"id": 1, "name": "x"}')
    key = named_json_key(fields, table)
    reading = Reading(table.key, table.defined, 0)
    try:
        if CELLS not in fields:
            cells = [CellEdit(each.column, each.value) for each in plain_cells(fields, reading)]
            return key, cells
        return key, [
            CellEdit(each.column, each.value, each.version) for each in cells_of(fields[CELLS])
        ]
    except ValueError as error:
        raise WordInvalid(str(error)) from error


class BatchesDone(NamedTuple):
    """How many rows were stored, and how many refused."""

    stored: int
    refused: int


def put_lines(table_name: str, given: Mapping[str, Any]) -> int:
    """Put the rows of `--input`; 1 if any was refused. Raises: `WiderowError`."""
    with open_client(given) as client, _opened(given["input"]) as lines:
        table = known_table(client, table_name)
        condition = write_condition(given, table)
        done = put_batches(client, table, lines, lambda text: json_row(text, table), condition)
    words = f"{done.stored:,} row{'' if done.stored == 1 else 's'} put into {table.name}"
    words += f", {done.refused:,} refused" if done.refused else ""
    tell(given, {"table": table.name, **done._asdict()}, lambda: note(words))
    return _REFUSED if done.refused else 0


def put_batches(
    client: Client, table: TableFacts, lines: Iterator[str], read: ReadLine, condition: WriteIf
) -> BatchesDone:
    """Put a row of each line that is not blank; the errors of the first ten are said.

    `read` makes a row of a line or raises `WordInvalid`, which refuses it. Raises: `WiderowError`.
    """
    stored = refused = 0

    def refuse(number: int, reason: object) -> None:
        nonlocal refused
        refused += 1
        if refused <= _TOLD:
            note(f"line {number}: {reason}")

    with row_bar(f"putting into {table.name}") as bar:
        for batch in _batches(lines, table, read, refuse):
            errors = _sent(client, table, batch, condition)
            for place, error in errors.items():
                refuse(batch[place].number, error)
            stored += len(batch) - len(errors)
            bar(0, stored, refused)
    return BatchesDone(stored, refused)


@contextmanager
def _opened(name: str) -> Iterator[Iterator[str]]:
    if name == "-":
        yield iter(sys.stdin)
        return
    try:
        with open(name, encoding="utf-8", newline="\n") as file:  # noqa: PTH123  # a name that was typed
            yield iter(file)
    except OSError as error:
        raise WordInvalid(f"{name} cannot be read: {error.strerror or error}") from error


def _batches(
    lines: Iterator[str], table: TableFacts, read: ReadLine, refuse: Callable[[int, object], None]
) -> Iterator[list[_Line]]:
    """Batches of 200 rows or 3 MB at most, in which no key is twice."""
    batch: list[_Line] = []
    keys: set[KeyColumns] = set()
    size = 0
    for number, text in enumerate(_texts(lines), 1):
        if not text.strip():
            continue
        try:
            key, edits = read(text)
            line = _Line(number, key, encode_edits(key, edits))
        except (WordInvalid, UnicodeEncodeError) as error:
            refuse(number, error)
            continue
        full = len(batch) == BATCH_WRITE_ROWS_MAX or size + len(line.data) > PIECE_BYTES
        if batch and (full or (key in keys and not table.auto_increment)):
            yield batch
            batch, keys, size = [], set(), 0
        batch.append(line)
        keys.add(key)
        size += len(line.data)
    if batch:
        yield batch


def _texts(lines: Iterator[str]) -> Iterator[str]:
    try:
        yield from lines
    except UnicodeDecodeError as error:
        raise CommandFailed(f"the input is not UTF-8: {error}") from error


def _sent(
    client: Client, table: TableFacts, batch: list[_Line], condition: WriteIf
) -> dict[int, Refused]:
    """Send a batch; the errors of its rows by their positions.

    Where a second time would do more than the first, it is sent once, and an error that passes is
    an error of its row.
    """
    changes = [Change(PUT, line.data, condition.message) for line in batch]
    if condition == WriteIf() and table.auto_increment is None:
        return send(client, table.name, changes)
    return send_once(client, table.name, changes)
