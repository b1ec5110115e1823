"""All operations of the dialect, by their codes (nosql-wire §3.1), for both ways of the proxy.

What statements need is a third of this package: it is loaded with the first of them.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType, ModuleType
from typing import Any, Final

from widerow.auth.keyring import Permission
from widerow.limits import LENGTHY_BODY_BYTES
from widerow.wire.dialect import WireOperation
from widerow.wire.nosql.modes import CLOUD, ONPREM, NosqlMode
from widerow.wire.nosql.operations import rows, several, system, tables
from widerow.wire.nosql.operations.names import NAMES

__all__ = ["BY_CODE", "ONPREM_BY_CODE"]

_READ, _WRITE, _MANAGE = Permission.READ, Permission.WRITE, Permission.MANAGE
_Coded = tuple[int, WireOperation]


def _always(_body: bytes) -> bool:
    return True


def _large(body: bytes) -> bool:
    """Whether decoding takes a millisecond or more."""
    return len(body) > LENGTHY_BODY_BYTES


@cache
def _query() -> ModuleType:
    from widerow.wire.nosql.operations import query  # noqa: PLC0415  # with the first statement

    return query


class _Table:
    """The operations of one way of the proxy."""

    def __init__(self, mode: NosqlMode) -> None:
        self._mode = mode
        self._decode = self._in_mode(rows.decode_row_request)

    def _in_mode(self, decode: Callable[..., Any]) -> Callable[[bytes], Any]:
        return decode if self._mode is CLOUD else partial(decode, mode=self._mode)

    def _telling(self, encode: Callable[..., bytes]) -> Callable[[Any], bytes]:
        """A store of one's own tells no units."""
        return partial(encode, tells_cost=False) if self._mode.onprem else encode

    def _operation(
        self,
        code: int,
        permission: Permission,
        call: Callable[..., Any],
        encode: Callable[[Any], bytes],
        **more: Any,  # noqa: ANN401  # further parts of a WireOperation
    ) -> _Coded:
        """An operation by its code; it writes if it needs more than the permission to read."""
        more.setdefault("decode", self._decode)
        writes = permission is not _READ
        return code, WireOperation(
            NAMES[code], permission, writes=writes, call=call, encode=encode, **more
        )

    def _write(self, code: int) -> _Coded:
        call, encode = rows.write_typed, self._telling(rows.encode_written)
        consumed = rows.consumed_by_write
        return self._operation(code, _WRITE, call, encode, consumed=consumed, foreseen=True)

    def _about_tables(self, code: int, call: Callable[..., Any]) -> _Coded:
        return self._operation(code, _READ, call, tables.encode_message)

    def _statement(
        self,
        code: int,
        call: Callable[..., Any],
        **more: Any,  # noqa: ANN401  # further parts of a WireOperation
    ) -> _Coded:
        """PREPARE or QUERY."""
        tells_cost = not self._mode.onprem
        return self._operation(
            code,
            _READ,
            call,
            lambda answered: _query().encode_answered(answered, tells_cost=tells_cost),
            consumed=lambda answered: _query().consumed_by_query(answered),
            **more,
        )

    def _of_rows(self) -> tuple[_Coded, ...]:
        mode = self._mode
        return (
            *map(self._write, rows.WRITE_KINDS),
            self._operation(
                2,
                _READ,
                rows.get_typed,
                self._telling(rows.encode_found),
                consumed=lambda found: (found.cost.read_units, 0),
                foreseen=True,
            ),
            self._statement(
                7,
                lambda *asked: _query().run_query(*asked),
                permission_of=lambda body: _query().permission_of_query(body, mode),
                lengthy=_large,
                call_within=lambda *asked: _query().run_query_short(*asked),
                call_between=lambda *asked: _query().run_query(*asked),
            ),
            # Reading a statement alone may take a second.
            self._statement(8, lambda *asked: _query().prepare_query(*asked), lengthy=_always),
            self._operation(
                9,
                _WRITE,
                several.write_sequence,
                self._telling(several.encode_sequence),
                decode=self._in_mode(several.decode_sequence),
                consumed=several.consumed_by_sequence,
                foreseen=True,
            ),
            self._operation(
                10,
                _WRITE,
                several.delete_range,
                self._telling(several.encode_deleted),
                consumed=several.consumed_by_delete,
                lengthy=_always,
            ),
        )

    def _of_tables(self) -> tuple[_Coded, ...]:
        encode = tables.encode_message
        return (
            self._about_tables(11, tables.get_table),
            self._about_tables(12, tables.get_indexes),
            self._about_tables(13, tables.get_table_usage),
            self._about_tables(14, tables.list_typed),
            self._operation(15, _MANAGE, tables.request_table, encode, lengthy=_always),
            self._about_tables(35, tables.replica_stats),
        )

    def _of_system(self) -> tuple[_Coded, ...]:
        if not self._mode.onprem:
            return ()
        return (
            self._operation(
                23,
                _MANAGE,
                system.request_system,
                tables.encode_message,
                lengthy=_always,
                permission_of=system.permission_of_system,
            ),
            self._about_tables(24, system.system_status),
        )

    def by_code(self) -> Mapping[int, WireOperation]:
        """All of them."""
        return MappingProxyType(dict((*self._of_rows(), *self._of_tables(), *self._of_system())))


BY_CODE: Final = _Table(CLOUD).by_code()
"""The operations that are served as the vendor's cloud does, by their codes."""
ONPREM_BY_CODE: Final = _Table(ONPREM).by_code()
"""The operations that are served as by a store of one's own, by their codes."""
