"""Every action makes of any body a request or a declared error, and the engine of any request.

The first byte chooses the action, the rest is the body. What decodes is carried out on a store in
memory: an answer that encodes, or an error that clients know, and the store stays whole.
"""

from functools import cache
from typing import Final

from tests.fuzz.prepared import Prepared, ask
from tools.recorded import recorded

from widerow.engine.check import check_store
from widerow.errors import StorageFailure, WiderowError
from widerow.wire.tablestore.errors.answers import encode_error, foreign, hint
from widerow.wire.tablestore.operations.table import OPERATIONS, OWN

__all__ = ["SEEDS", "check"]

_TABLE: Final = "T"
_ACTIONS: Final = (*OPERATIONS.values(), *OWN.values())
_NUMBERS: Final = {action.name: number for number, action in enumerate(_ACTIONS)}
_CHECK_EVERY: Final = 100
SEEDS: Final = (
    *(bytes((_NUMBERS[name],)) + body for name, _, body in recorded(_TABLE)),
    *(bytes((_NUMBERS[name],)) + body for name, body in Prepared().requests()),
    bytes((_NUMBERS["WiderowPartitions"],)) + b'{"table": "T", "history": true}',
)


class _World:
    """An engine with tables, made anew now and then: the fuzzer drops tables as well."""

    def __init__(self) -> None:
        self.engine = Prepared().engine
        self.store = self.engine.core.store
        self.left = _CHECK_EVERY

    def do(self, number: int, body: bytes) -> None:
        try:
            encoded = ask(self.engine, _ACTIONS[number], body)
            assert isinstance(encoded, bytes)
        except StorageFailure:
            raise
        except WiderowError as error:
            status, code, message = foreign(error)
            assert 400 <= status < 500, f"{code} is a fault of ours"
            encode_error(code, message)
            hint(error).encode("ascii")
        self.left -= 1


@cache
def _worlds() -> list[_World]:
    return [_World()]


def check(data: bytes) -> None:
    """Carry out one request."""
    if not data:
        return
    worlds = _worlds()
    worlds[0].do(data[0] % len(_ACTIONS), data[1:])
    if worlds[0].left <= 0:
        assert check_store(worlds[0].store) == [], "the store is damaged"
        worlds[0].store.close()
        worlds[0] = _World()
