"""`get table` and `delete table`: read and delete the rows of a selection (cli §6)."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from widerow.cli.kv.command import Command, missing_argument, refuse_both
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.selection import (
    INDEX_FLAGS,
    KEY_FLAGS,
    KeySelection,
    check_fields,
    select_by_flags,
)
from widerow.cli.kv.session import Session, ShellTable, counting
from widerow.cli.kv.values import counted, key_json, table_of
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.nosql import Row

__all__ = ["DELETE_TABLE", "GET_TABLE"]

_BATCH: Final = 1000  # the rows that are deleted at a time; those of one shard share a sync


def _check_get(_: Session, given: Arguments) -> None:
    check_fields("table", given)
    refuse_both(given, "-report-size", "-file")


def _get(session: Session, given: Arguments) -> str:
    table = table_of(session, given.need("-name"))
    selection = select_by_flags(session, table, given)
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


def _found(selection: KeySelection) -> Iterator[Row]:
    """The rows of a selection; a whole key is looked up without a scan."""
    if not selection.one_row:
        return selection.rows()
    row = selection.table.get(selection.key)
    return iter(() if row is None else (row,))


def _shown(rows: Iterable[Row], given: Arguments) -> Iterator[str]:
    """The rows, or with -keyonly their keys, as JSON."""
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
    """The least, the greatest and the average of sizes in bytes."""

    def __init__(self) -> None:
        self.least = self.most = self.sum = 0

    def add(self, size: int, *, first: bool) -> None:
        """Take one more size; `first` for the first one."""
        self.least = size if first else min(self.least, size)
        self.most = max(self.most, size)
        self.sum += size

    def text(self, count: int) -> str:
        """The three lines about `count` sizes."""
        average = self.sum / count if count else 0
        return (
            f"\tMinimum size: {self.least}\n\tMaximum size: {self.most}\n"
            f"\tAverage size: {average:.2f}".removesuffix(".00")
        )


def _sizes(rows: Iterable[Row]) -> str:
    """The text of -report-size: the sizes of keys and records as they are stored."""
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


GET_TABLE: Final = Command(
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
        ShellFlag("-name", "table-name", required=True),
        *INDEX_FLAGS,
        *KEY_FLAGS,
        ShellFlag("-file", "path"),
        ShellFlag("-keyonly"),
        ShellFlag("-pretty"),
        ShellFlag("-report-size"),
    ),
    check=_check_get,
)


def _check_delete(_: Session, given: Arguments) -> None:
    check_fields("table", given)
    chosen = given.has("-field") or given.has("-json")
    if not chosen and not given.has("-delete-all"):
        raise missing_argument("-field | -json | -delete-all", "table")
    if chosen and given.has("-delete-all"):
        raise ArgumentFault("-delete-all cannot be used with -field or -json")


def _delete(session: Session, given: Arguments) -> str:
    table = table_of(session, given.need("-name"))
    selection = select_by_flags(session, table, given)
    if selection.one_row:
        count = 1 if table.delete(selection.key) else 0
    elif selection.one_shard:
        count = table.multi_delete(
            selection.key,
            field_range=selection.field_range,
            ancestors=selection.ancestors,
            children=selection.children,
        )
    else:
        count = _one_by_one(session, selection)
    return f"{counted(count, 'row')} deleted."


def _one_by_one(session: Session, selection: KeySelection) -> int:
    """Delete rows of several shards, in batches: one transaction cannot cover them all."""
    rows = selection.rows()
    count = 0
    targets: dict[str, ShellTable] = {}
    with counting(session, "rows deleted") as report:
        while batch := list(islice(rows, _BATCH)):
            for row in batch:
                name = row.table.qualified
                if name not in targets:
                    targets[name] = session.store.table(name)
            operations = [targets[row.table.qualified].operation().delete(row.key) for row in batch]
            count += sum(result.success for result in session.store.write_many(operations))
            report(count)
    return count


DELETE_TABLE: Final = Command(
    name="table",
    shortest=3,
    description=(
        "Deletes the row with a key, or all rows whose keys begin with the given columns.\n"
        "Rows of one shard key go in one transaction. Rows of child tables stay unless named."
    ),
    run=_delete,
    flags=(ShellFlag("-name", "table-name", required=True), *KEY_FLAGS, ShellFlag("-delete-all")),
    check=_check_delete,
)
