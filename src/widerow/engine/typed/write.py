"""Putting and deleting one row in a transaction, by every condition (model §5, §8)."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, final

from widerow.engine.observer import RowEvent, Watch
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.requests import OperationKind, ReturnRow, Version, WriteChoice
from widerow.model.typed.values import TypedValue
from widerow.rows.typed import TYPED_HEADER_BYTES, typed_record
from widerow.rows.typed import typed_table_and_expiry as table_and_expiry
from widerow.storage.interface import Transaction

__all__ = ["HOUR_US", "Moment", "TypedRowWrite", "WriteResult", "write_typed_row"]

HOUR_US = 3_600_000_000
_VERSION: Final = TYPED_HEADER_BYTES - 16  # where it stands in a record


@final
class Moment:
    """The time and the version of a write, taken when its body runs and not when it is planned."""

    __slots__ = ("now_us", "version")

    def __init__(self, now_us: int, version: bytes) -> None:
        self.now_us = now_us
        self.version = version


@final
class TypedRowWrite:
    """A checked write of one row.

    `choice`: what was asked for. `form`: the table as it was when `values` were packed in its
    schema; None are the values of a delete. `shard`: what the key begins with. `generated`: the
    value that the store made for the row.
    """

    __slots__ = ("choice", "form", "generated", "key", "shard", "values")

    def __init__(
        self,
        choice: WriteChoice,
        form: TableForm,
        shard: bytes,
        key: bytes,
        values: bytes | None,
        generated: TypedValue = None,
    ) -> None:
        self.choice = choice
        self.form = form
        self.shard = shard
        self.key = key
        self.values = values
        self.generated = generated

    @property
    def size(self) -> int:
        """Bytes of the key and the values."""
        return len(self.key) + len(self.values or b"")


class WriteResult(NamedTuple):
    """The result of a write; it is true if the write happened.

    `version`: of the row as written. `previous`, `previous_version`: the row that was there, as
    far as `returning` asked for it. `generated`: the value that the store made for the row's
    identity or UUID column. `expires_ms`: when the row expires, 0: never. `rows`, `size`: by how
    many rows and bytes (keys and records) the table grew; negative where it shrank.
    """

    success: bool
    version: Version | None = None
    previous: StoredRow | None = None
    previous_version: Version | None = None
    generated: TypedValue = None
    expires_ms: int = 0
    rows: int = 0
    size: int = 0
    key: bytes = b""
    former: bytes = b""
    record: bytes = b""

    def __bool__(self) -> bool:
        return self.success


def _is_absent(record: bytes | None, _: Version | None) -> bool:
    return record is None


def _is_present(record: bytes | None, _: Version | None) -> bool:
    return record is not None


def _is_of_version(record: bytes | None, version: Version | None) -> bool:
    if record is None or version is None:
        return False
    return record[_VERSION:TYPED_HEADER_BYTES] == version.unique


_ALLOWED: Final[Mapping[OperationKind, Callable[[bytes | None, Version | None], bool]]] = {
    OperationKind.PUT_IF_ABSENT: _is_absent,
    OperationKind.PUT_IF_PRESENT: _is_present,
    OperationKind.PUT_IF_VERSION: _is_of_version,
    OperationKind.DELETE: _is_present,
    OperationKind.DELETE_IF_VERSION: _is_of_version,
}


def write_typed_row(
    txn: Transaction,
    write: TypedRowWrite,
    form: TableForm,
    moment: Moment,
    watch: Watch,
) -> WriteResult:
    """Write a row if its condition holds, for which an expired row does not exist.

    `form` is the newest form of the table, `watch` its observers. Cost: one read, one write, and
    the work of the observers.
    """
    key, choice = write.key, write.choice
    stored = txn.get(key)
    expiry_hour = 0
    record = stored
    if stored is not None:
        expiry_hour = table_and_expiry(stored)[1]
        if 0 < expiry_hour <= moment.now_us // HOUR_US:
            record = None
    previous = previous_version = None
    if choice.returning is not ReturnRow.NONE and record is not None:
        previous, previous_version = _previous(choice.returning, StoredRow(form, key, record))
    if choice.kind is not OperationKind.PUT and not _ALLOWED[choice.kind](record, choice.version):
        return WriteResult(
            success=False,
            previous=previous,
            previous_version=previous_version,
            key=key,
            former=record or b"",
        )
    if write.values is None:
        if watch and stored is not None:
            event = RowEvent(key, write.shard, StoredRow(form, key, stored), None, write)
            watch.changed(txn, event)
        txn.delete(key)
        return WriteResult(
            success=True,
            previous=previous,
            previous_version=previous_version,
            rows=-1 if stored is not None else 0,
            size=0 if stored is None else -len(key) - len(stored),
            key=key,
            former=record or b"",
        )
    if record is None or choice.update_ttl:
        ttl = choice.ttl if choice.ttl is not None else form.table.ttl
        expiry_hour = 0 if ttl is None else ttl.expiry_hour(moment.now_us)
    new = _record(write, expiry_hour, moment)
    if watch:
        old = None if stored is None else StoredRow(form, key, stored)
        watch.changed(txn, RowEvent(key, write.shard, old, StoredRow(form, key, new), write))
    txn.put(key, new)
    return WriteResult(  # by position: names cost a dict for every row
        True,  # noqa: FBT003  # success
        Version(moment.version),
        previous,
        previous_version,
        write.generated,
        expiry_hour * 3_600_000,
        1 if stored is None else 0,
        len(new) + len(key) if stored is None else len(new) - len(stored),
        key,
        record or b"",
        new,
    )


def _record(write: TypedRowWrite, expiry_hour: int, moment: Moment) -> bytes:
    assert write.values is not None
    table = write.form.table
    return typed_record(table, expiry_hour, moment.now_us // 1000, moment.version, write.values)


def _previous(wants: ReturnRow, row: StoredRow) -> tuple[StoredRow | None, Version | None]:
    """The former row and its version, each as far as `wants` asks for it."""
    return (
        row if wants in (ReturnRow.VALUE, ReturnRow.ALL) else None,
        row.version if wants in (ReturnRow.VERSION, ReturnRow.ALL) else None,
    )
