"""`put table` itself (cli §6)."""

from typing import Any, Final

from widerow.cli.kv.command import Arguments, Command, Flag, Group
from widerow.cli.kv.data.values import table_of
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.help import HELP
from widerow.cli.kv.put.add_nested import ADD_ARRAY_VALUE, ADD_MAP_VALUE, ADD_RECORD_VALUE
from widerow.cli.kv.put.add_value import ADD_VALUE
from widerow.cli.kv.put.file import put_file
from widerow.cli.kv.put.finish import CANCEL, EXIT, SHOW
from widerow.cli.kv.put.levels import NamedLevel, named
from widerow.cli.kv.put.write import Condition, put_row
from widerow.cli.kv.session import Mode, Session
from widerow.nosql import Table

__all__ = ["PUT"]

_COMMANDS: Final = (
    ADD_ARRAY_VALUE,
    ADD_MAP_VALUE,
    ADD_RECORD_VALUE,
    ADD_VALUE,
    CANCEL,
    EXIT,
    HELP,
    SHOW,
)
_ONE_OF: Final = (("-if-absent", "-if-present"), ("-json", "-file"), ("-if-absent", "-update"))


def _check(_: Session, given: Arguments) -> None:
    for first, second in _ONE_OF:
        if given.has(first) and given.has(second):
            raise ArgumentFault(f"{first} and {second} cannot be used together")
    if given.has("-exact") and not given.has("-json") and not given.has("-file"):
        raise ArgumentFault("-exact can only be used with -json or -file")


def _put(session: Session, given: Arguments) -> str | None:
    table = table_of(session, given.need("-name"))
    condition = Condition.of(given)
    document, file = given.get("-json"), given.get("-file")
    exact = given.has("-exact")
    if document is not None:
        return put_row(table, table.row_from_json(document, exact=exact), condition)
    if file is not None:
        return put_file(session, table, file, condition, exact=exact)
    session.modes.append(Mode(given.need("-name"), _COMMANDS, _row_level(table, condition)))
    return None


def _row_level(table: Table, condition: Condition) -> NamedLevel:
    definition = table.definition

    def done(_: Session, values: dict[str, Any]) -> str:
        return put_row(table, values, condition)

    return NamedLevel(lambda name: named(definition.field(name)), done)


_TABLE: Final = Command(
    name="table",
    shortest=3,
    description=(
        "Writes a row: from -json, the rows of a -file with one JSON object a line, or, with\n"
        "neither, values that are given one by one until exit. -update changes only the given\n"
        "columns of a row that is there; -exact wants every column and no other."
    ),
    run=_put,
    flags=(
        Flag("-name", "table-name", required=True),
        Flag("-if-absent"),
        Flag("-if-present"),
        Flag("-json", "row"),
        Flag("-file", "path"),
        Flag("-exact"),
        Flag("-update"),
    ),
    check=_check,
)
PUT: Final = Group("put", 3, "Writes rows.", (_TABLE,))
