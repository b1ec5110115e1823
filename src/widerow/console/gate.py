"""Admits visitors: checks the host name, sessions, and that a form is from this console.

Three things are told apart:

* A server that listens on a loopback address and knows the default key pair only asks nobody for a
  key: whoever reaches it could use the pair. It answers only requests whose `host` is a loopback
  name, so that a page elsewhere cannot have its own name resolved to this machine (DNS rebinding),
  and none that came through a proxy.
* Everywhere else a visitor proves an access key once and gets a cookie: the key's id, an end, a
  number by chance, signed with a secret of this server and a digest of the key's secret. So it
  ends with the process, with its time, and when the key is taken away or its secret changed.
* Every request that changes something carries a token that only our own pages hold: derived from
  the cookie (or, without a session, from the secret alone). Where the browser says which page sent
  the form, that page must be ours (`Gate.check_form`).

Cookies belong to a host, whatever the port, so their names have the port of the server. With one
name two servers of a host would sign each other's visitors out, and beside a server that speaks TLS
one that does not could sign in nobody: plain HTTP cannot replace a `Secure` cookie.
"""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

from widerow.auth.keyring import AccessKey, Keyring, secret_digest
from widerow.clock import Clock, Entropy
from widerow.console.parts import ConsoleRefused
from widerow.errors import NotPermitted
from widerow.limits import CONSOLE_SESSION_SECONDS
from widerow.server.console_sessions import ConsoleSessions
from widerow.server.loopback import names_loopback

__all__ = ["Gate", "Visitor"]

_SECRET_BYTES: Final = 32
_CHANCE_BYTES: Final = 16
_ENTRY: Final = "entry."  # begins the value of each entry cookie, and of no session
_NO_ORIGIN: Final = "null"  # the origin that browsers send for a page without one
_ORIGIN_SHOWN: Final = 100  # characters
_PROXIES: Final = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
_SESSION_PARTS: Final = 4  # id, end, chance, signature
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_LOCAL: Final = AccessKey("(this machine)", "")
_FOREIGN_FORM: Final = (
    "Open the page again and send the form from there. A proxy in front must pass on the header "
    "Host as the browser sends it."
)
_OLD_FORM: Final = "Open the page again and send the form from there."


class Visitor(NamedTuple):
    """A visitor: the access key, and the session; "" if no session is needed."""

    key: AccessKey
    session: str


