"""Requests and answers as a client sees them: a frame to send, and what came back (nosql-wire §3).

The server's side of the same bytes is in `envelope.py` and in the operations.
"""

import math
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from widerow.model.typed.values import JsonNull
from widerow.wire.nosql.nson import (
    NSON_MAP,
    EmptyValue,
    TimestampText,
    decode_map,
    encode,
    read_text,
)

__all__ = [
    "DATA_PATH",
    "DELETE_PART_CODE",
    "GET_CODE",
    "PREPARE_CODE",
    "QUERY_CODE",
    "TABLES_CODE",
    "TABLE_CHANGE_CODE",
    "TABLE_CODE",
    "answer_of",
    "plain_json",
    "request_frame",
]

DATA_PATH: Final = "/V2/nosql/data"
"""Where requests are sent to."""

GET_CODE: Final = 2
QUERY_CODE: Final = 7
PREPARE_CODE: Final = 8
DELETE_PART_CODE: Final = 10
TABLE_CODE: Final = 11
TABLES_CODE: Final = 14
TABLE_CHANGE_CODE: Final = 15

_SERIAL_VERSION: Final = 4


def request_frame(
    code: int, payload: Mapping[str, Any], table: str = "", timeout_ms: int = 60_000
) -> bytes:
    """A request of an operation code; `table`: "" for operations that name none in the header."""
    header: dict[str, Any] = {"v": _SERIAL_VERSION}
    if table:
        header["n"] = table
    header |= {"o": code, "t": timeout_ms}
    return _SERIAL_VERSION.to_bytes(2, "big") + encode({"h": header, "p": payload})


def answer_of(body: bytes) -> dict[str, Any]:
    """The members of an answer; those of a refusal are its code `e` and its text `x`.

    Also of a refusal in the older form, a byte and a text. Raises: `InvalidRequest` for other
    bytes.
    """
    if body[:1] == bytes((NSON_MAP,)) or not body:
        return decode_map(body)
    return {"e": body[0], "x": read_text(body, 1)[0]}


def plain_json(value: Any) -> Any:  # noqa: ANN401  # any value of an answer
    """A value of an answer as `json_rows.dumps` takes it.

    Instants are texts, binary is Base64, and NULL, JSON's null and EMPTY are all None.
    """
    if isinstance(value, Mapping):
        return {name: plain_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain_json(each) for each in value]
    if isinstance(value, TimestampText):
        return value.text if value.text.endswith("Z") else f"{value.text}Z"
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return None if isinstance(value, (JsonNull, EmptyValue)) else value
