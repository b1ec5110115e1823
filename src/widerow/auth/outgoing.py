"""The headers of a request that we send ourselves, signed (wire §1.2, §1.3)."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import md5
from typing import Final

from widerow.auth.signing import SIGNATURE_V2, Mac, canonical_request

__all__ = ["content_digest", "sign_outgoing"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def content_digest(body: bytes) -> str:
    """What `x-ots-contentmd5` holds for a body."""
    return b64encode(md5(body, usedforsecurity=False).digest()).decode()


def sign_outgoing(
    path: str, body: bytes, mac: Mac, now_us: int, headers: Mapping[str, str]
) -> dict[str, str]:
    """`headers` with date, digest and V2 signature.

    `headers` name the sender and the instance, and whatever else is to be signed. `path`: `/` and
    the action. `mac`: SHA-1 under the sender's secret. `now_us`: microseconds since 1970.
    """
    now = _EPOCH + timedelta(microseconds=now_us)
    signed = {
        "x-ots-apiversion": "2015-12-31",
        **headers,
        "x-ots-date": f"{now:%Y-%m-%dT%H:%M:%S.000Z}",
        "x-ots-contentmd5": content_digest(body),
    }
    signed[SIGNATURE_V2] = mac.sign(canonical_request(path, signed)).decode()
    return signed
