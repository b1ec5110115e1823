"""Values that the store makes: identity columns and UUIDs (model §9).

A block of identity values is reserved with one durable write and handed out from memory, so values
never repeat; a crash skips what was left of the block. The record of a table is the next value that
no block holds, as text, beyond the bounds when there is none.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from widerow.clock import Entropy
from widerow.engine.typed.form import TableForm
from widerow.errors import Exhausted, StoreDamaged
from widerow.keys.layout import sequence_prefix
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import Field, Identity, Kind
from widerow.model.typed.values import TypedValue
from widerow.storage.interface import Store, Transaction

__all__ = ["Generator", "block"]


class _Block(NamedTuple):
    """Values reserved for one table, and by which declaration."""

    identity: Identity
    values: Iterator[int]


class Generator:
    """Hands out values. One caller at a time."""

    def __init__(self, store: Store, entropy: Entropy) -> None:
        """Nothing reserved yet."""
        self._store = store
        self._entropy = entropy
        self._blocks: dict[int, _Block] = {}

    def generate(self, form: TableForm, field: Field) -> TypedValue:
        """The next value of the column. Raises `Exhausted` when there is none left."""
        if field.identity is None:
            return _uuid(self._entropy.token_bytes(16))
        value = self._next(form.table.id, field.identity)
        return Decimal(value) if field.type.kind is Kind.NUMBER else value

    def restart(self, table_id: int) -> None:
        """Forget the reserved values of a table whose sequence was changed."""
        self._blocks.pop(table_id, None)

    def _next(self, table_id: int, identity: Identity) -> int:
        held = self._blocks.get(table_id)
        if held is not None and held.identity == identity:
            value = next(held.values, None)
            if value is not None:
                return value
        key = sequence_prefix(table_id)

        def reserve(txn: Transaction) -> range:
            values, following = block(identity, _stored(txn.get(key)))
            txn.put(key, str(following).encode())
            return values

        values = iter(self._store.transact((key,), reserve))
        first = next(values)
        self._blocks[table_id] = _Block(identity, values)
        return first


def block(identity: Identity, stored: int | None) -> tuple[range, int]:
    """The next values to reserve, and the one that follows them. Raises `Exhausted`.

    Values outside the bounds do not exist: a sequence that leaves them is exhausted, or with
    `cycle` begins again at its other end.
    """
    assert identity.start is not None
    assert identity.minimum is not None
    assert identity.maximum is not None
    step = identity.increment
    first = identity.start if stored is None else stored
    if not identity.minimum <= first <= identity.maximum:
        if not identity.cycle:
            raise Exhausted(TypedRule.IDENTITY_EXHAUSTED)
        first = identity.minimum if step > 0 else identity.maximum
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
        raise StoreDamaged(f"the identity record {record!r} is no number") from error


def _uuid(random: bytes) -> str:
    """A random UUID (RFC 9562, version 4)."""
    number = int.from_bytes(random, "big")
    number = number & ~(0xF << 76) | (4 << 76)
    text = f"{number & ~(3 << 62) | (2 << 62):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
