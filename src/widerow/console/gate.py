"""Who may come in: the host that is asked, sessions, and proofs that a form is ours.

Three things are told apart:

*   A server that listens on a loopback address and knows the default key pair only asks nobody for
    a key: whoever reaches it could use the pair. It answers only requests whose `host` is a
    loopback name, so that a page elsewhere cannot have its own name resolved to this machine (DNS
    rebinding), and none that came through a proxy.
*   Everywhere else a visitor proves an access key once and gets a cookie: the key's id, an end, a
    number by chance, signed with a secret of this process and a digest of the key's secret. So it
    ends with the process, with its time, and when the key is taken away or its secret changed.
*   Every request that changes something carries a token that only our own pages hold: derived from
    the cookie (or, without a session, from the secret alone), and it must come from our own origin
    where the browser says where it comes from.
"""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from widerow.auth.keyring import AccessKey, Keyring, secret_digest
from widerow.clock import Clock, Entropy
from widerow.console.parts import ConsoleRefused
from widerow.errors import NotPermitted
from widerow.limits import (
    CONSOLE_ENDED_SESSIONS_MAX,
    CONSOLE_SESSION_SECONDS,
    CREDENTIAL_BYTES_MAX,
    SECURITY_TOKEN_BYTES_MAX,
)
from widerow.server.loopback import names_loopback

__all__ = ["COOKIE", "Gate", "Visitor"]

COOKIE: Final = "widerow_console"
"""The name of the cookie. It is sent to `/console` only."""

_SECRET_BYTES: Final = 32
_CHANCE_BYTES: Final = 16
_PROXIES: Final = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
_SESSION_PARTS: Final = 4  # id, end, chance, signature
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_NOBODY: Final = b"\0" * 32
_LOCAL: Final = AccessKey("(this machine)", "")
_FOREIGN_HOST: Final = "Open the console by the address of this machine: http://127.0.0.1:PORT/."
_FOREIGN_FORM: Final = "Open the page again and send the form from there."


class Visitor(NamedTuple):
    """Who came: as which key, with which session. `session` "": none, as none is needed."""

    key: AccessKey
    session: str


