"""Around every message: the operation it asks for, who sent it, and the lines of the answer.

A request is a version of two bytes and one MAP with a header `h` and a payload `p` (nosql-wire §3).
The operation stands in the header, so selecting it reads that and no more.

Who may ask (docs/protocol/nosql.md, "Authorization"):

* A server with the default key, which everybody knows, takes any `Bearer` name, as the vendor's
  cloud simulator does, and any well-formed `Signature`.
* A server with keys of its own takes `Bearer` with an API key, or with an access key's id and
  secret joined by a colon. Both travel as they are, so they are for TLS, as API keys are.
"""

import re
from collections.abc import Mapping, Sequence
from hmac import compare_digest
from typing import Any, Final, final

from widerow.auth.keyring import AccessKey, ApiKey, Keyring
from widerow.auth.policy import InstancePolicy
from widerow.errors import InvalidRequest, NotPermitted
from widerow.limits import NSON_DEPTH_MAX
from widerow.model.typed.names import DEFAULT_NAMESPACE, check_namespace
from widerow.wire.dialect import Opened
from widerow.wire.nosql.modes import CLOUD, NosqlMode
from widerow.wire.nosql.nson import (
    NSON_MAP,
    decode_map,
    decode_value,
    map_member,
    member_place,
    read_text,
)
from widerow.wire.nosql.rules import NosqlRule

__all__ = [
    "DATA_PATHS",
    "HEALTH_PATH",
    "Frame",
    "default_key",
    "frame_headers",
    "no_date",
    "open_frame",
    "open_frame_onprem",
    "operation_code",
    "payload_members",
    "read_frame",
]

DATA_PATHS: Final = ("/V2/nosql/data", "/V0/nosql/data")
"""The targets of requests."""
HEALTH_PATH: Final = "/V2/health"
"""The target that says whether the server is there."""

_AUTHORIZATION: Final = "authorization"
_REQUEST_ID: Final = "x-nosql-request-id"
_NAMESPACE: Final = "x-nosql-default-ns"
_VERSION_BYTES: Final = 2
_HEADER: Final = b"\x80h\x06"  # the member's name, and the code of a MAP
_NO_MEMBERS: Final = bytes(4)  # the count of members of a MAP
_MAP: Final = bytes((NSON_MAP,))
_VERSIONS: Final = (4, 5)
_DEFAULT: Final = "widerow"  # id and secret of the key that everybody knows
_SIGNATURE: Final = re.compile(r'Signature\b.*\bkeyId="[^"]*".*\bsignature="[^"]*"', re.ASCII)
_SHOWN: Final = 100  # characters of a header in the error about it
_LINES: Final = (
    b"content-type: application/octet-stream\r\n"
    b"x-nosql-serial-version: 5\r\n"
    b"x-nosql-version: proxy=widerow kv=25.3.21\r\n"
)


@final
class Frame:
    """A request: the version of its protocol, its header, its payload, and the way it is meant."""

    __slots__ = ("header", "mode", "payload", "version")

    def __init__(
        self, version: int, header: Mapping[str, Any], payload: Mapping[str, Any], mode: NosqlMode
    ) -> None:
        self.version = version
        self.header = header
        self.payload = payload
        self.mode = mode

    @property
    def table(self) -> str:
        """The table that the header names; "" for none."""
        name = self.header.get("n")
        return name if isinstance(name, str) else ""


def operation_code(body: bytes) -> Any:  # noqa: ANN401  # a value
    """The member `o` of a request's header; None without one. The rest is not read into values.

    Raises: `InvalidRequest` (BODY_EMPTY, SERIAL_VERSION, HEADER, NSON).
    """
    if not body:
        raise InvalidRequest(NosqlRule.BODY_EMPTY)
    version = _version(body)
    if version not in _VERSIONS:
        raise InvalidRequest(NosqlRule.SERIAL_VERSION, version=version)
    at = _VERSION_BYTES
    if len(body) <= at or body[at] != NSON_MAP:
        decode_value(body, at, NSON_DEPTH_MAX)  # tells what is wrong with it, if anything is
        raise InvalidRequest(NosqlRule.HEADER)
    if body[at + 5 : at + 9] == _NO_MEMBERS:
        raise InvalidRequest(NosqlRule.HEADER)
    if body[at + 9 : at + 9 + len(_HEADER)] == _HEADER:
        at += 8 + len(_HEADER)
    else:  # perhaps its length is packed in a longer form
        name, at = read_text(body, at + 9)
        if name != "h" or body[at : at + 1] != bytes((NSON_MAP,)):
            raise InvalidRequest(NosqlRule.HEADER)
    return map_member(body, at, b"o", 2)


def _version(body: bytes) -> int:
    return body[0] << 8 | body[1] if len(body) > 1 else int.from_bytes(body, "big")


