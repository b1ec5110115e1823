"""Which cells of a stored row a request sees (semantics §5.1-5.3).

The rules apply in this order: the table's max_versions and time_to_live, the request's columns,
its time range, its max_versions, then its filter over what is left.
"""

from collections.abc import Iterable, Sequence
from typing import final

from widerow.model.tablestore.filter import Pagination, passes
from widerow.model.tablestore.schema import Table
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import Cell, cell_value

__all__ = [
    "ReadRule",
    "column_selected",
    "filter_passes",
    "live_cells",
    "paginate",
    "select_cells",
]


@final
class ReadRule:
    """A selection against one table at one moment, worked out once for all rows of a request.

    `table_versions` and `versions`: how many versions of a column the table keeps and the request
    wants. `live_from`: the smallest version that has not expired. `key_names`: the primary key
    columns, which filters may name and `columns` may ask for. `names_columns`: only attribute
    columns are named, so a row that has none of them is left out (semantics §5.2). `copies`: rows
    whose header allows it are returned as stored. `entries`: the rows are those of an index,
    whose headers say by `latest_server` when they expire (docs/formats/rows.md).
    """

    __slots__ = (
        "copies",
        "entries",
        "key_names",
        "live_from",
        "names_columns",
        "selection",
        "table",
        "table_versions",
        "versions",
    )

    def __init__(self, table: Table, selection: Selection, live_from: int) -> None:
        """The rule of `selection` against `table`."""
        self.table = table
        self.selection = selection
        self.live_from = live_from
        self.table_versions = table.options.max_versions
        self.versions = min(self.table_versions, selection.max_versions)
        self.key_names = tuple([column.name for column in table.key_columns])
        columns = selection.columns
        self.names_columns = bool(columns) and columns.isdisjoint(self.key_names)
        self.copies = selection.everything
        self.entries = table.index_of != 0


def column_selected(name: str, selection: Selection) -> bool:
    """Whether a selection reads a column."""
    if selection.columns and name not in selection.columns:
        return False
    if selection.start_column is not None and name < selection.start_column:
        return False
    return selection.end_column is None or name < selection.end_column


def select_cells(cells: Iterable[Cell], rule: ReadRule) -> list[Cell]:
    """The cells that `rule` selects of `cells`, whose columns were selected before."""
    window = rule.selection.time_range
    if window is None:
        return live_cells(cells, rule.versions, rule.live_from)
    kept = live_cells(cells, rule.table_versions, rule.live_from)
    inside = [cell for cell in kept if window.start <= cell.version < window.end]
    return live_cells(inside, rule.versions, rule.live_from)


def live_cells(cells: Iterable[Cell], versions: int, live_from: int) -> list[Cell]:
    """The newest `versions` cells of every column, without those that have expired.

    `cells` in stored order: names ascending, versions descending.
    """
    chosen: list[Cell] = []
    column, seen = "", 0
    for cell in cells:
        if cell.name != column:
            column, seen = cell.name, 0
        seen += 1
        if seen <= versions and cell.version >= live_from:
            chosen.append(cell)
    return chosen


def paginate(cells: Sequence[Cell], pagination: Pagination) -> list[Cell]:
    """Skip `offset` columns and keep `limit`, with all their selected versions."""
    names = list(dict.fromkeys([cell.name for cell in cells]))
    wanted = frozenset(names[pagination.offset : pagination.offset + pagination.limit])
    return [cell for cell in cells if cell.name in wanted]


def filter_passes(cells: Iterable[Cell], values: Sequence[KeyValue], rule: ReadRule) -> bool:
    """Whether the filter of `rule` passes a row with these selected `cells` and this key."""
    tree = rule.selection.filter
    assert tree is not None
    columns: dict[str, list[Cell]] = {}
    for cell in cells:
        columns.setdefault(cell.name, []).append(cell)
    keys = dict(zip(rule.key_names, values, strict=False))

    def lookup(name: str) -> list[Value]:
        if name in keys:
            return [keys[name]]
        return [cell_value(cell) for cell in columns.get(name, ())]

    return passes(tree, lookup)
