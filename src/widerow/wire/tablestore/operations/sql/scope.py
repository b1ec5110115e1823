"""Which columns a name may mean (sql §2, §4): letters of either case, with a table or without."""

from collections.abc import Sequence
from typing import NamedTuple

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.expression import InputColumn
from widerow.wire.tablestore.operations.sql.kinds import SqlKind, TypedExpression

__all__ = ["NameScope", "NamedColumn"]


class NamedColumn(NamedTuple):
    """A column that names may mean: its table's name in the statement, its own, and its kind."""

    table: str
    name: str
    kind: SqlKind


class NameScope:
    """The columns of what stands behind FROM, in their order."""

    def __init__(
        self, columns: Sequence[NamedColumn], hidden: frozenset[int] = frozenset()
    ) -> None:
        """`hidden`: positions of columns that a join with USING has put into one."""
        self.columns = tuple(columns)
        self.hidden = hidden
        self._places: dict[str, list[int]] = {}  # by names in lower case
        for place, column in enumerate(self.columns):
            self._places.setdefault(column.name.lower(), []).append(place)

    def has(self, name: str) -> bool:
        """Whether a column has this name."""
        return name.lower() in self._places

    def find(self, name: str, table: str, clause: str) -> TypedExpression:
        """The column of a name; `table` empty: of any table. Raises `InvalidRequest`.

        `clause` is where the name stands, for the message.
        """
        of_table = table.lower()
        found = [
            position
            for position in self._places.get(name.lower(), ())
            if (
                self.columns[position].table.lower() == of_table
                if of_table
                else position not in self.hidden
            )
        ]
        if len(found) == 1:
            return TypedExpression(InputColumn(found[0]), self.columns[found[0]].kind)
        shown = f"{table}.{name}" if table else name
        if found:
            raise InvalidRequest(TablestoreRule.SQL_COLUMN_AMBIGUOUS, column=shown)
        raise InvalidRequest(TablestoreRule.SQL_COLUMN_UNKNOWN, column=shown, clause=clause)

    def all(self, table: str = "") -> list[tuple[str, str]]:
        """What `*`, or a table's `*`, stands for: columns, each with the name of its table.

        Raises `InvalidRequest`.
        """
        of_table = table.lower()
        found = [
            (column.name, column.table)
            for position, column in enumerate(self.columns)
            if (column.table.lower() == of_table if of_table else position not in self.hidden)
        ]
        if table and not found:
            raise InvalidRequest(
                TablestoreRule.SQL_COLUMN_UNKNOWN, column=table, clause="field list"
            )
        return found
