"""The names of delivered files (change §D3).

    <prefix>/<task>_<concurrent id>_<prefix with / as _>__<sequence>.parquet

A bucket is one directory below the server's root, and the parts of a prefix are directories in it.
The checks here keep every name below the root; that no link leads out of it is checked when files
are opened (`server/delivery/files.py`).
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.limits import DELIVERY_PREFIX_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule

__all__ = [
    "DeliveredFile",
    "check_bucket",
    "check_prefix",
    "check_task_name",
    "dirty_file",
    "expanded",
    "is_representable",
    "parquet_file",
]

_BUCKET: Final = re.compile(r"[a-z0-9-]{3,63}")
_TASK: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,14}[a-z0-9]")
_SPACE: Final = 0x20  # control characters, NUL among them, sort before it
_DELETE_CHARACTER: Final = 0x7F
_VARIABLES: Final = re.compile(r"\$(?:yyyy|MM|dd|HH|mm)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LAST_US: Final = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH) // timedelta(
    microseconds=1
)


class DeliveredFile(NamedTuple):
    """A file: the directories that lead to it from the bucket, and its name."""

    directories: tuple[str, ...]
    name: str


def check_task_name(name: str) -> None:
    """Raise `InvalidRequest(DELIVERY_NAME)` unless `name` may name a task."""
    if not _TASK.fullmatch(name):
        raise InvalidRequest(TablestoreRule.DELIVERY_NAME, name=name)


def check_bucket(bucket: str) -> None:
    """Raise `InvalidRequest(DELIVERY_BUCKET)` unless `name` may name a bucket."""
    if not _BUCKET.fullmatch(bucket):
        raise InvalidRequest(TablestoreRule.DELIVERY_BUCKET, bucket=bucket)


def check_prefix(prefix: str) -> None:
    """Raise `InvalidRequest(DELIVERY_PREFIX)` for a prefix that is no directory below the bucket.

    No prefix at all is the bucket itself.
    """
    if len(prefix.encode()) > DELIVERY_PREFIX_BYTES_MAX or not all(map(_is_part, _parts(prefix))):
        raise InvalidRequest(TablestoreRule.DELIVERY_PREFIX, prefix=prefix)


def _parts(prefix: str) -> tuple[str, ...]:
    return tuple(prefix.split("/")) if prefix else ()


def _is_part(part: str) -> bool:
    if part in ("", ".", "..") or part.startswith("~"):
        return False
    return all(ord(each) >= _SPACE and ord(each) != _DELETE_CHARACTER for each in part)


def is_representable(time_us: int) -> bool:
    """Whether a time has a year of four digits, which prefixes need."""
    return _FIRST_US <= time_us <= _LAST_US


def expanded(prefix: str, time_us: int) -> str:
    """The prefix with a time, in microseconds since 1970, in place of its variables; in UTC.

    `$yyyy`, `$MM`, `$dd`, `$HH` and `$mm` are variables; any other `$` stands for itself.
    """
    if "$" not in prefix:
        return prefix
    time = _EPOCH + timedelta(microseconds=time_us)
    values = {
        "$yyyy": f"{time.year:04}",
        "$MM": f"{time.month:02}",
        "$dd": f"{time.day:02}",
        "$HH": f"{time.hour:02}",
        "$mm": f"{time.minute:02}",
    }
    return _VARIABLES.sub(lambda found: values[found[0]], prefix)


def parquet_file(prefix: str, task: str, concurrent: str, sequence: int) -> DeliveredFile:
    """The file of a task's channel under an expanded prefix."""
    return _file(prefix, task, concurrent, f"{sequence}.parquet")


def dirty_file(prefix: str, task: str, concurrent: str, sequence: int) -> DeliveredFile:
    """The file for a channel's rows that do not fit: one JSON object in a line."""
    return _file(prefix, task, concurrent, f"{sequence}.jsonl")


def _file(prefix: str, task: str, concurrent: str, rest: str) -> DeliveredFile:
    flat = prefix.replace("/", "_")
    return DeliveredFile(_parts(prefix), f"{task}_{concurrent}_{flat}__{rest}")
