"""`delete table`: delete rows (cli §6)."""

from itertools import islice
from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag, Group, missing
from widerow.cli.kv.data.selection import KEY_FLAGS, Selection, check_fields, select
from widerow.cli.kv.data.values import counted, table_of
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.progress import counting
from widerow.cli.kv.session import Session
from widerow.nosql import Operation

__all__ = ["DELETE"]

_BATCH: Final = 1000  # rows that share syncs where they are not of one shard


def _check(_: Session, given: Arguments) -> None:
    check_fields("table", given)
    chosen = given.has("-field") or given.has("-json")
    if not chosen and not given.has("-delete-all"):
        raise missing("-field | -json | -delete-all", "table")
    if chosen and given.has("-delete-all"):
        raise ArgumentFault("-delete-all cannot be used with -field or -json")


def _delete(session: Session, given: Arguments) -> str:
    table = table_of(session, given.need("-name"))
    selection = select(session, table, given)
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


def _one_by_one(session: Session, selection: Selection) -> int:
    """Rows of several shards: no transaction reaches all of them."""
    rows = selection.rows()
    count = 0
    with counting(session, "rows deleted") as counted_so_far:
        while batch := list(islice(rows, _BATCH)):
            operations = [
                Operation.delete(session.store.table(row.table.qualified), row.key) for row in batch
            ]
            count += sum(result.success for result in session.store.write_many(operations))
            counted_so_far(count)
    return count


_TABLE: Final = Command(
    name="table",
    shortest=3,
    description=(
        "Deletes the row with a key, or all rows whose keys begin with the given columns.\n"
        "Rows of one shard key go in one transaction. Rows of child tables stay unless named."
    ),
    run=_delete,
    flags=(Flag("-name", "table-name", required=True), *KEY_FLAGS, Flag("-delete-all")),
    check=_check,
)
DELETE: Final = Group("delete", 3, "Deletes rows.", (_TABLE,))
