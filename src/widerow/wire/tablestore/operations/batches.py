"""What the two batches share: names for the answer, and the answer itself (semantics §4.8, §5.5).

The engine answers rows in the order asked; the response repeats the names of their tables, so
`call` carries them along.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from widerow.model.answers import RowOutcome
from widerow.wire.tablestore.errors import encode_error, foreign
from widerow.wire.tablestore.operations.answers import consumed_field, field, with_rows
from widerow.wire.tablestore.operations.tokens import encode_token

__all__ = ["BatchAnswer", "encode_batch"]

_FAILED = b"\x08\x00"
_DONE = b"\x08\x01"


class BatchAnswer(NamedTuple):
    """The outcomes of a batch, one list a table, and the tables' names in the same order."""

    tables: tuple[str, ...]
    outcomes: Sequence[Sequence[RowOutcome]]


def encode_batch(answer: BatchAnswer) -> bytes:
    """BatchGetRowResponse and BatchWriteRowResponse, which are alike."""
    return b"".join(
        [
            field(b"\x0a", field(b"\x0a", name.encode()), _rows(outcomes))
            for name, outcomes in zip(answer.tables, answer.outcomes, strict=True)
        ]
    )


def _rows(outcomes: Iterable[RowOutcome]) -> bytes:
    rows: list[bytes] = []
    for outcome in outcomes:
        written = outcome.written
        if written is not None and not written.row:
            rows.append(_written(written.read_units, written.write_units))
        else:
            rows.append(field(b"\x12", _row(outcome)))
    return b"".join(rows)


def _write_done(read_units: int, write_units: int) -> bytes:
    return field(b"\x12", _DONE, consumed_field(b"\x1a", read_units, write_units))


_written: Final = lru_cache(maxsize=256)(_write_done)  # most rows of a batch cost the same


def _row(outcome: RowOutcome) -> bytes:
    """A failed row has an error with a message, any other what it consumed (protos §0 rule 6)."""
    if outcome.read is not None:
        read = outcome.read
        row = read.row
        done = _DONE + consumed_field(b"\x1a", read.read_units, 0)
        token = b"" if read.resume is None else field(b"\x2a", encode_token(read.resume))
    elif outcome.written is not None:
        written = outcome.written
        row, token = written.row, b""
        done = _DONE + consumed_field(b"\x1a", written.read_units, written.write_units)
    else:
        assert outcome.error is not None, "an outcome is a read, a write or an error"
        _, code, message = foreign(outcome.error)
        return _FAILED + field(b"\x12", encode_error(code, message))
    # No field for no row: one client's older releases try to read a row from empty bytes.
    return with_rows(done, b"\x22", row, token) if row else done + token
