"""The page of one value, with its whole text."""

from widerow.console.download import whole_row
from widerow.console.forms import kind_name, typed_text
from widerow.console.parts import ConsoleRefused, PageDocument, Visit, address
from widerow.console.places import asked_table, the_table
from widerow.console.row_keys import key_from_text
from widerow.model.tablestore.selection import Selection
from widerow.model.values import value_bytes

__all__ = ["show_value"]


def show_value(visit: Visit) -> PageDocument:
    """A value of a Tablestore row: the newest of `column` in the row `id`, or that of `version`.

    Raises: `ConsoleRefused` where there is none.
    """
    name = asked_table(visit)
    table = the_table(visit, name)
    column, version = visit.asked.get("column", ""), visit.asked.get("version", "")
    identity = visit.asked.get("id", "")
    selection = Selection(
        columns=frozenset((column,)), max_versions=table.options.max_versions if version else 1
    )
    rows = whole_row(visit, table, key_from_text(table, identity), selection)
    for cell in [cell for row in rows for cell in row.cells]:
        if version in ("", str(cell.version)):
            return {
                "instance": name.instance,
                "table": name.name,
                "model": name.model,
                "row": address("row", instance=name.instance, table=name.name, id=identity),
                "id": identity,
                "column": column,
                "type": kind_name(cell.value),
                "version": cell.version,
                "bytes": value_bytes(cell.value),
                "text": typed_text(cell.value),
            }
    raise ConsoleRefused(404, "There is no such value (any more).", "Open the row again.")