class Gate:
    """Decides about visitors. On one thread."""

    def __init__(
        self,
        clock: Clock,
        entropy: Entropy,
        *,
        open_here: bool,
        endpoint: str,
        sessions: ConsoleSessions | None = None,
    ) -> None:
        """`open_here`: no key is needed. `endpoint`: `SCHEME://HOST:PORT` of the server.

        `sessions`: those of several processes, by default of this one.
        """
        self._clock = clock
        self._entropy = entropy
        self._open = open_here
        self._endpoint = endpoint
        self._scheme = endpoint.partition(":")[0]
        port = endpoint.rpartition(":")[2]
        self._session_name = f"widerow_console_{port}"
        self._entry_name = f"widerow_entry_{port}"
        self._sessions = sessions or ConsoleSessions(partial(entropy.token_bytes, _SECRET_BYTES))

    # --- who asks ----------------------------------------------------------------------------

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse a request to an open console under a foreign host name.

        Raises: `ConsoleRefused`.
        """
        if self._open and not names_loopback(headers.get("host", "")):
            hint = f"Open it by an address of this machine: {self._endpoint}/console/."
            raise ConsoleRefused(421, "This server has no such name.", hint)

    def visitor(self, headers: Mapping[str, str], keyring: Keyring) -> Visitor | None:
        """The visitor of a request; None for a visitor who has to sign in first."""
        if self._open and not any(name in headers for name in _PROXIES):
            return Visitor(_LOCAL, "")
        session = _cookie(headers, self._session_name)
        key = None if session is None else self._holder(session, keyring)
        return None if key is None or session is None else Visitor(key, session)

    def _holder(self, session: str, keyring: Keyring) -> AccessKey | None:
        """The access key of a genuine session that has not ended, or None."""
        parts = session.split(".")
        end_s = _end_of(parts)
        if end_s is None or session in self._sessions.ended:
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
        return hmac.new(self._sessions.secret, front.encode() + b"\n" + held, sha256).hexdigest()

    # --- sessions ----------------------------------------------------------------------------

    def sign_in(self, key_id: str, secret: str, token: str, keyring: Keyring) -> str:
        """A session for an access key. Raises: `ConsoleRefused`, with one message for all reasons.

        The time it takes does not tell whether the id, the secret or the token is wrong.
        """
        now_us = self._clock.now_us()
        try:
            known = keyring.find_pair(key_id, secret, token, now_us)
        except NotPermitted as error:
            raise ConsoleRefused(
                403,
                "This is not an access key of this server.",
                "Check the id and the secret; a temporary key needs its security token as well.",
            ) from error
        ends_s = now_us // 1_000_000 + CONSOLE_SESSION_SECONDS
        chance = self._entropy.token_bytes(_CHANCE_BYTES).hex()
        front = f"{urlsafe_b64encode(key_id.encode()).decode().rstrip('=')}.{ends_s}.{chance}"
        return f"{front}.{self._signature(front, known)}"

    def sign_out(self, session: str) -> None:
        """End a session, even if its cookie was copied."""
        end_s = _end_of(session.split("."))
        if end_s is not None:
            self._sessions.end(session, end_s, self._clock.now_us() // 1_000_000)

    def session_cookie(self, headers: Mapping[str, str], session: str) -> bytes:
        """The header line that sets the session cookie; "" removes it.

        `Secure` also where a proxy in front speaks TLS with the browser.
        """
        is_secure = headers.get("origin", "").lower().startswith("https://")
        return self._cookie_line(self._session_name, session, is_secure=is_secure)

    def entry_cookie(self, entry: str) -> bytes:
        """The header line of the cookie that binds a sign-in form to its browser."""
        return self._cookie_line(self._entry_name, entry, is_secure=False)

    def _cookie_line(self, name: str, value: str, *, is_secure: bool) -> bytes:
        age = CONSOLE_SESSION_SECONDS if value else 0
        secure = "; Secure" if is_secure or self._scheme == "https" else ""
        line = f"{name}={value}; Path=/console; Max-Age={age}; HttpOnly; SameSite=Strict"
        return f"set-cookie: {line}{secure}\r\n".encode()

    def entry(self, headers: Mapping[str, str]) -> str:
        """The value of a browser's entry cookie: the present one, or a new one."""
        return self.entry_of(headers) or f"{_ENTRY}{self._entropy.token_bytes(_CHANCE_BYTES).hex()}"

    # --- forms -------------------------------------------------------------------------------

    def token(self, session: str) -> str:
        """The token that forms on the pages of this session carry."""
        return hmac.new(self._sessions.secret, b"form\n" + session.encode(), sha256).hexdigest()

    def check_form(self, headers: Mapping[str, str], session: str, token: str) -> None:
        """Refuse a form that another site's page sent. Raises: `ConsoleRefused`."""
        if not self._is_from_us(headers):
            origin = headers.get("origin", "unknown")[:_ORIGIN_SHOWN]
            raise ConsoleRefused(
                403, f"The form came from another page, of origin {origin}.", _FOREIGN_FORM
            )
        if not hmac.compare_digest(self.token(session).encode(), token.encode("utf-8", "replace")):
            raise ConsoleRefused(403, "The form is out of date, or not ours.", _OLD_FORM)

    def _is_from_us(self, headers: Mapping[str, str]) -> bool:
        """Whether a page of this console sent the form, as far as the browser tells.

        `Sec-Fetch-Site` decides where it is sent: the browser compares the page with the address
        that it asks, which a proxy in front may change on the way to us. No script can set it. Only
        https and loopback addresses get it. Elsewhere `Origin` has to be the address that was asked
        for: `null` is a page without one (a frame in a sandbox, or one that sends no referrer). A
        browser that sends neither is from before 2020; the token decides. An open console takes no
        form from a page whose origin is not this machine, whatever the other headers are.

        Sources: Fetch Metadata (W3C), "The Sec-Fetch-Site HTTP Request Header"; Fetch (WHATWG),
        "append a request `Origin` header".
        """
        origin = headers.get("origin", _NO_ORIGIN)
        is_named = origin != _NO_ORIGIN
        if self._open and is_named and not names_loopback(origin.rpartition("//")[2]):
            return False
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin"
        asked = f"{self._scheme}://{headers.get('host', '')}"
        return "origin" not in headers or origin.lower() == asked.lower()

    def entry_of(self, headers: Mapping[str, str]) -> str:
        """The value of a browser's entry cookie; "" where it sends none."""
        found = _cookie(headers, self._entry_name) or ""
        return found if found.startswith(_ENTRY) else ""


def _cookie(headers: Mapping[str, str], wanted: str) -> str | None:
    """A cookie of a request by its name; None if it comes twice."""
    pairs = [each.strip().partition("=") for each in headers.get("cookie", "").split(";")]
    found = [value for name, _, value in pairs if name == wanted]
    return found[0] if len(found) == 1 else None


def _end_of(parts: list[str]) -> int | None:
    """The end of a session with these parts, in seconds since 1970; None for malformed parts."""
    if len(parts) != _SESSION_PARTS or _SECONDS.fullmatch(parts[1]) is None:
        return None
    return int(parts[1])


def _text_of(encoded: str) -> str:
    """The text in base64 without padding. Raises: `ValueError`."""
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        return urlsafe_b64decode(padded.encode("ascii")).decode()
    except Base64Error as error:
        raise ValueError(encoded) from error