class Gate:
    """Decides about visitors. On one thread."""

    def __init__(self, clock: Clock, entropy: Entropy, *, open_here: bool, scheme: str) -> None:
        """`open_here`: nobody needs a key. `scheme`: http or https, as the port speaks."""
        self._clock = clock
        self._entropy = entropy
        self._open = open_here
        self._scheme = scheme
        self._secret = entropy.token_bytes(_SECRET_BYTES)
        self._ended: dict[str, int] = {}  # what sessions ended before their time, and when they do

    # --- who asks ----------------------------------------------------------------------------

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse whoever calls an open console by a foreign name. Raises: `ConsoleRefused`."""
        if self._open and not names_loopback(headers.get("host", "")):
            raise ConsoleRefused(421, "This server has no such name.", _FOREIGN_HOST)

    def visitor(self, headers: Mapping[str, str], keyring: Keyring) -> Visitor | None:
        """Who asks, or None for somebody who has to sign in first."""
        if self._open and not any(name in headers for name in _PROXIES):
            return Visitor(_LOCAL, "")
        session = _cookie(headers.get("cookie", ""))
        key = None if session is None else self._holder(session, keyring)
        return None if key is None or session is None else Visitor(key, session)

    def _holder(self, session: str, keyring: Keyring) -> AccessKey | None:
        """The key behind a session that is whole and has not ended."""
        parts = session.split(".")
        end_s = _end_of(parts)
        if end_s is None or session in self._ended:
            return None
        try:
            key = keyring.find(_text_of(parts[0]))
        except (NotPermitted, ValueError):
            return None
        signature = self._signature(".".join(parts[:3]), key)
        if not hmac.compare_digest(signature.encode(), parts[3].encode()):
            return None
        now_s = self._clock.now_us() // 1_000_000
        is_over = key.expires_us is not None and self._clock.now_us() >= key.expires_us
        return None if is_over or now_s >= end_s else key

    def _signature(self, front: str, key: AccessKey) -> str:
        held = secret_digest(key.secret) + (key.token_sha256 or b"")
        return hmac.new(self._secret, front.encode() + b"\n" + held, sha256).hexdigest()

    # --- sessions ----------------------------------------------------------------------------

    def sign_in(self, key_id: str, secret: str, token: str, keyring: Keyring) -> str:
        """The session of whoever knows an access key. Raises: `ConsoleRefused`, always the same.

        The time it takes does not tell whether the id, the secret or the token is wrong.
        """
        known = _LOCAL
        if len(key_id) <= CREDENTIAL_BYTES_MAX:
            try:
                known = keyring.find(key_id)
            except NotPermitted:
                known = _LOCAL
        given = secret_digest(secret[: CREDENTIAL_BYTES_MAX + 1])
        wanted = _NOBODY if known is _LOCAL else secret_digest(known.secret)
        is_key = hmac.compare_digest(given, wanted)
        token_given = secret_digest(token[: SECURITY_TOKEN_BYTES_MAX + 1])
        is_token = hmac.compare_digest(token_given, known.token_sha256 or secret_digest(""))
        now_us = self._clock.now_us()
        is_over = known.expires_us is not None and now_us >= known.expires_us
        if not is_key or not is_token or is_over:
            raise ConsoleRefused(
                403,
                "This is no access key of this server.",
                "Check the id and the secret; a temporary key needs its security token as well.",
            )
        ends_s = now_us // 1_000_000 + CONSOLE_SESSION_SECONDS
        chance = self._entropy.token_bytes(_CHANCE_BYTES).hex()
        front = f"{urlsafe_b64encode(key_id.encode()).decode().rstrip('=')}.{ends_s}.{chance}"
        return f"{front}.{self._signature(front, known)}"

    def sign_out(self, session: str) -> None:
        """End a session, whoever has kept its cookie."""
        now_s = self._clock.now_us() // 1_000_000
        self._ended = {each: end for each, end in self._ended.items() if end > now_s}
        if len(self._ended) >= CONSOLE_ENDED_SESSIONS_MAX:
            self._secret = self._entropy.token_bytes(_SECRET_BYTES)  # all sessions end
            self._ended.clear()
        end_s = _end_of(session.split("."))
        if end_s is not None:
            self._ended[session] = end_s

    def cookie(self, session: str) -> bytes:
        """The header line that gives a visitor a session; "" takes it away."""
        age = CONSOLE_SESSION_SECONDS if session else 0
        secure = "; Secure" if self._scheme == "https" else ""
        line = f"{COOKIE}={session}; Path=/console; Max-Age={age}; HttpOnly; SameSite=Strict"
        return f"set-cookie: {line}{secure}\r\n".encode()

    def entry(self) -> str:
        """A cookie for somebody who is to sign in: their form is bound to their browser by it."""
        return f"entry.{self._entropy.token_bytes(_CHANCE_BYTES).hex()}"

    # --- forms -------------------------------------------------------------------------------

    def token(self, session: str) -> str:
        """What a form on a page of this session carries."""
        return hmac.new(self._secret, b"form\n" + session.encode(), sha256).hexdigest()

    def check_form(self, headers: Mapping[str, str], session: str, token: str) -> None:
        """Refuse a change that another page asked for. Raises: `ConsoleRefused`."""
        origin, host = headers.get("origin"), headers.get("host", "")
        if origin is not None and origin.lower() != f"{self._scheme}://{host}".lower():
            raise ConsoleRefused(403, "The form came from another page.", _FOREIGN_FORM)
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise ConsoleRefused(403, "The form came from another page.", _FOREIGN_FORM)
        if not hmac.compare_digest(self.token(session).encode(), token.encode("utf-8", "replace")):
            raise ConsoleRefused(403, "The form is out of date, or not ours.", _FOREIGN_FORM)

    def entry_of(self, headers: Mapping[str, str]) -> str:
        """The cookie of somebody who is not signed in; "" where they have none."""
        found = _cookie(headers.get("cookie", "")) or ""
        return found if found.startswith("entry.") else ""


def _cookie(header: str) -> str | None:
    """Our cookie among those of a request. Two of our name are none."""
    pairs = [each.strip().partition("=") for each in header.split(";")]
    found = [value for name, _, value in pairs if name == COOKIE]
    return found[0] if len(found) == 1 else None


def _end_of(parts: list[str]) -> int | None:
    """When a session of these parts ends, in seconds since 1970; None where it is none."""
    if len(parts) != _SESSION_PARTS or _SECONDS.fullmatch(parts[1]) is None:
        return None
    return int(parts[1])


def _text_of(encoded: str) -> str:
    """The text behind base64 without padding. Raises: `ValueError`."""
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        return urlsafe_b64decode(padded.encode("ascii")).decode()
    except Base64Error as error:
        raise ValueError(encoded) from error
