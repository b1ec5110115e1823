"""The rows of `bench/rows.py` as rows of a typed table, and requests of NoSQL's drivers about them.

The same ten columns of a hundred bytes under the same keys, so that what a request costs can be set
beside the request of Tablestore's clients that does as much.
"""

from collections.abc import Mapping
from typing import Any, Final

from bench.rows import COLUMNS, PARTITION_ROWS, TABLE, texts

from widerow.wire.nosql.nson import encode

__all__ = [
    "SUCCESS",
    "change",
    "delete_shard",
    "fields",
    "get",
    "index",
    "insert",
    "ordered",
    "page",
    "point",
    "put",
    "remove",
    "table",
]

SUCCESS: Final = b"\x80e\x04\x7f"
"""What every answer without an error begins with: the member `e`, 0."""

_LINES: Final = (
    "POST /V2/nosql/data HTTP/1.1",
    "host: 127.0.0.1:8087",
    "content-type: application/octet-stream",
    "accept: application/octet-stream",
    "connection: keep-alive",
    "user-agent: widerow-bench",
    "authorization: Bearer cloudsim",
)
_NAMES: Final = tuple(f"c{number}" for number in range(COLUMNS))


def _request(code: int, payload: Mapping[str, Any], table: str = TABLE) -> bytes:
    """A request as a driver sends it."""
    header = {"v": 4, "o": code, "t": 5000} | ({"n": table} if table else {})
    body = b"\x00\x04" + encode({"h": header, "p": payload})
    lines = (*_LINES, "x-nosql-request-id: 7", f"content-length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


def _key(number: int) -> dict[str, Any]:
    return {"k": f"user{number // PARTITION_ROWS:010}", "n": number % PARTITION_ROWS}


def table() -> bytes:
    """The request that creates the table."""
    columns = ", ".join(f"{name} STRING" for name in _NAMES)
    text = f"CREATE TABLE {TABLE} (k STRING, n INTEGER, {columns}, PRIMARY KEY (SHARD(k), n))"
    limits = {"ru": 50, "wu": 50, "sg": 5}
    return _request(15, {"st": text, "lm": limits}, "")


def put(number: int) -> bytes:
    """PUT of a row."""
    values = texts()[number % len(texts())]
    return _request(3, {"l": _key(number) | dict(zip(_NAMES, values, strict=True))})


def get(number: int) -> bytes:
    """GET of a row."""
    return _request(2, {"co": {"y": 0}, "k": _key(number)})


def page(number: int) -> bytes:
    """QUERY for the rows of a shard key."""
    shard = _key(number)["k"]
    return _request(7, {"st": f'SELECT * FROM {TABLE} WHERE k = "{shard}"', "qv": 4}, "")  # noqa: S608  # no input


def index() -> bytes:
    """The request that creates an index of a column."""
    return _request(15, {"st": f"CREATE INDEX by_{_NAMES[0]} ON {TABLE} ({_NAMES[0]})"}, "")


def _prepared(text: str, values: Mapping[str, Any], limit: int = 0) -> bytes:
    """QUERY of a prepared statement with the values of its variables."""
    bound = [{"m": name, "l": value} for name, value in values.items()]
    kept = b"WIDEROW01" + text.encode()
    return _request(7, {"qv": 4, "iq": True, "pq": kept, "bv": bound, "nl": limit}, "")


_OF_KEY: Final = "DECLARE $k STRING; $n INTEGER; "
_WHERE_KEY: Final = "WHERE k = $k AND n = $n"


def _bound_key(number: int) -> dict[str, Any]:
    return {f"${name}": value for name, value in _key(number).items()}


def point(number: int) -> bytes:
    """QUERY for a row by its whole key."""
    return _prepared(f"{_OF_KEY}SELECT * FROM {TABLE} {_WHERE_KEY}", _bound_key(number))  # noqa: S608  # no input


def fields(number: int) -> bytes:
    """QUERY for two columns of the rows of a shard key."""
    text = f"DECLARE $k STRING; SELECT n, {_NAMES[1]} FROM {TABLE} WHERE k = $k LIMIT 100"  # noqa: S608  # no input
    return _prepared(text, {"$k": _key(number)["k"]})


def ordered(number: int) -> bytes:
    """QUERY for a page of rows in the order of an index, from a value on."""
    name = _NAMES[0]
    text = f"DECLARE $c STRING; SELECT * FROM {TABLE} WHERE {name} >= $c ORDER BY {name}"  # noqa: S608  # no input
    first = texts()[number % len(texts())][0][0].upper()  # many are behind it: pages are full
    return _prepared(text, {"$c": first}, PARTITION_ROWS)


def change(number: int) -> bytes:
    """UPDATE of a column of a row."""
    value = texts()[(number + 1) % len(texts())][0]
    text = f"{_OF_KEY}$v STRING; UPDATE {TABLE} SET {_NAMES[0]} = $v {_WHERE_KEY}"  # noqa: S608  # no input
    return _prepared(text, _bound_key(number) | {"$v": value})


def insert(number: int) -> bytes:
    """UPSERT of a row."""
    values = texts()[number % len(texts())]
    names = [f"${name}" for name in _NAMES]
    declared = "".join([f"{name} STRING; " for name in names])
    given = ", ".join(("$k", "$n", *names))
    text = f"{_OF_KEY}{declared}UPSERT INTO {TABLE} VALUES ({given})"  # same
    return _prepared(text, _bound_key(number) | dict(zip(names, values, strict=True)))


def remove(number: int) -> bytes:
    """DELETE of a row by its whole key."""
    return _prepared(f"{_OF_KEY}DELETE FROM {TABLE} {_WHERE_KEY}", _bound_key(number))  # noqa: S608  # no input


def delete_shard(number: int) -> bytes:
    """MULTI_DELETE of the rows of a shard key."""
    return _request(10, {"k": {"k": _key(number)["k"]}})
