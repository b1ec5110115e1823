"""Values that the store makes: identity columns and UUIDs (model §9).

A block of identity values is reserved with one durable write and handed out from memory, so values
never repeat; a crash skips what was left of the block. The sequence record of a table is the first
value that no block holds, as text; it lies outside the column's bounds when no value is left.

Planning never waits: where no reserved value is left, asking for one raises `BlockNeeded`. The
engine then commits the write that reserves a block, and plans the operation again.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Final, NamedTuple

from widerow.clock import Entropy
from widerow.engine.typed.form import TableForm
from widerow.errors import Exhausted, StoreDamaged, WiderowError
from widerow.keys.layout import sequence_prefix
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import Field, Identity, Kind
from widerow.model.typed.values import TypedValue
from widerow.storage.interface import Transaction, Write

__all__ = ["BlockNeeded", "Generator", "MadeValues", "block"]


class _Block(NamedTuple):
    """Values reserved for one table, and the declaration that they were reserved by."""

    identity: Identity
    values: Iterator[int]


class BlockNeeded(WiderowError):
    """No reserved value of a table's identity column is left. Never leaves the engine."""

    def __init__(self, form: TableForm, identity: Identity) -> None:
        super().__init__(f"reserve identity values of {form.table.qualified} and plan again")
        self.form = form
        self.identity = identity


class Generator:
    """Hands out generated values. For any thread."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._blocks: dict[int, _Block] = {}

    def generate(self, form: TableForm, field: Field) -> TypedValue:
        """The next value of the column. Raises `BlockNeeded` when none is reserved."""
        if field.identity is None:
            return _uuid(self._entropy.token_bytes(16))
        held = self._blocks.get(form.id)
        value = None
        if held is not None and held.identity == field.identity:
            value = next(held.values, None)  # one step of the interpreter: safe among threads
        if value is None:
            raise BlockNeeded(form, field.identity)
        return Decimal(value) if field.type.kind is Kind.NUMBER else value

    def restart(self, table_id: int) -> None:
        """Forget the reserved values of a table whose sequence was changed."""
        self._blocks.pop(table_id, None)

    def reserve(
        self, needed: BlockNeeded, check: Callable[[Transaction], object]
    ) -> Write[Sequence[int]]:
        """The write that reserves the next block. Its body raises `Exhausted`.

        `check` raises `NotFound` once the table was dropped, so that no record is written for it.
        """
        table_id, identity = needed.form.id, needed.identity
        key = sequence_prefix(table_id)

        def body(txn: Transaction) -> Sequence[int]:
            check(txn)
            values, following = block(identity, _stored(txn.get(key)))
            txn.put(key, str(following).encode())
            return values

        def settled(values: Sequence[int]) -> None:
            held = self._blocks.get(table_id)
            rest: Iterator[int] = iter(values)
            if held is not None and held.identity == identity:
                rest = chain(held.values, rest)  # two threads may have reserved at once
            self._blocks[table_id] = _Block(identity, rest)

        return Write((key,), body, settled=settled)


class MadeValues:
    """The values generated for one operation, which gets them again when it is planned again."""

    __slots__ = ("_generator", "_made", "_next")

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._made: list[tuple[int, Field, TypedValue]] = []
        self._next = 0

    def from_first(self) -> "MadeValues":
        """Begin again with the first value that was made."""
        self._next = 0
        return self

    def __call__(self, form: TableForm, field: Field) -> TypedValue:
        """The next value of this operation, which is for `field`. Raises `BlockNeeded`."""
        at = self._next
        if at < len(self._made) and self._made[at][:2] != (form.id, field):
            del self._made[at:]  # made for another column: the table was altered
        if at == len(self._made):
            self._made.append((form.id, field, self._generator.generate(form, field)))
        self._next = at + 1
        return self._made[at][2]


_SAME_VALUES: Final = 1000  # in a block of a sequence that stands still: its memory is bounded


def block(identity: Identity, stored: int | None) -> tuple[Sequence[int], int]:
    """The values of the next block, and the value behind them, which is stored as the next start.

    A sequence that leaves the bounds of its column begins again at the other bound with `cycle`;
    without it the function raises `Exhausted`. One that increments by 0 has its start for ever.
    """
    assert identity.start is not None
    assert identity.minimum is not None
    assert identity.maximum is not None
    step = identity.increment
    first = identity.start if stored is None else stored
    if not identity.minimum <= first <= identity.maximum:
        if not identity.cycle:
            raise Exhausted(TypedRule.IDENTITY_EXHAUSTED)
        first = identity.minimum if step >= 0 else identity.maximum
    if step == 0:
        return (first,) * min(identity.cache, _SAME_VALUES), first
    room = identity.maximum - first if step > 0 else first - identity.minimum
    count = min(identity.cache, room // abs(step) + 1)
    following = first + count * step
    return range(first, following, step), following


def _stored(record: bytes | None) -> int | None:
    if record is None:
        return None
    try:
        return int(record)
    except ValueError as error:
        raise StoreDamaged(f"the identity record {record!r} is not a number") from error


def _uuid(random: bytes) -> str:
    """A random UUID (RFC 9562, version 4)."""
    number = int.from_bytes(random, "big")
    number = number & ~(0xF << 76) | (4 << 76)
    text = f"{number & ~(3 << 62) | (2 << 62):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
