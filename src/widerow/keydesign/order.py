"""Whether a key sorts as its columns do on the rows at hand, and where it does not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from widerow.keydesign.key import KeyDesign, PartValue
from widerow.keydesign.proof import Counterexample

__all__ = ["OrderCheck", "compare_orders"]


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """What became of the order of some rows.

    `inversions` has the first pair of neighbours that changed places, for each column that
    decided between them; `inverted` counts all such pairs among `rows` different rows.
    """

    rows: int
    inverted: int
    inversions: tuple[Counterexample, ...]

    @property
    def kept(self) -> bool:
        """Whether every row stands where it stood."""
        return self.inverted == 0


def compare_orders(design: KeyDesign, rows: Iterable[Sequence[PartValue]]) -> OrderCheck:
    """Compare the order of rows as columns with that of their keys.

    Equal rows count once. Neighbours are all that need to be looked at: where they stand right,
    everything does. Sorts the rows, so n log n. Raises: `KeyRefused`.
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
