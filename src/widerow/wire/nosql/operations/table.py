"""All operations of the dialect, by their codes (wire §3.1)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.wire.dialect import WireOperation
from widerow.wire.nosql.operations import rows

__all__ = ["BY_CODE", "NAMES", "OPERATIONS"]

NAMES: Final[tuple[str, ...]] = (
    *("DELETE", "DELETE_IF_VERSION", "GET", "PUT", "PUT_IF_ABSENT", "PUT_IF_PRESENT"),
    *("PUT_IF_VERSION", "QUERY", "PREPARE", "WRITE_MULTIPLE", "MULTI_DELETE", "GET_TABLE"),
    *("GET_INDEXES", "GET_TABLE_USAGE", "LIST_TABLES", "TABLE_REQUEST", "SCAN", "INDEX_SCAN"),
    *("CREATE_TABLE", "ALTER_TABLE", "DROP_TABLE", "CREATE_INDEX", "DROP_INDEX"),
    *("SYSTEM_REQUEST", "SYSTEM_STATUS_REQUEST", "GET_TABLES", "GET_TABLE_INDEXES"),
    *("CREATE_TABLE_REST", "ALTER_TABLE_REST", "DROP_TABLE_REST", "CREATE_INDEX_REST"),
    *("DROP_INDEX_REST", "GET_INDEX", "ADD_REPLICA", "DROP_REPLICA", "GET_REPLICA_STATS"),
    *("INTERNAL_DDL", "INTERNAL_STATUS", "GET_CONFIGURATION", "UPDATE_CONFIGURATION"),
    *("GET_KMS_KEY", "UPDATE_KMS_KEY", "REMOVE_KMS_KEY"),
)
"""The names of the operations, by their codes."""


def _write(code: int) -> WireOperation:
    return WireOperation(
        NAMES[code],
        Permission.WRITE,
        writes=True,
        decode=rows.decode_row_request,
        call=rows.write_row,
        encode=rows.encode_written,
        consumed=rows.consumed_by_write,
        foreseen=True,
    )


BY_CODE: Final[Mapping[int, WireOperation]] = MappingProxyType(
    {
        **{code: _write(code) for code in rows.KINDS},
        2: WireOperation(
            NAMES[2],
            Permission.READ,
            writes=False,
            decode=rows.decode_row_request,
            call=rows.get_row,
            encode=rows.encode_found,
            consumed=lambda found: (found.cost.read_units, 0),
            foreseen=True,
        ),
    }
)
"""The operations that are served, by their codes."""


def _by_name() -> dict[str, Any]:
    return {each.name: each for each in BY_CODE.values()}


OPERATIONS: Final[Mapping[str, WireOperation]] = MappingProxyType(_by_name())
"""The same, by their names."""
