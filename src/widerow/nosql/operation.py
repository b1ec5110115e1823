"""Writes described before they are made: for sequences and for batches (model §7)."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from widerow.engine.typed.form import TableForm
from widerow.model.typed.requests import OperationKind, ReturnRow, Version, WriteChoice
from widerow.model.typed.table import TimeToLive

__all__ = ["Operation", "Target"]


class Target(Protocol):
    """A table of an open store, as operations use it."""

    @property
    def form(self) -> TableForm:
        """The table as it is now. Raises `NotFound` once it was dropped."""
        ...


class Operation(NamedTuple):
    """One write of one row. Made by the class methods, which are named as the table's own.

    `abort_if_unsuccessful`: in a sequence, undo all of it when this one does not succeed.
    """

    table: Target
    choice: WriteChoice
    abort_if_unsuccessful: bool = False

    @classmethod
    def put(  # what a put can be asked for
        cls,
        table: Target,
        row: Mapping[str, Any],
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
        returning: ReturnRow = ReturnRow.NONE,
        abort_if_unsuccessful: bool = False,
    ) -> "Operation":
        """Write the row, whether or not there is one."""
        choice = WriteChoice(OperationKind.PUT, row, None, ttl, update_ttl, returning)
        return cls(table, choice, abort_if_unsuccessful)

    @classmethod
    def put_if_absent(
        cls,
        table: Target,
        row: Mapping[str, Any],
        *,
        ttl: TimeToLive | None = None,
        returning: ReturnRow = ReturnRow.NONE,
        abort_if_unsuccessful: bool = False,
    ) -> "Operation":
        """Write the row if there is none."""
        choice = WriteChoice(OperationKind.PUT_IF_ABSENT, row, ttl=ttl, returning=returning)
        return cls(table, choice, abort_if_unsuccessful)

    @classmethod
    def put_if_present(  # what a put can be asked for
        cls,
        table: Target,
        row: Mapping[str, Any],
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
        returning: ReturnRow = ReturnRow.NONE,
        abort_if_unsuccessful: bool = False,
    ) -> "Operation":
        """Write the row if there is one."""
        choice = WriteChoice(OperationKind.PUT_IF_PRESENT, row, None, ttl, update_ttl, returning)
        return cls(table, choice, abort_if_unsuccessful)

    @classmethod
    def put_if_version(  # what a put can be asked for
        cls,
        table: Target,
        row: Mapping[str, Any],
        version: Version,
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
        returning: ReturnRow = ReturnRow.NONE,
        abort_if_unsuccessful: bool = False,
    ) -> "Operation":
        """Write the row if it is still of that version."""
        kind = OperationKind.PUT_IF_VERSION
        choice = WriteChoice(kind, row, version, ttl, update_ttl, returning)
        return cls(table, choice, abort_if_unsuccessful)

    @classmethod
    def delete(
        cls,
        table: Target,
        key: Mapping[str, Any],
        *,
        returning: ReturnRow = ReturnRow.NONE,
        abort_if_unsuccessful: bool = False,
    ) -> "Operation":
        """Delete the row; unsuccessful if there is none."""
        choice = WriteChoice(OperationKind.DELETE, key, returning=returning)
        return cls(table, choice, abort_if_unsuccessful)

    @classmethod
    def delete_if_version(
        cls,
        table: Target,
        key: Mapping[str, Any],
        version: Version,
        *,
        returning: ReturnRow = ReturnRow.NONE,
        abort_if_unsuccessful: bool = False,
    ) -> "Operation":
        """Delete the row if it is still of that version."""
        choice = WriteChoice(OperationKind.DELETE_IF_VERSION, key, version, returning=returning)
        return cls(table, choice, abort_if_unsuccessful)
