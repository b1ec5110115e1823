"""The effect of a key design on a table, before any row is changed.

The order of the rows is compared with that of their keys, every column gets its proof, and the
range queries that would break are named, each with two rows as an example.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from widerow.keydesign.alphabet import Alphabet
from widerow.keydesign.key import KeyDesign, PartKind, PartValue
from widerow.keydesign.order import OrderCheck, compare_orders
from widerow.keydesign.proof import ColumnProof, Counterexample, prove, suggest_connector

__all__ = ["DryRun", "RangeCost", "Rehearsal", "rehearse"]

SHOWN_ROWS: Final = 8


@dataclass(frozen=True, slots=True)
class RangeCost:
    """A kind of GetRange on the columns, and whether the key can still answer it.

    `seen`: `counterexample` is a pair of the given rows, not a pair made by the proof.
    """

    text: str
    works: bool
    reason: str
    counterexample: Counterexample | None = None
    seen: bool = False

    @property
    def evidence(self) -> str:
        """The counterexample in words, or an empty text."""
        found = self.counterexample
        if found is None:
            return ""
        low, high = found.lower[found.column], found.upper[found.column]
        return (
            f"{found.upper_key!r} sorts before {found.lower_key!r}, so a range from {low} to "
            f"{high} is refused or misses rows"
        )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A row to show: the columns of the key, and some others as text."""

    values: tuple[PartValue, ...]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DryRun:
    """The result. `before` and `after` have the same rows, each in the order of its table."""

    design: KeyDesign
    order: OrderCheck
    proofs: tuple[ColumnProof, ...]
    queries: tuple[RangeCost, ...]
    before: tuple[Rehearsal, ...]
    after: tuple[tuple[str, Rehearsal], ...]
    advice: tuple[str, ...]

    @property
    def proved(self) -> bool:
        """Whether the order is kept for every possible row."""
        return all(proof.kept for proof in self.proofs)

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        prefix = self.design.prefix
        return {
            "design": {
                "parts": [
                    {"column": part.column, "kind": part.kind.value, "width": part.width}
                    for part in self.design.parts
                ],
                "connector": self.design.connector,
                "hash": asdict(prefix) if prefix else None,
            },
            "rows": self.order.rows,
            "order_on_data": {
                "kept": self.order.kept,
                "inverted_neighbours": self.order.inverted,
                "inversions": [_pair(each) for each in self.order.inversions],
            },
            "order_proved": self.proved,
            "proofs": [
                {
                    "column": proof.column,
                    "kept": proof.kept,
                    "reason": proof.reason,
                    "counterexample": _pair(proof.counterexample),
                }
                for proof in self.proofs
            ],
            "range_queries": [
                {
                    "query": query.text,
                    "works": query.works,
                    "evidence": query.evidence or None,
                    "seen_in_data": query.seen,
                }
                for query in self.queries
            ],
            "before": [[*row.values, *row.others] for row in self.before],
            "after": [[key, *row.others] for key, row in self.after],
            "advice": list(self.advice),
        }


def _pair(found: Counterexample | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def rehearse(
    design: KeyDesign, rows: Sequence[Rehearsal], alphabets: Mapping[str, Alphabet] | None = None
) -> DryRun:
    """Try a design on at least one row.

    `alphabets`: the characters of texts; for other columns, digits, letters and the characters in
    the rows. Raises: `KeyRefused` for a row that the design has no key for.
    """
    order = compare_orders(design, (row.values for row in rows))
    known = {**_observed(design, rows), **(alphabets or {})}
    example = order.inversions[0].lower if order.inversions else rows[0].values
    proofs = prove(design, known, example)
    shown = _shown(rows, order)
    keys = [(design.build(row.values), row) for row in shown]
    return DryRun(
        design,
        order,
        proofs,
        tuple(_queries(proofs, order)),
        before=tuple(sorted(shown, key=lambda row: (row.values, row.others))),
        after=tuple(sorted(keys, key=lambda pair: (pair[0], pair[1].others))),
        advice=tuple(_advice(design, rows, known, proofs)),
    )


def _observed(design: KeyDesign, rows: Sequence[Rehearsal]) -> dict[str, Alphabet]:
    """The characters of each text column: those in the rows, all digits and all letters."""
    assumed = "".join(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123))))
    return {
        part.column: Alphabet.observed([assumed, *{str(row.values[at]) for row in rows}])
        for at, part in enumerate(design.parts)
        if part.kind is PartKind.TEXT
    }


def _queries(proofs: Sequence[ColumnProof], order: OrderCheck) -> Iterator[RangeCost]:
    """A query for each column: a range of it, with the columns before it fixed."""
    seen = {found.column: found for found in order.inversions}
    for at, proof in enumerate(proofs):
        fixed = [f"{each.column} = …" for each in proofs[:at]]
        text = " and ".join([*fixed, f"{proof.column} from … to …"])
        found = seen.get(at) if not proof.kept else None
        yield RangeCost(
            text, proof.kept, proof.reason, found or proof.counterexample, seen=found is not None
        )


def _shown(rows: Sequence[Rehearsal], order: OrderCheck) -> list[Rehearsal]:
    """A few rows: rows that changed places first, then the first rows of the table."""
    moved = {values for found in order.inversions for values in (found.lower, found.upper)}
    chosen = [row for row in rows if row.values in moved][:SHOWN_ROWS]
    for row in rows:
        if len(chosen) >= min(SHOWN_ROWS, len(rows)):
            break
        if not any(row is each for each in chosen):
            chosen.append(row)
    return chosen


def _advice(
    design: KeyDesign,
    rows: Iterable[Rehearsal],
    alphabets: Mapping[str, Alphabet],
    proofs: Sequence[ColumnProof],
) -> Iterator[str]:
    """Changes of the design that would keep the order."""
    largest = {
        at: max(abs(int(row.values[at])) for row in rows)
        for at, part in enumerate(design.parts)
        if part.kind is PartKind.INTEGER and part.width is None
    }
    for at, part in enumerate(design.parts):
        if at in largest and (design.prefix is None or at >= (design.prefix.columns or at + 1)):
            yield (
                f"--pad {part.column}={len(str(largest[at]))} keeps the order of {part.column}: "
                f"its largest value here is {largest[at]}; take more digits if it will grow"
            )
    broken = {proof.column for proof in proofs if not proof.kept}
    texts = [part for part in design.parts[:-1] if part.kind is PartKind.TEXT]
    if design.prefix is None and any(part.column in broken for part in texts):
        better = suggest_connector([alphabets[part.column] for part in texts])
        yield (
            f"--connector '{better}' keeps it: it is below every character that may follow"
            if better
            else "no usual connector is below every character of these texts; narrow them with "
            "--alphabet if they cannot hold all of these"
        )
    if design.prefix is not None:
        yield (
            "point reads compute the prefix again; ranges over the hashed columns are gone, so "
            "keep a table in their order, or hash the leading columns only, if they are needed"
        )
