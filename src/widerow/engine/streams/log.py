"""The layout of a stream's records (docs/formats/streams.md).

    12 table stream shard                         the head: last record, how far trimmed
    12 table stream shard timestamp row-index     a record, or several that were put together,
                                                  under the position of the last of them

Table and stream in four bytes, shard and timestamp (microseconds since 1970) in eight, row index in
four, big-endian: so records lie in the order in which they were made.

Where a row's transaction does not reach the log, the head also says which intents the last append
took, and whether the shard is sealed (`mover.py`).
"""

import struct
from typing import Final, NamedTuple

from widerow.errors import StoreDamaged
from widerow.keys.layout import change_prefix
from widerow.model.streams import Stream
from widerow.rows.fields import field, read_varint
from widerow.storage.interface import Reader

__all__ = [
    "EMPTY_HEAD",
    "LOG_START",
    "ROW_INDEX_MAX",
    "LogHead",
    "LogPosition",
    "LogRecord",
    "decode_head",
    "decode_record",
    "encode_head",
    "encode_record",
    "following_position",
    "log_prefix",
    "new_head",
    "position_of",
    "read_head",
    "record_key",
    "shard_prefix",
]

ROW_INDEX_MAX: Final = 2**31 - 1
"""The largest row index: four bytes with a sign on the wire."""

_SHARD: Final = struct.Struct(">Q")
_POSITION: Final = struct.Struct(">QI")
_HEAD: Final = struct.Struct(">QIQI")
_SEALED: Final = struct.Struct(">B")
_MOVED: Final = struct.Struct(">H")  # length of a key
_ACTIONS: Final = {1: b"\x08\x01\x12", 2: b"\x08\x02\x12", 3: b"\x08\x03\x12"}
"""How a record begins: the field of its action, and the key of the field behind it."""
_ORIGIN: Final = b"\x1a"
_RECORD_BYTES_MIN: Final = 4


class LogPosition(NamedTuple):
    """The position of a record in its shard: `timestamp_us`, and the row index at that time."""

    timestamp_us: int
    row_index: int

    @property
    def behind(self) -> "LogPosition":
        """The next position, at which reading goes on."""
        return LogPosition(self.timestamp_us, self.row_index + 1)


class LogHead(NamedTuple):
    """The head of a shard: its last record, and the first position that is kept.

    `last`: (0, 0) where there was no record. `trimmed`: after the last trimmed record; (0, 0) where
    none was trimmed. `sealed`: nothing is appended any more. `moved`: the keys of the intents that
    the last append took. Both are used only where transactions do not reach over shards.
    """

    last: LogPosition
    trimmed: LogPosition
    sealed: bool = False
    moved: tuple[bytes, ...] = ()


LOG_START: Final = LogPosition(0, 0)
"""Before every record: an iterator that begins here is never too old."""

EMPTY_HEAD: Final = LogHead(LOG_START, LOG_START)


def new_head(floor_us: int) -> LogHead:
    """The head of a shard without records, all of which are to be later than `floor_us`."""
    return LogHead(LogPosition(floor_us, ROW_INDEX_MAX), LOG_START)


def following_position(head: LogHead, asked_us: int, count: int = 1) -> LogPosition:
    """The position of the next record: at the time the change was asked for, if that is later.

    Of a record of several changes it is the position of the last of them, which have one time.
    """
    last = head.last
    if asked_us > last.timestamp_us:
        return LogPosition(asked_us, count - 1)
    if last.row_index > ROW_INDEX_MAX - count:
        return LogPosition(last.timestamp_us + 1, count - 1)
    return LogPosition(last.timestamp_us, last.row_index + count)


class LogRecord(NamedTuple):
    """A change as it is stored: the action (the number of the wire), and the rows.

    `record` and `origin` are complete PlainBuffers; `origin` is b"" where there is none.
    """

    action: int
    record: bytes
    origin: bytes


def log_prefix(table_id: int, log: Stream) -> bytes:
    """What all keys of a log begin with."""
    return change_prefix(table_id) + log.number.to_bytes(4, "big")


def shard_prefix(table_id: int, stream: int, shard: int) -> bytes:
    """The key of a shard's head, which the keys of its records begin with."""
    return change_prefix(table_id) + stream.to_bytes(4, "big") + _SHARD.pack(shard)


def record_key(prefix: bytes, position: LogPosition) -> bytes:
    """The key of a record."""
    return prefix + _POSITION.pack(*position)


def position_of(key: bytes) -> LogPosition:
    """The position in the key of a record. Raises `StoreDamaged`."""
    try:
        return LogPosition(*_POSITION.unpack(key[_PREFIX_BYTES:]))
    except struct.error as error:
        raise StoreDamaged("the key of a change record has another length") from error


_PREFIX_BYTES: Final = 17


def encode_head(head: LogHead) -> bytes:
    """The record of a head."""
    data = _HEAD.pack(*head.last, *head.trimmed)
    if not head.sealed and not head.moved:
        return data
    moved = [_MOVED.pack(len(key)) + key for key in head.moved]
    return b"".join((data, _SEALED.pack(head.sealed), *moved))


def decode_head(data: bytes) -> LogHead:
    """The head of a record. Raises `StoreDamaged`."""
    try:
        last_us, last_index, trimmed_us, trimmed_index = _HEAD.unpack_from(data)
        last, trimmed = LogPosition(last_us, last_index), LogPosition(trimmed_us, trimmed_index)
        if len(data) == _HEAD.size:
            return LogHead(last, trimmed)
        (sealed,) = _SEALED.unpack_from(data, _HEAD.size)
        position, moved = _HEAD.size + _SEALED.size, []
        while position < len(data):
            begin = position + _MOVED.size
            position = begin + _MOVED.unpack_from(data, position)[0]
            moved.append(data[begin:position])
    except struct.error as error:
        raise StoreDamaged("the head of a stream's shard has another length") from error
    if position != len(data) or sealed > 1:
        raise StoreDamaged("the head of a stream's shard is not readable")
    return LogHead(last, trimmed, sealed == 1, tuple(moved))


def read_head(reader: Reader, prefix: bytes) -> LogHead | None:
    """The head of a shard; None where nothing was written there yet. Raises `StoreDamaged`."""
    data = reader.get(prefix)
    return None if data is None else decode_head(data)


def encode_record(record: LogRecord) -> bytes:
    """The value of a record: the fields of the wire's `StreamRecord`, so pages only join them."""
    origin = field(_ORIGIN, record.origin) if record.origin else b""
    return b"".join((field(_ACTIONS[record.action], record.record), origin))


def decode_record(data: bytes) -> LogRecord:
    """The record of a value. Raises `StoreDamaged`."""
    if len(data) < _RECORD_BYTES_MIN or data[:3] != _ACTIONS.get(data[1]):
        raise StoreDamaged("a change record is too short, or of an unknown action")
    size, start = read_varint(data, 3)
    end = start + size
    if len(data) <= end:
        if len(data) < end:
            raise StoreDamaged("a change record is cut off")
        return LogRecord(data[1], data[start:], b"")
    size, first = read_varint(data, end + 1)
    if data[end : end + 1] != _ORIGIN or not size or first + size != len(data):
        raise StoreDamaged("the former row of a change record is not readable")
    return LogRecord(data[1], data[start:end], data[first:])
