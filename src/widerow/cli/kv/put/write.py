"""Writing one row as a command asks for it, and what is said of it (cli §6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from widerow.cli.kv.command import Arguments
from widerow.cli.kv.data.values import key_json
from widerow.cli.kv.faults import PlainFault
from widerow.model.typed.names import folded
from widerow.nosql import ReturnRow, Table, WriteResult

__all__ = ["Condition", "put_row"]


@dataclass(frozen=True, slots=True)
class Condition:
    """When a row is written, and how: all of it, or merged into the one that is there."""

    if_absent: bool = False
    if_present: bool = False
    merged: bool = False

    @classmethod
    def of(cls, given: Arguments) -> "Condition":
        """What the flags say."""
        return cls(given.has("-if-absent"), given.has("-if-present"), given.has("-update"))


def put_row(table: Table, row: Mapping[str, Any], condition: Condition) -> str:
    """Write a row and say what happened. Raises `PlainFault` where the condition does not hold."""
    if condition.merged:
        return _merge(table, row)
    if condition.if_absent:
        return _said(table, row, table.put_if_absent(row), condition)
    if condition.if_present:
        return _said(table, row, table.put_if_present(row), condition)
    result = table.put(row, returning=ReturnRow.VERSION)
    return _success(inserted=result.previous_version is None)


def _merge(table: Table, row: Mapping[str, Any]) -> str:
    """Set the given columns of a row that is there; again if it was changed in between."""
    while True:
        key = _key(table, row)
        held = table.get(key)
        if held is None:
            raise _refused("No existing record was present", table, row)
        if table.put_if_version({**held.to_dict(), **row}, held.version):
            return _success(inserted=False)


def _said(table: Table, row: Mapping[str, Any], result: WriteResult, condition: Condition) -> str:
    if result.success:
        return _success(inserted=condition.if_absent)
    if condition.if_absent:
        raise _refused("A record was already present", table, row)
    raise _refused("No existing record was present", table, row)


def _key(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    names = {folded(name) for name in table.definition.primary_key}
    return {name: value for name, value in row.items() if folded(name) in names}


def _success(*, inserted: bool) -> str:
    return f"Operation successful, row {'inserted' if inserted else 'updated'}."


def _refused(what: str, table: Table, row: Mapping[str, Any]) -> PlainFault:
    key = key_json(table.definition, row)
    return PlainFault(f"Operation failed, {what} with the given primary key: {key}")
