"""What a task delivers of a row: the values of its columns, or why it does not fit (change §D3).

Deletes are not delivered, nor updates that only delete. An update delivers its new cells, so the
columns that it does not name are empty. Of a column with several versions it is the newest. Binary
values are left out. A value of another type than its column's makes its row one that does not fit.
"""

import base64
import json
import math
import struct
from typing import Final, NamedTuple

from widerow.engine.delivery.names import is_representable
from widerow.engine.delivery.times import event_time_us
from widerow.errors import StoreDamaged
from widerow.model.delivery import DeliveryConfig, ParquetType
from widerow.model.row import Modification
from widerow.model.values import Value
from widerow.rows.cells import (
    TAG_CELL,
    TAG_CELL_TIMESTAMP,
    TAG_CELL_TYPE,
    TAG_CELL_VALUE,
    TAG_ROW_DATA,
    TAG_ROW_KEY,
    decode_variant,
)

__all__ = ["DeliveredRecord", "DeliveredRow", "delivered_row", "read_delivered"]

_HEADER_BYTES: Final = 4
_UINT32: Final = struct.Struct("<I")
_INT64: Final = struct.Struct("<q")
_EXTENSION: Final = struct.Struct("<BIBIBiBqBi")  # (change §C1.4)
_EXTENSION_TAG: Final = 0x0B
_VALUE_BYTES: Final = 64  # what a value takes in memory beside its text
_TYPES: Final[dict[ParquetType, type]] = {
    ParquetType.BOOL: bool,
    ParquetType.INT64: int,
    ParquetType.DOUBLE: float,
    ParquetType.UTF8: str,
}


class DeliveredRecord(NamedTuple):
    """A record of a tunnel: key and put cells by column, the newest version of each.

    `time_us`: of the change; None of rows as they are. `newest_ms`: the greatest version, or None.
    """

    key: dict[str, Value]
    cells: dict[str, Value]
    time_us: int | None
    newest_ms: int | None


class DeliveredRow(NamedTuple):
    """A row of a file: values in the order of the task's columns, None where there is none.

    `time_us`: what the prefix is filled with. `dirty`: of a row that does not fit, itself and why,
    as a line of JSON; it has no values. `size`: about how many bytes of memory it takes.
    """

    time_us: int
    values: tuple[Value | None, ...]
    dirty: str
    size: int


def read_delivered(data: bytes) -> DeliveredRecord:
    """A record in the bytes that clients of tunnels get. Raises `StoreDamaged`. Linear."""
    try:
        return _read(data)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise StoreDamaged("a record to be delivered is cut off") from error


def _read(data: bytes) -> DeliveredRecord:
    key: dict[str, Value] = {}
    cells: dict[str, Value] = {}
    versions: dict[str, int] = {}
    position = _HEADER_BYTES
    if data[position] != TAG_ROW_KEY:
        raise StoreDamaged("a record to be delivered does not begin with its key")
    position += 1
    while data[position] == TAG_CELL:
        name, value, _, position = _cell(data, position)
        if value is not None:
            key[name] = value
    if data[position] == TAG_ROW_DATA:
        position += 1
        while data[position] == TAG_CELL:
            name, value, version, position = _cell(data, position)
            if value is not None and (name not in versions or version > versions[name]):
                cells[name], versions[name] = value, version
    time_us = None
    if data[position] == _EXTENSION_TAG:
        time_us = int(_EXTENSION.unpack_from(data, position)[7])
    return DeliveredRecord(key, cells, time_us, max(versions.values(), default=None))


def _cell(data: bytes, start: int) -> tuple[str, Value | None, int, int]:
    """Name, value (None of a deletion), version and end of the cell at `start`."""
    end = start + 6 + int(_UINT32.unpack_from(data, start + 2)[0])
    name = data[start + 6 : end].decode()
    value: Value | None = None
    version = 0
    if data[end] == TAG_CELL_VALUE:
        begin = end + 5
        end = begin + int(_UINT32.unpack_from(data, end + 1)[0])
        value = decode_variant(data, begin, end)
    if data[end] == TAG_CELL_TYPE:
        end += 2
    if data[end] == TAG_CELL_TIMESTAMP:
        version = int(_INT64.unpack_from(data, end + 1)[0])
        end += 9
    return name, value, version, end + 2


def delivered_row(
    config: DeliveryConfig, action: int, data: bytes, fallback_us: int
) -> DeliveredRow | None:
    """What a task delivers of a record; None where that is nothing.

    The time of a row is that of its event column, where it has one; else of the change; else that
    of its newest version; else `fallback_us`. It never depends on when it is delivered, so that a
    repetition has the same name. Raises `StoreDamaged`.
    """
    if action == Modification.DELETE.value:
        return None
    record = read_delivered(data)
    if action == Modification.UPDATE.value and not record.cells:
        return None
    found = {**record.cells, **record.key}
    time_us = _written_us(record, fallback_us)
    event = config.event_column
    if event is not None and event.name in found:
        event_us = event_time_us(event.format, found[event.name])
        if event_us is None:
            return _dirty(record, time_us, f"column {event.name} says no {event.format.name} time")
        time_us = event_us
    values: list[Value | None] = []
    size = _VALUE_BYTES
    for column in config.columns:
        value = found.get(column.name)
        if isinstance(value, bytes):
            value = None
        if value is not None and type(value) is not _TYPES[column.type]:
            reason = f"column {column.name} is no {column.type.name}: {type(value).__name__}"
            return _dirty(record, time_us, reason)
        values.append(value)
        size += _VALUE_BYTES + (4 * len(value) if isinstance(value, str) else 0)
    return DeliveredRow(time_us, tuple(values), "", size)


def _written_us(record: DeliveredRecord, fallback_us: int) -> int:
    for time_us in (
        record.time_us,
        None if record.newest_ms is None else record.newest_ms * 1000,
    ):
        if time_us is not None and is_representable(time_us):
            return time_us
    return fallback_us


def _dirty(record: DeliveredRecord, time_us: int, reason: str) -> DeliveredRow:
    line = json.dumps(
        {
            "reason": reason,
            "key": {name: _plain(value) for name, value in record.key.items()},
            "columns": {name: _plain(value) for name, value in record.cells.items()},
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return DeliveredRow(time_us, (), line, _VALUE_BYTES + 4 * len(line))


def _plain(value: Value) -> object:
    """As JSON has it: {"binary": base64} for bytes, {"double": text} for what is no number."""
    if isinstance(value, bytes):
        return {"binary": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"double": repr(value)}
    return value
