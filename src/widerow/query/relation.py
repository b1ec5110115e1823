"""Relations as streams: rows come in chunks, each a list of values for every column.

Operators and expressions work on a column of a chunk at a time, so that what Python does for each
value is one step of a list comprehension. A value is what the table model gives; None is NULL.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

__all__ = ["CHUNK_ROWS", "Chunk", "RelationColumn", "Values", "both_sides", "chunks_of", "taken"]

CHUNK_ROWS: Final = 1024
"""How many rows a chunk has at most, unless its maker had them together anyway."""

Values = Sequence[Any]
"""The values of one column; whoever has it does not change it."""


class RelationColumn(NamedTuple):
    """A column of a relation: its name, and its type as the query language has it."""

    name: str
    kind: Any


class Chunk(NamedTuple):
    """Some rows of a relation. `columns`: for each column as many values as there are `rows`."""

    rows: int
    columns: tuple[Values, ...]


def taken(chunk: Chunk, positions: Sequence[int]) -> Chunk:
    """The rows at these positions, which ascend, each named once."""
    if len(positions) == chunk.rows:
        return chunk
    columns = tuple([[values[each] for each in positions] for values in chunk.columns])
    return Chunk(len(positions), columns)


def both_sides(left: Chunk, right: Chunk) -> Chunk:
    """The columns of both, of which each has as many rows as the other."""
    return Chunk(left.rows, left.columns + right.columns)


def chunks_of(rows: Iterable[tuple[Any, ...]], width: int) -> Iterator[Chunk]:
    """Rows as chunks; `width`: how many columns they have."""
    source = iter(rows)
    while some := list(islice(source, CHUNK_ROWS)):
        yield Chunk(len(some), tuple(zip(*some, strict=True)) if width else ())
