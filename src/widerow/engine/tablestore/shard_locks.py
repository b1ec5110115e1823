"""Locks of partition key values as records in their shards, for stores that processes share.

A local transaction is a record beside the rows of its key (docs/formats/keys.md, "Local
transactions"), and so is what was written in it. Whoever writes rows of the key reads the record in
the transaction of the write, which fails if it changed meanwhile: so no process has to hear of a
lock. One whose time is over is removed by the first who meets it, and from then on its transaction
is over for every process, whatever their clocks say.
"""

import struct
from typing import Final, NamedTuple

from widerow.clock import Clock
from widerow.errors import Conflict, Rule, StoreDamaged
from widerow.keys.layout import SPACE_TRANSACTIONS
from widerow.limits import CLOCK_SKEW_SECONDS_MAX, LOCAL_TRANSACTION_SECONDS
from widerow.storage.interface import Transaction

__all__ = [
    "CHANCE_BYTES",
    "REQUEST_NUMBER_BYTES",
    "ShardLock",
    "check_lock",
    "check_unlocked_shard",
    "decode_lock",
    "encode_lock",
    "is_over",
    "lock_key",
    "release_shard",
    "request_key",
]

CHANCE_BYTES: Final = 8
REQUEST_NUMBER_BYTES: Final = 4
_VERSION: Final = 1
_LIFE_US_MAX: Final = (LOCAL_TRANSACTION_SECONDS + CLOCK_SKEW_SECONDS_MAX) * 1_000_000
_LOCK: Final = struct.Struct(f">B{CHANCE_BYTES}sQI")


class ShardLock(NamedTuple):
    """A transaction on a partition key value.

    `chance`: drawn at its begin, and part of its id. `until_us`: when it ends by itself, in
    microseconds since 1970. `requests`: how many have written in it.
    """

    chance: bytes
    until_us: int
    requests: int = 0


def lock_key(shard: bytes) -> bytes:
    """Where the lock of a shard stands; `shard`: the prefix of its rows.

    What was written in the transaction stands behind it, so this is a prefix of the shard, too.
    """
    return SPACE_TRANSACTIONS + shard[1:]


def encode_lock(lock: ShardLock) -> bytes:
    """The record of a lock."""
    return _LOCK.pack(_VERSION, *lock)


def decode_lock(record: bytes) -> ShardLock:
    """The lock of a record. Raises `StoreDamaged`."""
    if len(record) != _LOCK.size or record[0] != _VERSION:
        raise StoreDamaged(f"the record of a local transaction is not readable: {record.hex()}")
    return ShardLock(*_LOCK.unpack(record)[1:])


def is_over(lock: ShardLock, clock: Clock) -> bool:
    """Whether the time of a transaction is over; also where the clock was set back since its begin.

    Nothing depends on it that two processes answer alike: whoever ends one removes its lock.
    """
    now_us = clock.now_us()
    return not lock.until_us - _LIFE_US_MAX <= now_us < lock.until_us


def check_unlocked_shard(txn: Transaction, shard: bytes, beside: bytes, clock: Clock) -> None:
    """Raise `Conflict(KEY_LOCKED)` where a transaction holds the shard.

    `beside`: a key that is read next, which comes in the same round trip.
    """
    record = txn.get_many((lock_key(shard), beside))[0]
    if record is not None:
        check_lock(txn, shard, record, clock)


def check_lock(txn: Transaction, shard: bytes, record: bytes, clock: Clock) -> None:
    """Raise `Conflict(KEY_LOCKED)` for a lock whose time is not over; remove any other one."""
    lock = decode_lock(record)
    if not is_over(lock, clock):
        raise Conflict(Rule.KEY_LOCKED)
    release_shard(txn, shard, lock)


def request_key(shard: bytes, number: int) -> bytes:
    """Where it stands what a request has written; `number`: counted from 0 in the transaction."""
    return lock_key(shard) + number.to_bytes(REQUEST_NUMBER_BYTES, "big")


def release_shard(txn: Transaction, shard: bytes, lock: ShardLock) -> None:
    """Remove the lock that a shard has, and what was written in its transaction."""
    txn.delete(lock_key(shard))
    for number in range(lock.requests):
        txn.delete(request_key(shard, number))
