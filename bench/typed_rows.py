"""The rows of `bench/rows.py` as rows of a typed table, and requests of NoSQL's drivers about them.

The same ten columns of a hundred bytes under the same keys, so that what a request costs can be set
beside the request of Tablestore's clients that does as much.
"""

from collections.abc import Mapping
from typing import Any, Final

from bench.rows import COLUMNS, PARTITION_ROWS, TABLE, texts

from widerow.wire.nosql.nson import encode

__all__ = ["SUCCESS", "delete_shard", "get", "page", "put", "table"]

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


def delete_shard(number: int) -> bytes:
    """MULTI_DELETE of the rows of a shard key."""
    return _request(10, {"k": {"k": _key(number)["k"]}})
