"""Partition keys that may be chosen: a column, columns spliced together, a column behind a hash."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from widerow.keydesign.key import HashPrefix, PartValue

__all__ = ["Candidate", "CandidateKind", "hashed", "one_column", "spliced"]

_PREFIX: Final = HashPrefix("md5", 4)


class CandidateKind(Enum):
    """How the columns become a key."""

    COLUMN = "column"
    SPLICED = "spliced"
    HASHED = "hashed"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Columns that make a partition key, by their names and their places in a row."""

    kind: CandidateKind
    columns: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name that is shown."""
        if self.kind is CandidateKind.HASHED:
            return f"{_PREFIX.algorithm}-{_PREFIX.digits} + {self.columns[0]}"
        return " + ".join(self.columns)

    def key(self, values: Sequence[PartValue]) -> Hashable:
        """The partition key of a row, with the order of the spliced or hashed text."""
        if self.kind is CandidateKind.COLUMN:
            return values[self.places[0]]
        if self.kind is CandidateKind.HASHED:
            text = str(values[self.places[0]])
            return _PREFIX.of(text) + text
        # A splice that keeps the order sorts as the tuple of its columns.
        return tuple(values[place] for place in self.places)

    def ordered(self, rows: Sequence[Sequence[PartValue]]) -> list[Any]:
        """The keys of some rows."""
        return [self.key(row) for row in rows]

    def command(self, source: str, integers: Mapping[str, int]) -> str:
        """The command that builds the key from a file; `integers`: digits of integer columns."""
        words = f"widerow keys {'hash' if self.kind is CandidateKind.HASHED else 'splice'}"
        words += f" --input {source} --columns {','.join(self.columns)}"
        if self.kind is CandidateKind.HASHED:
            return f"{words} --hash {_PREFIX.algorithm} --digits {_PREFIX.digits}"
        pads = [f"{name}={integers[name]}" for name in self.columns if name in integers]
        return f"{words} --pad {','.join(pads)}" if pads else words


def one_column(columns: Sequence[str], column: str) -> Candidate:
    """One column as it is."""
    return Candidate(CandidateKind.COLUMN, (column,), (columns.index(column),))


def spliced(columns: Sequence[str], chosen: Sequence[str]) -> Candidate:
    """Several columns with a connector between them."""
    places = tuple(columns.index(column) for column in chosen)
    return Candidate(CandidateKind.SPLICED, tuple(chosen), places)


def hashed(columns: Sequence[str], column: str) -> Candidate:
    """One column behind the first four digits of its md5."""
    return Candidate(CandidateKind.HASHED, (column,), (columns.index(column),))
