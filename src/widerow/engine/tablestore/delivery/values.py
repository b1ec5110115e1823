"""What a task delivers of a row: the values of its columns, or why it does not fit (change §D3).

Deletes are not delivered, nor updates that only delete. An update delivers its new cells, so the
columns that it does not name are empty. Of a column with several versions it is the newest. Binary
values are left out. A value of another type than its column's makes its row one that does not fit.
"""

import base64
import json
import math
from typing import Final, NamedTuple

from widerow.engine.tablestore.delivery.names import is_representable
from widerow.engine.tablestore.delivery.times import event_time_us
from widerow.model.tablestore.delivery import DeliveryConfig, ParquetType
from widerow.model.tablestore.row import Modification
from widerow.model.values import Value
from widerow.rows.plain_values import VersionedValue, decode_plain_record

__all__ = ["DeliveredRecord", "DeliveredRow", "delivered_row", "read_delivered"]

_VALUE_BYTES: Final = 64  # memory that a value takes beside its text
_TYPES: Final[dict[ParquetType, type]] = {
    ParquetType.BOOL: bool,
    ParquetType.INT64: int,
    ParquetType.DOUBLE: float,
    ParquetType.UTF8: str,
}


class DeliveredRecord(NamedTuple):
    """A record of a tunnel: key and put cells by column, the newest version of each.

    `time_us`: of the change; None for a row that was there before. `newest_ms`: the greatest
    version, or None.
    """

    key: dict[str, Value]
    cells: dict[str, Value]
    time_us: int | None
    newest_ms: int | None


class DeliveredRow(NamedTuple):
    """A row of a file: values in the order of the task's columns, None where there is none.

    `time_us`: the time for the variables of the prefix. `dirty`: for a row that does not fit, the
    row and the reason as a line of JSON; `values` is empty then. `size`: about how many bytes of
    memory it takes.
    """

    time_us: int
    values: tuple[Value | None, ...]
    dirty: str
    size: int


def read_delivered(data: bytes) -> DeliveredRecord:
    """A record in the bytes that clients of tunnels get. Raises `StoreDamaged`. Linear."""
    record = decode_plain_record(data)
    put = [each for each in record.cells if isinstance(each, VersionedValue)]
    newest: dict[str, VersionedValue] = {}
    for cell in put:
        known = newest.get(cell.column)
        if known is None or cell.version > known.version:
            newest[cell.column] = cell
    cells = {name: cell.value for name, cell in newest.items()}
    last = max((cell.version for cell in put), default=None)
    time_us = None if record.stands is None else record.stands[0]
    return DeliveredRecord(dict(record.key), cells, time_us, last)


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
            found_type = type(value).__name__
            reason = f"column {column.name} is not of type {column.type.name}: {found_type}"
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
    """`value` for JSON: {"binary": base64} for bytes, {"double": text} for infinities and NaN."""
    if isinstance(value, bytes):
        return {"binary": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"double": repr(value)}
    return value
