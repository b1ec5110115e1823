"""Changes on their way to the log of a stream, where the row's transaction does not reach it.

An intent (`engine/intents.py`) of this kind holds the record of the change as it will stand in the
log of a stream, but for its position, which it gets when it is appended (`mover.py`); or what will
stand in a journal, which says no position.
"""

import struct
from typing import Final, NamedTuple

from widerow.engine.intents import Intent, IntentKind, IntentQueue
from widerow.errors import StoreDamaged
from widerow.storage.interface import Transaction

__all__ = ["ChangeIntent", "decode_change_intent", "leave_change_intent"]

_HEAD: Final = struct.Struct(">IQ")  # the log's number, and when the change was asked for


class ChangeIntent(NamedTuple):
    """An intent, and what it says.

    `log`: the number of the stream or journal that was on. `asked_us`: when the change was asked
    for, in microseconds since 1970. `value`: of the record, in a stream at `LOG_START`.
    """

    intent: Intent
    log: int
    asked_us: int
    value: bytes

    @property
    def key(self) -> bytes:
        """The key of the intent, which no other intent ever has."""
        return self.intent.key


def leave_change_intent(
    queue: IntentQueue, txn: Transaction, shard: bytes, log: int, change: tuple[int, bytes]
) -> None:
    """Leave an intent in the shard of the row; `change`: when it was asked for, and the value.

    Raises as `IntentQueue.leave`.
    """
    asked_us, value = change
    body = _HEAD.pack(log, asked_us) + value
    queue.leave(txn, shard, IntentKind.CHANGE, body)


def decode_change_intent(intent: Intent) -> ChangeIntent:
    """What an intent of this kind says. Raises `StoreDamaged`."""
    try:
        log, asked_us = _HEAD.unpack_from(intent.body)
    except struct.error as error:
        raise StoreDamaged(f"an intent is too short: {intent.body.hex()}") from error
    return ChangeIntent(intent, log, asked_us, intent.body[_HEAD.size :])
