"""`get table`: read rows (cli §6)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag, Group
from widerow.cli.kv.data.selection import INDEX_FLAGS, KEY_FLAGS, Selection, check_fields, select
from widerow.cli.kv.data.values import counted, key_json, table_of
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Session
from widerow.nosql import Row

__all__ = ["GET"]


def _check(_: Session, given: Arguments) -> None:
    check_fields("table", given)
    if given.has("-report-size") and given.has("-file"):
        raise ArgumentFault("-report-size and -file cannot be used together")


def _get(session: Session, given: Arguments) -> str:
    table = table_of(session, given.need("-name"))
    selection = select(session, table, given)
    if given.has("-report-size"):
        return _sizes(selection.rows())
    rows = _shown(_found(selection), given)
    file = given.get("-file")
    if file is not None:
        return _to_file(rows, file, table.name)
    if selection.one_row:
        row = next(rows, None)
        if row is None:
            return f"Key not found in store: {key_json(selection.definition, selection.key)}"
        return row
    session.write("")
    count = session.show(rows)
    if count:
        session.write("")
    return f"{counted(count, 'row')} returned"


def _found(selection: Selection) -> Iterator[Row]:
    if not selection.one_row:
        return selection.rows()
    row = selection.table.get(selection.key)
    return iter(() if row is None else (row,))


def _shown(rows: Iterable[Row], given: Arguments) -> Iterator[str]:
    pretty, keys = given.has("-pretty"), given.has("-keyonly")
    for row in rows:
        yield row.key.to_json(pretty=pretty) if keys else row.to_json(pretty=pretty)


def _to_file(rows: Iterable[str], name: str, table: str) -> str:
    count = 0
    with Path(name).open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(f"{row}\n")
            count += 1
    return f"{counted(count, 'row')} returned from {table} table\nWrote result to file {name}"


class _Sizes:
    """Of one kind of bytes: how many at least, at most and on average."""

    def __init__(self) -> None:
        """Of nothing."""
        self.least = self.most = self.sum = 0

    def add(self, size: int, *, first: bool) -> None:
        """Count one more."""
        self.least = size if first else min(self.least, size)
        self.most = max(self.most, size)
        self.sum += size

    def text(self, count: int) -> str:
        """The three lines."""
        average = self.sum / count if count else 0
        return (
            f"\tMinimum size: {self.least}\n\tMaximum size: {self.most}\n"
            f"\tAverage size: {average:.2f}".removesuffix(".00")
        )


def _sizes(rows: Iterable[Row]) -> str:
    """How long keys and records are as they are stored."""
    keys, data, count = _Sizes(), _Sizes(), 0
    for row in rows:
        keys.add(len(row.encoded_key), first=count == 0)
        data.add(len(row.record), first=count == 0)
        count += 1
    return (
        f"Number of records: {count}\n"
        f"Primary Key sizes:\n{keys.text(count)}\n"
        f"Data sizes:\n{data.text(count)}"
    )


_TABLE: Final = Command(
    name="table",
    shortest=3,
    description=(
        "Shows the row with a key, or all rows whose keys begin with the given columns; without\n"
        "any, all rows. -start and -end bound the next key column, both inclusive. With -index\n"
        "the columns are those of an index, and the rows come in its order. -file writes the rows\n"
        "to a file, -report-size says how large they are."
    ),
    run=_get,
    flags=(
        Flag("-name", "table-name", required=True),
        *INDEX_FLAGS,
        *KEY_FLAGS,
        Flag("-file", "path"),
        Flag("-keyonly"),
        Flag("-pretty"),
        Flag("-report-size"),
    ),
    check=_check,
)
GET: Final = Group("get", 3, "Reads rows.", (_TABLE,))
