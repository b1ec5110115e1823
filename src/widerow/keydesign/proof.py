"""A proof whether a key sorts as its columns do, for all possible values.

Take two rows that agree in the columns before some column and differ in it. Their order among the
columns is decided there. In the key it is decided by the first character that differs:

* An integer with zeros in front has the same number of digits in both, so digits decide, and they
  decide as the numbers do. The order is kept.
* An integer as it is does not keep it: '9' is above '10'.
* Two texts of which neither begins with the other differ in a character that decides in both orders
  alike. If one begins with the other, the shorter is first among columns. In the key the connector
  stands behind it, against a further character of the longer one. So the order is kept for all
  texts of an alphabet exactly if the connector is below every character of it.
* The last text ends the key, and the end is below every character.
* A hash in front keeps no order. Rows are found by the hashed columns, but not by ranges of them;
  rows that agree in all hashed columns share their prefix, so the order of the columns behind is
  not affected.

The connector itself is not a character of any text before the last: `build` refuses such values. A
range query on a column, with all columns before it fixed, works exactly if the order in that column
is kept; that is why the verdict is given for each column.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from widerow.keydesign.alphabet import Alphabet
from widerow.keydesign.key import KeyDesign, KeyPart, KeyRefused, PartKind, PartValue
from widerow.limits import KEY_VALUE_BYTES_MAX

__all__ = [
    "ASSUMED",
    "ColumnProof",
    "Counterexample",
    "prove",
    "suggest_connector",
]

ASSUMED: Final = Alphabet((("0", "9"), ("A", "Z"), ("a", "z")))
"""The characters of values where the alphabet is unknown: digits and letters."""

# In the order of proposals: the founding page's own, then connectors that need no quotes in a
# shell.
_CONNECTORS: Final = (",", "+", "-", ".", "/", "%", "#", "!", "$", " ")
_TRIES: Final = 4096  # values tried for a counterexample; every second one is expected to give one
_ROOM: Final = 8  # bytes that a counterexample may add to a value
_DIGITS_MAX: Final = 18  # with one digit more, integers still fit 64 bits


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two rows whose keys sort in the opposite order: `lower` is the smaller by columns."""

    lower: tuple[PartValue, ...]
    upper: tuple[PartValue, ...]
    lower_key: str
    upper_key: str

    @property
    def column(self) -> int:
        """The number of the first column in which the rows differ."""
        pairs = zip(self.lower, self.upper, strict=True)
        return next(at for at, (low, high) in enumerate(pairs) if low != high)


@dataclass(frozen=True, slots=True)
class ColumnProof:
    """The verdict on one column; `reason` is the proof in a sentence."""

    column: str
    kept: bool
    reason: str
    counterexample: Counterexample | None = None


def prove(
    design: KeyDesign,
    alphabets: Mapping[str, Alphabet] | None = None,
    example: Sequence[PartValue] | None = None,
) -> tuple[ColumnProof, ...]:
    """The verdict on every column of a design, in the order of the key.

    `alphabets`: the characters of a column's texts; by default digits and letters. `example` is a
    row that counterexamples are made from. Each column whose order is not kept has a checked
    counterexample.
    """
    known = alphabets or {}
    row = _usable(design, example) or tuple(_plain(part) for part in design.parts)
    return tuple(
        _prove_column(design, at, known.get(part.column, ASSUMED), row)
        for at, part in enumerate(design.parts)
    )


def suggest_connector(alphabets: Sequence[Alphabet]) -> str | None:
    """A connector less than every character of these alphabets; None if no usual connector is."""
    smallest = min((each.smallest for each in alphabets), default="\U0010ffff")
    return next((each for each in _CONNECTORS if each < smallest), None)


def _usable(design: KeyDesign, example: Sequence[PartValue] | None) -> tuple[PartValue, ...] | None:
    """The example, if the design has a key for it and for texts a little longer."""
    if example is None:
        return None
    room = KEY_VALUE_BYTES_MAX - _ROOM * len(design.parts)
    try:
        return tuple(example) if len(design.build(example).encode()) <= room else None
    except KeyRefused:
        return None


