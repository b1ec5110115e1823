"""The Tablestore dialect as a value: what the server needs of this package.

The target of a request is its action, behind whatever prefix the endpoint has; who asks stands in
signed headers (`envelope.py`); an error is a message of two texts with a status of its own.
"""

import json
from types import MappingProxyType
from typing import Final

from widerow.engine.engine import Engine
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.errors import Injected, InvalidRequest, Rule
from widerow.wire.dialect import Dialect, FaultParts, HeaderNames, Refusal, WireOperation
from widerow.wire.tablestore.envelope import answer_date, open_request, response_headers
from widerow.wire.tablestore.errors.answers import encode_error, foreign, hint
from widerow.wire.tablestore.errors.tunnels import tunnel_foreign
from widerow.wire.tablestore.operations.table import OPERATIONS, OWN, UNSUPPORTED, operation

__all__ = ["TABLESTORE_DIALECT", "action_of"]

_METHOD_NOT_ALLOWED: Final = 405


def _claims(target: str) -> bool:
    action = action_of(target)
    return action in OPERATIONS or action in OWN or action in UNSUPPORTED


def _select(method: str, target: str, body: bytes) -> WireOperation:
    del body  # the target says it all
    if method != "POST":
        raise InvalidRequest(Rule.HTTP_METHOD)
    return operation(action_of(target))


def action_of(target: str) -> str:
    """The action of a target, whatever prefix the endpoint has: its last segment.

    The actions of tunnels are the only ones of two segments.
    """
    before, _, last = target.rpartition("/")
    return f"tunnel/{last}" if before.endswith("/tunnel") else last


def _refuse(error: Exception, name: str, kind: str) -> Refusal:
    """A message of two texts; in JSON for whoever asks in JSON, as the JSON actions do (wire §1.6).

    Clients of those read every answer as JSON, also that an action is not served.
    """
    status, code, message = foreign(error)
    if name.startswith("tunnel/") and not isinstance(error, Injected):
        status, code, message = tunnel_foreign(error, (status, code, message))
    allow = b"allow: POST\r\n" if status == _METHOD_NOT_ALLOWED else b""
    lines = b"%bx-widerow-hint: %b\r\n" % (allow, hint(error).encode())
    if kind.partition(";")[0].strip().lower().endswith("json"):
        body = json.dumps({"code": code, "message": message}).encode()
        return Refusal(status, code, body, b"content-type: application/json\r\n" + lines)
    return Refusal(status, code, encode_error(code, message), lines)


def _open(engine: Engine) -> TablestoreEngine:
    return engine.operations(TABLESTORE)


def _fault_parts() -> FaultParts:
    from widerow.wire.tablestore.faults import FAULT_PARTS  # noqa: PLC0415  # for tests only

    return FAULT_PARTS


TABLESTORE_DIALECT: Final = Dialect(
    name="Tablestore",
    label="",
    open=_open,
    operations=OPERATIONS,
    own=OWN,
    refused=UNSUPPORTED,
    paths=MappingProxyType(
        {each.path.encode(): each for each in (*OPERATIONS.values(), *OWN.values())}
    ),
    claims=_claims,
    select=_select,
    headers=HeaderNames(frozenset(("content-type",)), ("x-ots-",)),
    open_request=open_request,
    answer_date=answer_date,
    envelope=response_headers,
    refuse=_refuse,
    fault_parts=_fault_parts,
    answers_unclaimed=True,  # any endpoint with any prefix is the service's to its clients
)
