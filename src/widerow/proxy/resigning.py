"""A request of somebody else's, signed anew: with other keys, for another instance, now."""

from collections.abc import Mapping
from typing import Final

from widerow.auth.outgoing import sign_outgoing
from widerow.auth.signing import (
    HEADER_PREFIX,
    SIGN_DATE,
    SIGN_REGION,
    SIGNATURE_V2,
    SIGNATURE_V4,
    Mac,
)

__all__ = ["PERSONAL_HEADERS", "Signer"]

PERSONAL_HEADERS: Final = frozenset(
    (
        *(SIGNATURE_V2, SIGNATURE_V4, SIGN_DATE, SIGN_REGION),
        *("x-ots-accesskeyid", "x-ots-ststoken", "x-ots-apikey", "x-ots-date"),
        *("x-ots-contentmd5", "x-ots-sourceip", "x-ots-playeraccountid"),
    )
)
"""Headers that say who sends a request and when: never recorded, and replaced by a `Signer`."""

_COMPRESSED_ANSWER: Final = "x-ots-response-compress-type"  # a wish, which the answer need not meet


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
        self, path: str, headers: Mapping[str, str], body: bytes, now_us: int
    ) -> dict[str, str]:
        """The headers to send in place of these; `now_us`: microseconds since 1970."""
        kept = {
            name: value
            for name, value in headers.items()
            if name.startswith(HEADER_PREFIX)
            and name not in PERSONAL_HEADERS
            and name != _COMPRESSED_ANSWER
        }
        kept["x-ots-accesskeyid"] = self._id
        kept["x-ots-instancename"] = self.instance or kept.get("x-ots-instancename", "")
        if self._token:
            kept["x-ots-ststoken"] = self._token
        return sign_outgoing(path, body, self._mac, now_us, kept)
