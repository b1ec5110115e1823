"""GetStreamRecord (change §C1.2, §C1.5)."""

from typing import NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.streams.reading import ChangePage
from widerow.rows.fields import field, varint
from widerow.wire.tablestore.messages import GetStreamRecordRequest
from widerow.wire.tablestore.operations.answers import consumed_field
from widerow.wire.tablestore.operations.bodies import parsed, text

__all__ = ["RecordsAsked", "call", "call_within", "consumed", "decode", "encode"]


class RecordsAsked(NamedTuple):
    """An iterator, and how many records at the most; None: as many as a page holds."""

    iterator: str
    limit: int | None


def decode(body: bytes) -> RecordsAsked:
    """The page asked for. Raises `InvalidRequest`."""
    sent = parsed(GetStreamRecordRequest, body)
    limit = sent.limit if sent.HasField("limit") else None
    return RecordsAsked(text(sent.shard_iterator), limit)


def call(engine: TablestoreEngine, instance: str, request: RecordsAsked) -> ChangePage:
    """Ask the engine."""
    table = engine.streams.opened(instance, request.iterator)
    return engine.streams.read(table, request.iterator, request.limit)


def call_within(
    engine: TablestoreEngine, instance: str, request: RecordsAsked, budget: Budget
) -> ChangePage:
    """Ask the engine. Raises `TooLong` where it takes more than `budget`."""
    table = engine.streams.opened(instance, request.iterator)
    return engine.streams.read(table, request.iterator, request.limit, budget)


def consumed(result: ChangePage) -> tuple[int, int]:
    """Read and write units of a page (change §C1.5)."""
    return result.read_units, 0


def encode(result: ChangePage) -> bytes:
    """GetStreamRecordResponse; `may_more_record` always stands in it (change §0 rule 3).

    The log holds what a `StreamRecord` of the answer consists of.
    """
    parts: list[bytes] = []
    for _, value in result.stored:
        parts += (b"\x0a", varint(len(value)), value)
    if result.following is not None:
        parts.append(field(b"\x12", result.following.encode()))
    parts.append(consumed_field(b"\x1a", *consumed(result)))
    parts.append(b"\x20\x01" if result.more else b"\x20\x00")
    return b"".join(parts)
