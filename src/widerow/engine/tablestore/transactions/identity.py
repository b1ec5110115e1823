"""Ids of local transactions, which can be told from texts that no server gave out (change §B5).

    id = base64url( version 1 | run of the store 5 | chance 8 | CRC-32 of these 4 )

Eighteen bytes are 24 characters without padding, and each id has one spelling. The run is a number
that the store counts up, so no id of an earlier run of the server is ever given out again.

In a store that several processes share an id leads each of them to the shard of the transaction:

    id = base64url( version 2 | table's number 4 | partition key | chance 8 | CRC-32 of these 4 )

Whoever makes one up has to guess the chance.
"""

import re
from base64 import b64decode, urlsafe_b64encode
from binascii import crc32
from typing import Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.interface import Transaction

__all__ = [
    "ID_CHANCE_BYTES",
    "ShardIdentity",
    "check_id",
    "make_id",
    "make_shard_id",
    "next_run",
    "read_shard_id",
]

ID_CHANCE_BYTES: Final = 8

_VERSION: Final = b"\x01"
_RUN_BYTES: Final = 5
_CHECKSUM_BYTES: Final = 4
_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{24}", re.ASCII)
_SHARD_VERSION: Final = b"\x02"
_TABLE_BYTES: Final = 4
_SHARD_TEXT: Final = re.compile(r"[A-Za-z0-9_-]{24,2800}", re.ASCII)  # a key of 1 KB, every byte 0


def make_id(run: int, chance: bytes) -> str:
    """The id of a transaction begun in this run; `chance`: eight random bytes."""
    content = _VERSION + run.to_bytes(_RUN_BYTES, "big") + chance
    return urlsafe_b64encode(content + _checksum(content)).decode()


def check_id(text: str) -> None:
    """Raise `InvalidRequest(TRANSACTION_ID)` for a text that `make_id` cannot make."""
    if _TEXT.fullmatch(text) is not None:
        data = b64decode(text, altchars=b"-_")
        content, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
        if data.startswith(_VERSION) and checksum == _checksum(content):
            return
    raise InvalidRequest(TablestoreRule.TRANSACTION_ID)


class ShardIdentity(NamedTuple):
    """What an id of a shared store says. `partition_key`: as keys of rows have it."""

    table_id: int
    partition_key: bytes
    chance: bytes


def make_shard_id(identity: ShardIdentity) -> str:
    """The id of a transaction in a shared store."""
    table_id, partition_key, chance = identity
    content = _SHARD_VERSION + table_id.to_bytes(_TABLE_BYTES, "big") + partition_key + chance
    return urlsafe_b64encode(content + _checksum(content)).decode().rstrip("=")


def read_shard_id(text: str) -> ShardIdentity:
    """What an id says. The partition key may be no key of the table.

    Raises `InvalidRequest(TRANSACTION_ID)` for a text that `make_shard_id` cannot make.
    """
    if _SHARD_TEXT.fullmatch(text) is not None and len(text) % 4 != 1:
        data = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_")
        content, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
        if data.startswith(_SHARD_VERSION) and checksum == _checksum(content):
            start, end = 1 + _TABLE_BYTES, len(content) - ID_CHANCE_BYTES
            table_id = int.from_bytes(content[1:start], "big")
            found = ShardIdentity(table_id, content[start:end], content[end:])
            if start < end and make_shard_id(found) == text:
                return found
    raise InvalidRequest(TablestoreRule.TRANSACTION_ID)


def _checksum(content: bytes) -> bytes:
    return crc32(content).to_bytes(_CHECKSUM_BYTES, "big")


def next_run(txn: Transaction, key: bytes) -> int:
    """Increment the number of the run under `key`, and return it. Runs begin at 1."""
    record = txn.get(key)
    run = (0 if record is None else int.from_bytes(record, "big")) + 1
    txn.put(key, run.to_bytes(_RUN_BYTES, "big"))
    return run
