"""The semantics of rows in plain dictionaries, without bytes.

Stateful tests compare the engine with this model. It is written from the rules (semantics §1.5,
§1.6, §4, §5), not from the engine, and prefers plain code to fast code.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.filter import passes
from widerow.model.tablestore.row import CellChange, CellOperation, Modification, RowChange
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import body_value

__all__ = ["ModelRefusal", "ModelRow", "ModelTable"]

Key = tuple[KeyValue, ...]
Column = dict[int, Value]


class ModelRefusal(Exception):
    """The model refuses the change, and has not made it."""


@dataclass
class ModelRow:
    """All that was written and not removed; which part is visible is decided by reads."""

    columns: dict[str, Column] = field(default_factory=dict)
    server: int = 0


@dataclass
class ModelTable:
    """One table. `time_to_live` in seconds or -1; `max_versions` per column."""

    time_to_live: int = -1
    max_versions: int = 1
    rows: dict[Key, ModelRow] = field(default_factory=dict)

    def visible(self, key: Key, now_ms: int) -> dict[str, list[tuple[int, Value]]] | None:
        """The row as a read of everything shows it, or None."""
        row = self.rows.get(key)
        if row is None:
            return None
        shown: dict[str, list[tuple[int, Value]]] = {}
        for name in sorted(row.columns):
            newest = sorted(row.columns[name].items(), reverse=True)[: self.max_versions]
            alive = [(v, value) for v, value in newest if not self._expired(v, now_ms)]
            if alive:
                shown[name] = alive
        if not shown and any(row.columns.values()):
            return None  # it had attributes and all of them have expired
        return shown

    def scan(self, now_ms: int) -> list[tuple[Key, dict[str, list[tuple[int, Value]]]]]:
        """Every visible row in key order."""
        rows = ((key, self.visible(key, now_ms)) for key in sorted(self.rows))
        return [(key, row) for key, row in rows if row is not None]

    def _expired(self, version: int, now_ms: int) -> bool:
        return self.time_to_live >= 0 and now_ms // 1000 >= version // 1000 + self.time_to_live

    def change(self, key: Key, change: RowChange, now_ms: int) -> None:
        """Make a change. Raises `ModelRefusal`."""
        self._check(key, change.condition, now_ms)
        exists = self.visible(key, now_ms) is not None
        row = self.rows.get(key, ModelRow())
        stamp = max(now_ms, row.server)
        if change.modification is Modification.DELETE:
            self.rows.pop(key, None)
            return
        creates = any(cell.body for cell in change.cells)
        if change.modification is Modification.PUT:
            columns: dict[str, Column] = {}
        elif exists:
            columns = {
                name: {v: value for v, value in column.items() if not self._expired(v, now_ms)}
                for name, column in row.columns.items()
            }
        elif creates:
            columns = {}
        else:
            return  # deletes alone do not make a row
        for cell in change.cells:
            self._apply(columns, cell, stamp)
        chosen = any(cell.version is None and cell.body for cell in change.cells)
        self.rows[key] = ModelRow(self._kept(columns), server=stamp if chosen else row.server)

    def purge(self, now_ms: int, keys: Iterable[Key] | None = None) -> None:
        """Remove cells that are not visible any more from rows with these keys; None: all rows."""
        for key in list(self.rows if keys is None else keys):
            row = self.rows[key]
            shown = self.visible(key, now_ms)
            if shown is None:
                del self.rows[key]
            else:
                row.columns = {name: dict(cells) for name, cells in shown.items()}

    def _check(self, key: Key, condition: Condition, now_ms: int) -> None:
        shown = self.visible(key, now_ms)
        wanted = {
            RowExpectation.IGNORE: True,
            RowExpectation.EXPECT_EXIST: shown is not None,
            RowExpectation.EXPECT_NOT_EXIST: shown is None,
        }
        columns = shown or {}
        tree = condition.columns
        holds = tree is None or passes(tree, lambda name: [v for _, v in columns.get(name, [])])
        if not (wanted[condition.row] and holds):
            raise ModelRefusal

    def _kept(self, columns: dict[str, Column]) -> dict[str, Column]:
        """The cells that a write keeps: the newest `max_versions` of each column."""
        kept = {
            name: dict(sorted(column.items(), reverse=True)[: self.max_versions])
            for name, column in columns.items()
        }
        return {name: column for name, column in kept.items() if column}

    def _apply(self, columns: dict[str, Column], cell: CellChange, stamp: int) -> None:
        column = columns.setdefault(cell.name, {})
        match cell.operation:
            case CellOperation.PUT:
                column[stamp if cell.version is None else cell.version] = body_value(cell.body)
            case CellOperation.DELETE_ALL_VERSIONS:
                column.clear()
            case CellOperation.DELETE_ONE_VERSION:
                assert cell.version is not None
                column.pop(cell.version, None)
            case CellOperation.INCREMENT:
                newest = max(column, default=None)
                former = 0 if newest is None else column[newest]
                operand = body_value(cell.body)
                if type(former) is not int or type(operand) is not int:
                    raise ModelRefusal
                column[stamp if newest is None else max(stamp, newest)] = former + operand
