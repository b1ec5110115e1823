"""Rows that are made of something else when they are read (timeseries §9)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyInput, KeyValue, Value

__all__ = ["MadeRow", "MadeRows"]


class MadeRow(NamedTuple):
    """A row: the values of its key, and cells by names in their order, each with its version."""

    key: tuple[KeyValue, ...]
    cells: Sequence[tuple[str, Value, int]]


class MadeRows(Protocol):
    """Rows that are made of something else. `table`: as clients see it."""

    table: Table

    def rows(
        self, start: Sequence[KeyInput], end: Sequence[KeyInput], *, reverse: bool
    ) -> Iterator[MadeRow]:
        """The rows from `start`, with it, to before `end`, which is the smaller one if reversed."""
        ...
