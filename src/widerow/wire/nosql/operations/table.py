"""All operations of the dialect, by their codes (nosql-wire §3.1).

What statements need is a third of this package: it is loaded with the first of them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.wire.dialect import WireOperation
from widerow.wire.nosql.operations import rows, several, tables
from widerow.wire.nosql.operations.names import NAMES

__all__ = ["BY_CODE", "NOSQL_OPERATIONS"]

_READ, _WRITE, _MANAGE = Permission.READ, Permission.WRITE, Permission.MANAGE


def _always(_body: bytes) -> bool:
    return True


def _operation(
    code: int,
    permission: Permission,
    call: Callable[..., Any],
    encode: Callable[[Any], bytes],
    **more: Any,  # noqa: ANN401  # further parts of a WireOperation
) -> tuple[int, WireOperation]:
    """An operation by its code; it writes if it needs more than the permission to read."""
    more.setdefault("decode", rows.decode_row_request)
    writes = permission is not _READ
    return code, WireOperation(
        NAMES[code], permission, writes=writes, call=call, encode=encode, **more
    )


def _write(code: int) -> tuple[int, WireOperation]:
    call, encode = rows.write_typed, rows.encode_written
    return _operation(code, _WRITE, call, encode, consumed=rows.consumed_by_write, foreseen=True)


def _about_tables(code: int, call: Callable[..., Any]) -> tuple[int, WireOperation]:
    return _operation(code, _READ, call, tables.encode_message)


def _query() -> ModuleType:
    from widerow.wire.nosql.operations import query  # noqa: PLC0415  # with the first statement

    return query


def _statement(
    code: int,
    call: Callable[..., Any],
    **more: Any,  # noqa: ANN401  # as above
) -> tuple[int, WireOperation]:
    """PREPARE or QUERY: reading a statement alone may take a second."""
    return _operation(
        code,
        _READ,
        call,
        lambda answered: _query().encode_answered(answered),
        consumed=lambda answered: _query().consumed_by_query(answered),
        lengthy=_always,
        **more,
    )


BY_CODE: Final[Mapping[int, WireOperation]] = MappingProxyType(
    dict(
        (
            *map(_write, rows.WRITE_KINDS),
            _operation(
                2,
                _READ,
                rows.get_typed,
                rows.encode_found,
                consumed=lambda found: (found.cost.read_units, 0),
                foreseen=True,
            ),
            _statement(
                7,
                lambda *asked: _query().run_query(*asked),
                permission_of=lambda body: _query().permission_of_query(body),
                call_between=lambda *asked: _query().run_query(*asked),
            ),
            _statement(8, lambda *asked: _query().prepare_query(*asked)),
            _operation(
                9,
                _WRITE,
                several.write_sequence,
                several.encode_sequence,
                decode=several.decode_sequence,
                consumed=several.consumed_by_sequence,
                foreseen=True,
            ),
            _operation(
                10,
                _WRITE,
                several.delete_range,
                several.encode_deleted,
                consumed=several.consumed_by_delete,
                lengthy=_always,
            ),
            _about_tables(11, tables.get_table),
            _about_tables(12, tables.get_indexes),
            _about_tables(13, tables.get_table_usage),
            _about_tables(14, tables.list_typed),
            _operation(15, _MANAGE, tables.request_table, tables.encode_message, lengthy=_always),
            _about_tables(35, tables.replica_stats),
        )
    )
)
"""The operations that are served, by their codes."""

NOSQL_OPERATIONS: Final[Mapping[str, WireOperation]] = MappingProxyType(
    {each.name: each for each in BY_CODE.values()}
)
"""The operations that are served, by their names."""
