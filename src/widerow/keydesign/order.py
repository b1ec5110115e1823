"""Whether the keys of given rows sort as their columns do, and where not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from widerow.keydesign.key import KeyDesign, PartValue
from widerow.keydesign.proof import Counterexample

__all__ = ["OrderCheck", "compare_orders"]


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """The order of some rows, by columns and by keys.

    `inversions` has, for each column that decided an order, the first pair of neighbours that
    changed places; `inverted` counts all such pairs among `rows` different rows.
    """

    rows: int
    inverted: int
    inversions: tuple[Counterexample, ...]

    @property
    def kept(self) -> bool:
        """Whether no row changed its place."""
        return self.inverted == 0


def compare_orders(design: KeyDesign, rows: Iterable[Sequence[PartValue]]) -> OrderCheck:
    """Compare the order of rows as columns with that of their keys.

    Equal rows count once. It is enough to compare neighbours. The cost is that of sorting the rows,
    n log n. Raises: `KeyRefused`.
    """
    ordered = sorted({tuple(row) for row in rows})
    first: dict[int, Counterexample] = {}
    inverted = 0
    keys = [design.build(row) for row in ordered]
    for (lower, lower_key), (upper, upper_key) in pairwise(zip(ordered, keys, strict=True)):
        if lower_key > upper_key:
            inverted += 1
            found = Counterexample(lower, upper, lower_key, upper_key)
            first.setdefault(found.column, found)
    return OrderCheck(len(ordered), inverted, tuple(first[at] for at in sorted(first)))
