"""Nobody gets in without a signature; with one, a declared error or what was signed comes out.

The fuzzer chooses headers and body. Unsigned they are refused; signed with the right secret they
are opened, or refused with a declared error; an opened body is never beyond its bound.
"""

import base64
import hashlib
from contextlib import suppress
from typing import Final

from widerow.auth.keyring import AccessKey, ApiKey, Keyring, secret_digest
from widerow.auth.policy import ANY_INSTANCE
from widerow.auth.signing import SIGNATURE_V2, Mac, canonical_request
from widerow.errors import InvalidRequest, NotPermitted, Unsupported
from widerow.limits import BODY_BYTES_MAX
from widerow.wire.tablestore.envelope import open_request

__all__ = ["SEEDS", "check"]

_NOW_US: Final = 1_704_164_645_000_000  # 2024-01-02T03:04:05Z
_SECRET: Final = "a secret"
_KEYS: Final = Keyring(
    [AccessKey("k", _SECRET), AccessKey("t", _SECRET, token_sha256=secret_digest("u"))],
    [ApiKey("n", secret_digest(_SECRET))],
    takes_api_keys=True,
)
_DATE: Final = b"date:2024-01-02T03:04:05.000Z\n"
SEEDS: Final = (
    _DATE + b"apiversion:2015-12-31\naccesskeyid:k\ninstancename:i\n\nbody",
    _DATE + b"apiversion:201\naccesskeyid:k\ninstancename:i\n\nbody",
    _DATE + b"apiversion:1\naccesskeyid:t\ninstancename:i\nststoken:u\n\nbody",
    _DATE + b"apiversion:1\naccesskeyid:k\ninstancename:i\nrequest-compress-type:deflate\n"
    b"request-compress-size:4\n\n" + bytes.fromhex("789c4b4c4c4c0400 03ce0185"),
    b"signdate:20240102\nsignregion:r\nsignaturev4:AAAA\n" + _DATE + b"\n",
    b"instancename:i\napikey:guess\n\nbody",
    b"date:2024-13-01T00:00:00Z\nsignature:AAAA\ncontentmd5:x\n\n",
)


def check(data: bytes) -> None:
    """Header lines without their `x-ots-`, an empty line, the body."""
    head, _, body = data.partition(b"\n\n")
    headers = {}
    for line in head.split(b"\n"):
        name, _, value = line.partition(b":")
        headers["x-ots-" + name.decode("latin-1")] = value.decode("utf-8", "replace").strip()
    _open_unsigned(headers, body)
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    headers.setdefault("x-ots-contentmd5", base64.b64encode(digest).decode())
    headers.pop(SIGNATURE_V2, None)
    with suppress(InvalidRequest, NotPermitted, Unsupported):  # the last of old versions
        mac = Mac(_SECRET.encode(), "sha1")
        headers[SIGNATURE_V2] = mac.sign(canonical_request("/GetRow", headers)).decode()
        opened, inflated = open_request("/GetRow", headers, body, _KEYS, ANY_INSTANCE, _NOW_US)
        assert len(inflated) <= BODY_BYTES_MAX, "more came out than a body may have"
        assert opened.instance == headers["x-ots-instancename"]


def _open_unsigned(headers: dict[str, str], body: bytes) -> None:
    refusal: InvalidRequest | NotPermitted | None = None
    try:
        open_request("/GetRow", headers, body, _KEYS, ANY_INSTANCE, _NOW_US)
    except (InvalidRequest, NotPermitted) as error:
        refusal = error
    assert refusal is not None, "it opened without a signature"
    assert _SECRET not in f"{refusal!r}{refusal}", "a secret shows"
