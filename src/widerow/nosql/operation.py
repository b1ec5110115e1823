"""The writes of a single row: one set of six for tables and for sequences (model §5, §7)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from widerow.engine.typed.form import TableForm
from widerow.model.typed.requests import OperationKind, ReturnRow, Version, WriteChoice
from widerow.model.typed.table import TimeToLive

__all__ = ["Operation", "Operations", "RowWrites", "Target"]

R_co = TypeVar("R_co", covariant=True)


class Target(Protocol):
    """A table of an open store, as operations use it."""

    @property
    def form(self) -> TableForm:
        """The table as it is now. Raises `NotFound` once it was dropped."""
        ...


class RowWrites(ABC, Generic[R_co]):
    """The six writes of a single row. A subclass says whether they are made or only described."""

    @abstractmethod
    def _write(self, choice: WriteChoice) -> R_co: ...

    def put(
        self,
        row: Mapping[str, Any],
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
        returning: ReturnRow = ReturnRow.NONE,
    ) -> R_co:
        """Write a row, whether or not there is one.

        `ttl` is of a new row; without it the table's default. A row that is replaced keeps its
        expiry unless `update_ttl`, which sets `ttl` or the table's default again. `returning`: what
        the result shows of the row that was there.
        """
        return self._write(WriteChoice(OperationKind.PUT, row, None, ttl, update_ttl, returning))

    def put_if_absent(
        self,
        row: Mapping[str, Any],
        *,
        ttl: TimeToLive | None = None,
        returning: ReturnRow = ReturnRow.NONE,
    ) -> R_co:
        """Write a row if there is none."""
        kind = OperationKind.PUT_IF_ABSENT
        return self._write(WriteChoice(kind, row, ttl=ttl, returning=returning))

    def put_if_present(
        self,
        row: Mapping[str, Any],
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
        returning: ReturnRow = ReturnRow.NONE,
    ) -> R_co:
        """Write a row if there is one."""
        kind = OperationKind.PUT_IF_PRESENT
        return self._write(WriteChoice(kind, row, None, ttl, update_ttl, returning))

    def put_if_version(
        self,
        row: Mapping[str, Any],
        version: Version,
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
        returning: ReturnRow = ReturnRow.NONE,
    ) -> R_co:
        """Write a row if the one that is there is still of `version`."""
        kind = OperationKind.PUT_IF_VERSION
        return self._write(WriteChoice(kind, row, version, ttl, update_ttl, returning))

    def delete(self, key: Mapping[str, Any], *, returning: ReturnRow = ReturnRow.NONE) -> R_co:
        """Delete the row of a whole primary key; unsuccessful if there is none."""
        return self._write(WriteChoice(OperationKind.DELETE, key, returning=returning))

    def delete_if_version(
        self, key: Mapping[str, Any], version: Version, *, returning: ReturnRow = ReturnRow.NONE
    ) -> R_co:
        """Delete a row if it is still of `version`."""
        kind = OperationKind.DELETE_IF_VERSION
        return self._write(WriteChoice(kind, key, version, returning=returning))


class Operation(NamedTuple):
    """A write of one row of a table, not made yet: for `TypedStore.execute` and `write_many`."""

    table: Target
    choice: WriteChoice


class Operations(RowWrites[Operation]):
    """Describes writes of a table's rows without making them (`TableHandle.operation`)."""

    def __init__(self, table: Target, *, abort_if_unsuccessful: bool) -> None:
        """Operations on `table`; `abort_if_unsuccessful` is said of each of them."""
        self._table = table
        self._abort = abort_if_unsuccessful

    def _write(self, choice: WriteChoice) -> Operation:
        if self._abort:
            choice = choice._replace(abort_if_unsuccessful=True)
        return Operation(self._table, choice)
