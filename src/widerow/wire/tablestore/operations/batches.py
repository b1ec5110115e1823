"""What the two batches share: names for the answer, and the answer itself (semantics §4.8, §5.5).

The engine answers rows in the order asked; the response repeats the names of their tables, so
`call` carries them along.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from widerow.model.tablestore.answers import RowOutcome
from widerow.rows.fields import field, varint
from widerow.wire.tablestore.errors.answers import encode_error, foreign
from widerow.wire.tablestore.operations.answers import consumed_field
from widerow.wire.tablestore.operations.tokens import encode_token
from widerow.wire.tablestore.plainbuffer import HEADER

__all__ = ["BatchAnswer", "encode_batch"]

_FAILED = b"\x08\x00"
_DONE = b"\x08\x01"


class BatchAnswer(NamedTuple):
    """The outcomes of a batch, one list a table, and the tables' names in the same order."""

    tables: tuple[str, ...]
    outcomes: Sequence[Sequence[RowOutcome]]


def encode_batch(answer: BatchAnswer) -> bytes:
    """BatchGetRowResponse and BatchWriteRowResponse, which are alike.

    Rows are copied once: lengths are added up before anything is put together.
    """
    pieces: list[bytes] = []
    for name, outcomes in zip(answer.tables, answer.outcomes, strict=True):
        table, rows = field(b"\x0a", name.encode()), _rows(outcomes)
        pieces.append(b"\x0a%b%b" % (varint(len(table) + sum(map(len, rows))), table))
        pieces += rows
    return b"".join(pieces)


def _rows(outcomes: Iterable[RowOutcome]) -> list[bytes]:
    """The fields of the rows of one table, in pieces."""
    pieces: list[bytes] = []
    for outcome in outcomes:
        written, read = outcome.written, outcome.read
        if written is not None:
            if not written.row:
                pieces.append(_written(written.read_units, written.write_units))
                continue
            row, token = written.row, b""
            done = _DONE + consumed_field(b"\x1a", written.read_units, written.write_units)
        elif read is not None:
            row = read.row
            token = b"" if read.resume is None else field(b"\x2a", encode_token(read.resume))
            done = _DONE + consumed_field(b"\x1a", read.read_units, 0)
        else:
            assert outcome.error is not None, "an outcome is a read, a write or an error"
            pieces.append(field(b"\x12", _failure(outcome.error)))
            continue
        # No field for no row: one client's older releases try to read a row from empty bytes.
        if row:
            done = b"%b\x22%b%b" % (done, varint(len(HEADER) + len(row)), HEADER)
        pieces.append(b"\x12%b%b" % (varint(len(done) + len(row) + len(token)), done))
        pieces.append(row)
        if token:
            pieces.append(token)
    return pieces


def _failure(error: Exception) -> bytes:
    """A failed row has an error with a message, any other what it consumed (protos §0 rule 6)."""
    _, code, message = foreign(error)
    return _FAILED + field(b"\x12", encode_error(code, message))


def _write_done(read_units: int, write_units: int) -> bytes:
    return field(b"\x12", _DONE, consumed_field(b"\x1a", read_units, write_units))


_written: Final = lru_cache(maxsize=256)(_write_done)  # most rows of a batch cost the same