def read_frame(body: bytes, mode: NosqlMode = CLOUD) -> Frame:
    """A whole request of one of the proxy's two ways. Raises: `InvalidRequest`."""
    message = decode_map(body, _VERSION_BYTES)
    header = message.get("h")
    if not isinstance(header, dict):
        raise InvalidRequest(NosqlRule.HEADER)
    payload = message.get("p")
    if not isinstance(payload, dict):
        raise InvalidRequest(NosqlRule.PAYLOAD_MISSING)
    return Frame(_version(body), header, payload, mode)


def payload_members(body: bytes, names: Sequence[bytes]) -> dict[str, Any]:
    """Members with short names of a request's payload that are there; the rest is not read.

    As `read_frame` has them. Raises: `InvalidRequest`.
    """
    at = -1
    if body[_VERSION_BYTES : _VERSION_BYTES + 1] == _MAP:
        at = member_place(body, _VERSION_BYTES, b"p")
    if at < 0 or body[at : at + 1] != _MAP:
        return dict(read_frame(body).payload)  # which says what is wrong
    found = {name.decode(): map_member(body, at, name, NSON_DEPTH_MAX) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def open_frame(
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    keyring: Keyring,
    instances: InstancePolicy,
    now_us: int,
    names: tuple[str, ...] | None = None,
    /,
) -> tuple[Opened, bytes]:
    """Check the sender of a request, as the module's text says.

    All tenants share the tables of the default namespace, which stands for the instance in the
    policy. Raises: `InvalidRequest` (REQUEST_ID), `NotPermitted`.
    """
    del names
    request_id = headers.get(_REQUEST_ID, "")
    if path == HEALTH_PATH:
        return Opened(_ANYBODY, DEFAULT_NAMESPACE, request_id), body
    if not request_id:
        raise InvalidRequest(NosqlRule.REQUEST_ID)
    key = _sender(headers.get(_AUTHORIZATION), keyring, now_us)
    instances.admit(DEFAULT_NAMESPACE, key)
    return Opened(key, DEFAULT_NAMESPACE, request_id), body


def open_frame_onprem(
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    keyring: Keyring,
    instances: InstancePolicy,
    now_us: int,
    names: tuple[str, ...] | None = None,
    /,
) -> tuple[Opened, bytes]:
    """Check the sender of a request to a store of one's own (nosql-wire §1.2).

    A server with the default key takes requests without a sender. The request is of the namespace
    that its header names, which is for names without one; to the policy all namespaces are one
    instance. Raises: as `open_frame`, and `InvalidRequest` for a namespace that is none.
    """
    known = default_key(keyring)
    if known is not None and not headers.get(_AUTHORIZATION):
        headers = {**headers, _AUTHORIZATION: "Bearer anybody"}
    opened, body = open_frame(path, headers, body, keyring, instances, now_us, names)
    namespace = headers.get(_NAMESPACE, "")
    if namespace:
        check_namespace(namespace)
        opened = Opened(opened.key, namespace, opened.reply)
    return opened, body


_ANYBODY: Final = AccessKey("anybody", "anybody")  # asks whether the server is there


def _sender(authorization: str | None, keyring: Keyring, now_us: int) -> AccessKey | ApiKey:
    if not authorization:
        raise NotPermitted(NosqlRule.AUTHORIZATION_MISSING)
    kind, _, token = authorization.partition(" ")
    known = default_key(keyring)
    if kind == "Bearer" and token.strip():
        return known if known is not None else _by_token(token.strip(), keyring, now_us)
    if known is not None and _SIGNATURE.match(authorization):
        return known
    raise NotPermitted(NosqlRule.AUTHORIZATION_INVALID, value=authorization[:_SHOWN])


def default_key(keyring: Keyring) -> AccessKey | None:
    """The key that everybody knows, where the server has it."""
    for key in keyring.access_keys:
        if key.id == _DEFAULT and compare_digest(key.secret.encode(), _DEFAULT.encode()):
            return key
    return None


def _by_token(token: str, keyring: Keyring, now_us: int) -> AccessKey | ApiKey:
    """The key of a `Bearer` token of a server that has keys of its own.

    Where API keys are not taken, because somebody may read along, no secret is.
    """
    identity, colon, secret = token.partition(":")
    if colon and keyring.takes_api_keys:
        return keyring.find_pair(identity, secret, "", now_us)
    return keyring.find_api_key(token, now_us)


def no_date(now_us: int) -> None:
    """No date: drivers read none."""
    del now_us


def frame_headers(
    path: str, body: bytes, request_id: str, date: None, opened: Opened | None
) -> bytes:
    """The lines of an answer; they repeat the id that the driver gave its request."""
    del body, request_id, date
    if path == HEALTH_PATH:
        return b"content-type: application/json; charset=UTF-8\r\n"
    asked = "" if opened is None else str(opened.reply)
    if not asked.isascii() or not asked.isalnum():
        return _LINES
    return b"%bx-nosql-request-id: %b\r\n" % (_LINES, asked.encode())
