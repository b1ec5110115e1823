"""Signatures of requests that we send, and of the answers to them (wire §1.2, §1.3, §1.5)."""

import hmac
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import md5
from types import MappingProxyType
from typing import Final

from widerow.auth.signing import (
    HEADER_PREFIX,
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
    canonical_request,
    canonical_response,
)

__all__ = ["PERSONAL_HEADERS", "Signer"]

PERSONAL_HEADERS: Final = frozenset(
    (
        *(SIGNATURE_V2, SIGNATURE_V4, SIGN_DATE, SIGN_REGION),
        *("x-ots-accesskeyid", "x-ots-ststoken", "x-ots-apikey", "x-ots-date"),
        *("x-ots-contentmd5", "x-ots-sourceip", "x-ots-playeraccountid"),
    )
)
"""Headers that say who sends a request and when; a `Signer` replaces them."""

_COMPRESSED_ANSWER: Final = "x-ots-response-compress-type"  # a wish, which the answer need not meet
_INSTANCE: Final = "x-ots-instancename"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_HEADERS: Final = MappingProxyType[str, str]({})


class Signer:
    """Signs with one access key. Never shows the secret.

    `instance`: the instance that requests are sent to; "" for the one they name.
    """

    def __init__(
        self,
        access_key_id: str,
        access_key_secret: str,
        security_token: str = "",
        instance: str = "",
    ) -> None:
        """Sign with this key; `security_token` goes with a temporary one."""
        self._id = access_key_id
        self._mac = Mac(access_key_secret.encode(), "sha1")
        self._token = security_token
        self.instance = instance

    def follow(self, other: "Signer") -> None:
        """Sign as another one does, from now on. For the thread that signs."""
        self._id, self._mac = other._id, other._mac  # noqa: SLF001  # of this class
        self._token = other._token  # noqa: SLF001  # of this class
        self.instance = other.instance

    def sign(
        self, path: str, body: bytes, now_us: int, headers: Mapping[str, str] = _NO_HEADERS
    ) -> dict[str, str]:
        """The headers of a request, with its V2 signature.

        `path`: `/` and the action. `now_us`: microseconds since 1970. `headers`: those of another
        sender's request, by lower-case names; its `x-ots-*` headers are kept, unless they are
        personal or ask for a compressed answer.
        """
        kept = {
            name: value
            for name, value in headers.items()
            if name.startswith(HEADER_PREFIX)
            and name not in PERSONAL_HEADERS
            and name != _COMPRESSED_ANSWER
        }
        now = _EPOCH + timedelta(microseconds=now_us)
        signed = {
            "x-ots-apiversion": "2015-12-31",
            **kept,
            "x-ots-accesskeyid": self._id,
            _INSTANCE: self.instance or kept.get(_INSTANCE, ""),
            "x-ots-date": f"{now:%Y-%m-%dT%H:%M:%S.000Z}",
            "x-ots-contentmd5": _digest(body),
        }
        if self._token:
            signed["x-ots-ststoken"] = self._token
        signed[SIGNATURE_V2] = self._mac.sign(canonical_request(path, signed)).decode()
        return signed

    def has_signed(self, path: str, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether an answer is signed with this key, and its body is the one that was signed.

        `path`: of the request. `headers`: all of the answer's, by lower-case names.
        """
        shown = sorted(each for each in headers.items() if each[0].startswith(HEADER_PREFIX))
        signature = self._mac.sign(canonical_response(path, shown)).decode()
        return _equal(headers.get("authorization", ""), f"OTS {self._id}:{signature}") and _equal(
            headers.get("x-ots-contentmd5", ""), _digest(body)
        )


def _digest(body: bytes) -> str:
    return b64encode(md5(body, usedforsecurity=False).digest()).decode()


def _equal(told: str, expected: str) -> bool:
    return hmac.compare_digest(told.encode(), expected.encode())
