"""A request of Oracle NoSQL's drivers is answered in NSON, or refused so; what decodes, encodes."""

from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

from tests.support.nosql_wire import answer_to, request

from widerow import nosql
from widerow.errors import InvalidRequest
from widerow.model.typed.values import JSON_NULL
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.dialect import Dialect
from widerow.wire.nosql.dialect import NOSQL_DIALECT, NOSQL_ONPREM_DIALECT
from widerow.wire.nosql.nson import EMPTY_VALUE, TimestampText, decode_map, encode

__all__ = ["SEEDS", "TABLE", "answered", "answered_in_order", "check", "request"]

TABLE: Final = (
    "CREATE TABLE t (s INTEGER, id STRING, d DOUBLE, n NUMBER, b BOOLEAN, at TIMESTAMP(3), "
    "e ENUM(x, y), bin BINARY, a ARRAY(INTEGER), m MAP(STRING), r RECORD(x INTEGER), j JSON, "
    "PRIMARY KEY(SHARD(s), id))"
)
_KEY: Final = {"s": 1, "id": "a"}
_ROW: Final = {
    **_KEY,
    "d": 1.5,
    "n": Decimal("2.50"),
    "b": True,
    "at": TimestampText("2024-01-02T03:04:05Z"),
    "e": "x",
    "bin": b"\0\1",
    "a": [1, 2],
    "m": {"k": "v"},
    "r": {"x": None},
    "j": {"x": [JSON_NULL, 2**40, None]},
}
_LIMITS: Final = {"ru": 5, "wu": 5, "sg": 1, "mo": 1}
_VERSION: Final = b"\1" + bytes(16)


def _operation(code: int, **members: Any) -> dict[str, Any]:  # noqa: ANN401  # any values
    return {"o": code, **members, "rr": True, "a": True}


SEEDS: Final = (
    request(2, {"co": {"y": 1}, "k": _KEY}),
    request(3, {"rr": True, "ec": True, "l": _ROW}),
    request(3, {"rr": False, "ut": True, "tt": "5 DAYS", "ic": 7, "l": list(_ROW.values())}),
    request(4, {"rr": True, "l": {**_ROW, "j": EMPTY_VALUE}}),
    request(6, {"rr": True, "rv": _VERSION, "l": _ROW}),
    request(0, {"rr": True, "k": _KEY}),
    request(1, {"rr": False, "rv": _VERSION, "k": _KEY}),
    request(10, {"k": {"s": 1}}),
    request(
        10,
        {
            "mw": 3,
            "k": {"s": 1},
            "rg": {"rp": "id", "sr": {"l": "a", "in": True}, "en": {"l": "c", "in": False}},
            "ck": b"\0\0",
        },
    ),
    request(
        9,
        {
            "no": 2,
            "os": [_operation(3, l=_ROW), _operation(0, k={"s": 1, "id": "b"})],
        },
    ),
    request(7, {"qv": 4, "st": "SELECT * FROM t WHERE s = 1", "nl": 5}),
    request(8, {"qv": 4, "st": "DECLARE $x INTEGER; SELECT id FROM t WHERE s = $x"}),
    request(11, {"od": "c-1"}),
    request(12, {"i": "ix"}),
    request(13, {"sr": "2024-01-01", "en": "2024-01-02", "lx": 5}),
    request(14, {"lx": 5, "ls": 0}),
    request(15, {"st": "CREATE TABLE u (k LONG, PRIMARY KEY(k))", "lm": _LIMITS}),
    request(15, {"lm": _LIMITS}),
    request(23, {"st": b"show tables"}),
    request(23, {"st": b"create namespace n"}),
    request(24, {"od": "c-1", "st": "create table"}),
    request(35, {}),
    b"\0\4\6\0\0\0\4\0\0\0\0",
    b"\0\3\0",
)


def _stored() -> nosql.TypedStore:
    """A store with the table of the seeds and a row."""
    store = nosql.TypedStore(open_store("memory:"), FakeClock(), FakeEntropy())
    store.run_statement(TABLE)
    store.table("t").put({**_KEY, "d": 0.5, "j": {"x": [None, 1]}})
    return store


def answered(data: bytes, dialect: Dialect = NOSQL_DIALECT) -> dict[str, Any]:
    """The answer to a request to a store with the table of the seeds; also one in the older form.

    It has `e` and `x` where the request was refused. Raises what is not a refusal.
    """
    return answered_in_order((data,), dialect)[0]


def answered_in_order(
    requests: Iterable[bytes], dialect: Dialect = NOSQL_DIALECT
) -> list[dict[str, Any]]:
    """The answers to requests one after the other, to one store."""
    store = _stored()
    return [answer_to(store, data, dialect) for data in requests]


def check(data: bytes) -> None:
    """Ask what stands in `data`, and read the answer."""
    with suppress(InvalidRequest):
        once = encode(decode_map(data, 2))
        assert encode(decode_map(once)) == once, "a message has two encodings"
    for dialect in (NOSQL_DIALECT, NOSQL_ONPREM_DIALECT):
        answered(data, dialect)