def _plain(part: KeyPart) -> PartValue:
    return 0 if part.kind is PartKind.INTEGER else "a"


def _prove_column(
    design: KeyDesign, at: int, alphabet: Alphabet, row: tuple[PartValue, ...]
) -> ColumnProof:
    part = design.parts[at]
    prefix = design.prefix
    if prefix is not None and at < (prefix.columns or len(design.parts)):
        reason = (
            f"the {prefix.algorithm} prefix scatters the values of {part.column}: neighbours get "
            "unrelated prefixes"
        )
        found = _scattered(design, at, row)
        return ColumnProof(part.column, kept=False, reason=reason, counterexample=found)
    if part.kind is PartKind.INTEGER:
        return _prove_integer(design, at, row)
    return _prove_text(design, at, alphabet, row)


def _prove_integer(design: KeyDesign, at: int, row: tuple[PartValue, ...]) -> ColumnProof:
    part = design.parts[at]
    if part.width is not None:
        reason = (
            f"every {part.column} has {part.width} digits, so the first digit that differs decides "
            "as the numbers do"
        )
        return ColumnProof(part.column, kept=True, reason=reason)
    value = row[at]
    assert isinstance(value, int)
    shorter = 10 ** min(len(str(abs(value))), _DIGITS_MAX) - 1
    reason = (
        f"{part.column} is written without zeros in front: as text {shorter} is above {shorter + 1}"
    )
    found = _pair(design, at, row, shorter, shorter + 1)
    return ColumnProof(part.column, kept=False, reason=reason, counterexample=found)


def _prove_text(
    design: KeyDesign, at: int, alphabet: Alphabet, row: tuple[PartValue, ...]
) -> ColumnProof:
    part = design.parts[at]
    if at == len(design.parts) - 1:
        reason = f"{part.column} is last: nothing follows a shorter text, and nothing sorts first"
        return ColumnProof(part.column, kept=True, reason=reason)
    connector = design.connector
    rest = alphabet.without(connector)
    if connector < rest.smallest:
        reason = (
            f"the connector {connector!r} is below every character of {part.column} "
            f"({rest}), so a shorter text stays before its continuations"
        )
        return ColumnProof(part.column, kept=True, reason=reason)
    value = row[at]
    assert isinstance(value, str)
    below = rest.smallest
    reason = (
        f"the connector {connector!r} is above {below!r}, which may follow in {part.column}: "
        "a longer text comes before the shorter one it begins with"
    )
    found = _pair(design, at, row, value, value + below)
    return ColumnProof(part.column, kept=False, reason=reason, counterexample=found)


def _pair(
    design: KeyDesign, at: int, row: tuple[PartValue, ...], lower: PartValue, upper: PartValue
) -> Counterexample:
    """Two rows that differ in one column."""
    rows = [(*row[:at], value, *row[at + 1 :]) for value in (lower, upper)]
    return Counterexample(rows[0], rows[1], design.build(rows[0]), design.build(rows[1]))


def _scattered(design: KeyDesign, at: int, row: tuple[PartValue, ...]) -> Counterexample | None:
    """Neighbouring values that a hash puts in the opposite order, as it does with half of all."""
    for lower, upper in _neighbours(row[at]):
        try:
            found = _pair(design, at, row, lower, upper)
        except KeyRefused:  # too wide, or containing the connector
            continue
        if found.lower_key > found.upper_key:
            return found
    return None


def _neighbours(start: PartValue) -> Iterator[tuple[PartValue, PartValue]]:
    """Pairs of a lower and an upper value near `start`; integers upwards first, then downwards."""
    if isinstance(start, int):
        yield from pairwise(range(start, start + _TRIES))
        yield from pairwise(range(max(0, start - _TRIES), start + 1))
        return
    yield from pairwise(f"{start}{chr(each)}" for each in range(0x21, 0x7F))
    yield from pairwise(f"{start}{chr(each)}" for each in range(0xA1, 0xA1 + _TRIES))
