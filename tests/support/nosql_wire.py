"""Requests of Oracle NoSQL's drivers, made by hand: frames, and ways to have them answered.

For what no driver sends, and for programs that must not wait for one (nosql-wire §1, §3).
"""

from itertools import count
from typing import Any, Final

from tests.support.http import Wire, encode_request

from widerow import nosql
from widerow.engine.plan import Plan
from widerow.errors import WiderowError
from widerow.wire.dialect import Dialect
from widerow.wire.nosql.dialect import NOSQL_DIALECT
from widerow.wire.nosql.faults import OLDER_FORM
from widerow.wire.nosql.nson import decode_map, encode, read_text

__all__ = ["Message", "NosqlWire", "answer_to", "post", "read_answer", "request"]

Message = dict[str, Any]

TARGET: Final = "/V2/nosql/data"
_NUMBERS: Final = count(1)
_MAP_BYTE: Final = 6


def request(code: int, payload: Message, table: str = "t") -> bytes:
    """The bytes of a request."""
    header = {"v": 4, "n": table, "o": code, "t": 5000, "ts": -1}
    return b"\0\4" + encode({"h": header, "p": payload})


def post(body: bytes) -> bytes:
    """The bytes that bring a request to a server."""
    headers = {"authorization": "Bearer anybody", "x-nosql-request-id": str(next(_NUMBERS))}
    return encode_request(TARGET, headers, body)


def read_answer(body: bytes) -> Message:
    """An answer as a map; one in the older form has `e` and `x` too (nosql-wire §1).

    Raises `InvalidRequest` for bytes that are not an answer.
    """
    if body[:1] == bytes((_MAP_BYTE,)):
        return decode_map(body)
    text, end = read_text(body, 1)
    assert end == len(body)
    return {"e": body[0], "x": text}


class NosqlWire(Wire):
    """One connection of a client that speaks the protocol."""

    def call(self, code: int, payload: Message, table: str = "t") -> Message:
        """The answer to a request.

        Raises: `RuntimeError` where it is an error, `OSError` where the connection ends.
        """
        answer = self.ask(post(request(code, payload, table)))
        told = read_answer(answer.body)
        if answer.status != 200 or told.get("e", 0):
            raise RuntimeError(f"{answer.status}: {told}")
        return told


def answer_to(store: nosql.TypedStore, body: bytes, dialect: Dialect = NOSQL_DIALECT) -> Message:
    """The answer to a request without a server; it has `e` and `x` where it was refused.

    Raises what is not a refusal.
    """
    name = ""
    try:
        name = dialect.select("POST", TARGET, body).name
        operation = {**dialect.operations, **dialect.own}[name]
        operation.permission_for(body)
        result = operation.call(store.engine, "sysdefault", operation.decode(body))
        if isinstance(result, Plan):
            result = store.commit(result)
        answer = operation.encode(result)
    except WiderowError as error:
        older = getattr(error, "rule", None) in OLDER_FORM
        answer = dialect.refuse(error, name, "").body
    else:
        older = False
    assert (answer[0] != _MAP_BYTE) is older
    return read_answer(answer)
