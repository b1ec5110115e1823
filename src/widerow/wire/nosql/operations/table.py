"""All operations of the dialect, by their codes (nosql-wire §3.1)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.engine.typed.engine import TypedEngine
from widerow.wire.dialect import WireOperation
from widerow.wire.nosql.envelope import Frame
from widerow.wire.nosql.operations import query, rows, several, tables
from widerow.wire.nosql.operations.names import NAMES

__all__ = ["BY_CODE", "NOSQL_OPERATIONS"]


def _write(code: int) -> WireOperation:
    return WireOperation(
        NAMES[code],
        Permission.WRITE,
        writes=True,
        decode=rows.decode_row_request,
        call=rows.write_typed,
        encode=rows.encode_written,
        consumed=rows.consumed_by_write,
        foreseen=True,
    )


def _about_tables(
    code: int, call: Callable[[TypedEngine, str, Frame], tables.Message]
) -> WireOperation:
    return WireOperation(
        NAMES[code],
        Permission.READ,
        writes=False,
        decode=rows.decode_row_request,
        call=call,
        encode=tables.encode_message,
    )


BY_CODE: Final[Mapping[int, WireOperation]] = MappingProxyType(
    {
        **{code: _write(code) for code in rows.WRITE_KINDS},
        2: WireOperation(
            NAMES[2],
            Permission.READ,
            writes=False,
            decode=rows.decode_row_request,
            call=rows.get_typed,
            encode=rows.encode_found,
            consumed=lambda found: (found.cost.read_units, 0),
            foreseen=True,
        ),
        7: WireOperation(
            NAMES[7],
            Permission.READ,
            writes=False,
            decode=several.decode_sequence,
            call=query.run_query,
            encode=query.encode_answered,
            consumed=query.consumed_by_query,
            lengthy=lambda _: True,
            permission_of=query.permission_of_query,
        ),
        8: WireOperation(
            NAMES[8],
            Permission.READ,
            writes=False,
            decode=rows.decode_row_request,
            call=query.prepare_query,
            encode=query.encode_answered,
            consumed=query.consumed_by_query,
        ),
        9: WireOperation(
            NAMES[9],
            Permission.WRITE,
            writes=True,
            decode=several.decode_sequence,
            call=several.write_sequence,
            encode=several.encode_sequence,
            consumed=several.consumed_by_sequence,
            foreseen=True,
        ),
        10: WireOperation(
            NAMES[10],
            Permission.WRITE,
            writes=True,
            decode=rows.decode_row_request,
            call=several.delete_range,
            encode=several.encode_deleted,
            consumed=several.consumed_by_delete,
            lengthy=lambda _: True,
        ),
        11: _about_tables(11, tables.get_table),
        12: _about_tables(12, tables.get_indexes),
        13: _about_tables(13, tables.get_table_usage),
        14: _about_tables(14, tables.list_typed),
        15: WireOperation(
            NAMES[15],
            Permission.MANAGE,
            writes=True,
            decode=rows.decode_row_request,
            call=tables.request_table,
            encode=tables.encode_message,
            lengthy=lambda _: True,
        ),
        35: _about_tables(35, tables.replica_stats),
    }
)
"""The operations that are served, by their codes."""


def _by_name() -> dict[str, Any]:
    return {each.name: each for each in BY_CODE.values()}


NOSQL_OPERATIONS: Final[Mapping[str, WireOperation]] = MappingProxyType(_by_name())
"""The same, by their names."""
