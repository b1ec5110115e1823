"""`put table`: write one row, the rows of a file, or a row that put mode puts together (cli §6)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from widerow.cli.kv.command import Command, refuse_both
from widerow.cli.kv.faults import ArgumentFault, CommandFault, PlainFault, UnreadableFault
from widerow.cli.kv.put_mode import PUT_COMMANDS, NamedLevel, named_field
from widerow.cli.kv.session import Mode, Session, ShellTable, counting
from widerow.cli.kv.values import key_json, table_of
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.errors import InvalidRequest
from widerow.model.typed.names import folded
from widerow.nosql import Operation, ReturnRow, WriteResult

__all__ = ["PUT_TABLE"]

_BATCH: Final = 1000  # the rows of a file that are written with one sync
_EXCLUSIVE: Final = (("-if-absent", "-if-present"), ("-json", "-file"), ("-if-absent", "-update"))


@dataclass(frozen=True, slots=True)
class _Condition:
    """When a row is written. A `merged` row changes only its columns of the row in the store."""

    if_absent: bool = False
    if_present: bool = False
    merged: bool = False

    @classmethod
    def of(cls, given: Arguments) -> "_Condition":
        """The condition that the flags name."""
        return cls(given.has("-if-absent"), given.has("-if-present"), given.has("-update"))


def _check(_: Session, given: Arguments) -> None:
    for first, second in _EXCLUSIVE:
        refuse_both(given, first, second)
    if given.has("-exact") and not given.has("-json") and not given.has("-file"):
        raise ArgumentFault("-exact can only be used with -json or -file")


def _put(session: Session, given: Arguments) -> str | None:
    table = table_of(session, given.need("-name"))
    condition = _Condition.of(given)
    document, file = given.get("-json"), given.get("-file")
    exact = given.has("-exact")
    if document is not None:
        return _put_row(table, table.row_from_json(document, exact=exact), condition)
    if file is not None:
        return _put_file(session, table, file, condition, exact=exact)
    session.modes.append(Mode(given.need("-name"), PUT_COMMANDS, _row_level(table, condition)))
    return None


def _row_level(table: ShellTable, condition: _Condition) -> NamedLevel:
    """The level of put mode that writes its values as a row."""
    definition = table.definition

    def done(_: Session, values: dict[str, Any]) -> str:
        return _put_row(table, values, condition)

    return NamedLevel(lambda name: named_field(definition.field(name)), done)


def _put_row(table: ShellTable, row: Mapping[str, Any], condition: _Condition) -> str:
    """Write a row; returns the text to print. Raises `PlainFault` if the condition fails."""
    if condition.merged:
        return _merge(table, row)
    if condition.if_absent:
        return _answer(table, row, table.put_if_absent(row), condition)
    if condition.if_present:
        return _answer(table, row, table.put_if_present(row), condition)
    result = table.put(row, returning=ReturnRow.VERSION)
    return _success(inserted=result.previous_version is None)


def _merge(table: ShellTable, row: Mapping[str, Any]) -> str:
    """Set the given columns of a row in the store; tries again if another write came between."""
    while True:
        key = _key(table, row)
        held = table.get(key)
        if held is None:
            raise _refused("No existing record was present", table, row)
        if table.put_if_version({**held.to_dict(), **row}, held.version):
            return _success(inserted=False)


def _answer(
    table: ShellTable, row: Mapping[str, Any], result: WriteResult, condition: _Condition
) -> str:
    if result.success:
        return _success(inserted=condition.if_absent)
    if condition.if_absent:
        raise _refused("A record was already present", table, row)
    raise _refused("No existing record was present", table, row)


def _key(table: ShellTable, row: Mapping[str, Any]) -> dict[str, Any]:
    names = {folded(name) for name in table.definition.primary_key}
    return {name: value for name, value in row.items() if folded(name) in names}


def _success(*, inserted: bool) -> str:
    return f"Operation successful, row {'inserted' if inserted else 'updated'}."


def _refused(what: str, table: ShellTable, row: Mapping[str, Any]) -> PlainFault:
    key = key_json(table.definition, row)
    return PlainFault(f"Operation failed, {what} with the given primary key: {key}")


def _put_file(
    session: Session, table: ShellTable, name: str, condition: _Condition, *, exact: bool
) -> str:
    """Write the rows of a file, one JSON object on each line; returns the text to print.

    The rows before a line that is refused are written. Raises: `CommandFault` for such a line, with
    its number and the number of rows written; `UnreadableFault` for a file that cannot be read.
    """
    make, word = _file_operation(table, condition)
    count = 0
    try:
        with (
            Path(name).open(encoding="utf-8", newline="\n") as lines,
            counting(session, "rows") as report,
        ):
            source = _RowLines(table, lines, exact=exact)
            operations = map(make, source)
            while batch := list(islice(operations, _BATCH)):
                count += sum(result.success for result in session.store.write_many(batch))
                report(count)
    except OSError as error:
        raise UnreadableFault(f"Failed to load file: {name}") from error
    done = f"{word} {count} {'row' if count == 1 else 'rows'} to {table.name}"
    if isinstance(source.refusal, InvalidRequest):
        raise CommandFault(f"line {source.number}: {source.refusal}. {done} from the lines before")
    if source.refusal is not None:
        stop = f"the text after line {source.number} is not UTF-8"
        raise UnreadableFault(f"Failed to load file: {name}: {stop}. {done}")
    return done


def _file_operation(
    table: ShellTable, condition: _Condition
) -> tuple[Callable[[Mapping[str, Any]], Operation], str]:
    """The operation for each row of a file, and the verb of the answer."""
    operation = table.operation()
    if condition.merged:
        raise CommandFault("-update is for one row and cannot be used with -file")
    if condition.if_absent:
        return operation.put_if_absent, "Inserted"
    if condition.if_present:
        return operation.put_if_present, "Updated"
    return operation.put, "Loaded"


class _RowLines:
    """The rows of a file, up to the first line that is not a row.

    `number` is that of the last line that was read; `refusal` says why reading stopped before the
    end of the file: an `InvalidRequest` for a line that is not a row, a `UnicodeDecodeError` for
    bytes that are not UTF-8. It is kept and not raised, so that the rows before it are written.
    """

    def __init__(self, table: ShellTable, lines: Iterable[str], *, exact: bool) -> None:
        self.number = 0
        self.refusal: InvalidRequest | UnicodeDecodeError | None = None
        self._table = table
        self._lines = lines
        self._exact = exact

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            for line in self._lines:
                self.number += 1
                if line.strip():
                    yield self._table.row_from_json(line, exact=self._exact)
        except (InvalidRequest, UnicodeDecodeError) as error:
            self.refusal = error


PUT_TABLE: Final = Command(
    name="table",
    shortest=3,
    description=(
        "Writes a row: from -json, the rows of a -file with one JSON object a line, or, with\n"
        "neither, values that are given one by one until exit. -update changes only the given\n"
        "columns of a row that is there; -exact wants every column and no other."
    ),
    run=_put,
    flags=(
        ShellFlag("-name", "table-name", required=True),
        ShellFlag("-if-absent"),
        ShellFlag("-if-present"),
        ShellFlag("-json", "row"),
        ShellFlag("-file", "path"),
        ShellFlag("-exact"),
        ShellFlag("-update"),
    ),
    check=_check,
)
