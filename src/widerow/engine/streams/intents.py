"""Changes on their way to the log of a stream, where the row's transaction does not reach it.

An intent (`engine/intents.py`) of this kind holds the record of the change as it will stand in the
log, but for its position, which it gets when it is appended (`mover.py`).
"""

import struct
from typing import Final, NamedTuple

from widerow.engine.intents import Intent, IntentKind, IntentQueue
from widerow.engine.streams.log import LogRecord, decode_record, encode_record
from widerow.errors import StoreDamaged
from widerow.storage.interface import Transaction

__all__ = ["ChangeIntent", "decode_change_intent", "leave_change_intent"]

_HEAD: Final = struct.Struct(">IQ")  # the stream's number, and when the change was asked for


class ChangeIntent(NamedTuple):
    """An intent, and what it says.

    `stream`: the number of the stream that was on. `asked_us`: when the change was asked for, in
    microseconds since 1970. `record`: at the position `LOG_START`.
    """

    intent: Intent
    stream: int
    asked_us: int
    record: LogRecord

    @property
    def key(self) -> bytes:
        """The key of the intent, which no other intent ever has."""
        return self.intent.key


def leave_change_intent(
    queue: IntentQueue, txn: Transaction, shard: bytes, stream: int, change: tuple[int, LogRecord]
) -> None:
    """Leave an intent in the shard of the row; `change`: when it was asked for, and its record.

    Raises as `IntentQueue.leave`.
    """
    asked_us, record = change
    body = _HEAD.pack(stream, asked_us) + encode_record(record)
    queue.leave(txn, shard, IntentKind.CHANGE, body)


def decode_change_intent(intent: Intent) -> ChangeIntent:
    """What an intent of this kind says. Raises `StoreDamaged`."""
    try:
        stream, asked_us = _HEAD.unpack_from(intent.body)
    except struct.error as error:
        raise StoreDamaged(f"an intent is too short: {intent.body.hex()}") from error
    return ChangeIntent(intent, stream, asked_us, decode_record(intent.body[_HEAD.size :]))
