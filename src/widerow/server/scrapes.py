"""What a scrape of `/metrics` may see: names of tables and indexes with a key, or by a setting."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from widerow.auth.keyring import AccessKey, ApiKey, Keyring, Permission
from widerow.auth.policy import authorize
from widerow.engine.lag import owner_of
from widerow.errors import NotPermitted, WiderowError

__all__ = ["NO_NAME", "NamesShown", "ScrapeRefused", "Scrapes"]


@dataclass(frozen=True, slots=True)
class NamesShown:
    """Whose tables' metrics may be shown: of these instances, None: of all tables."""

    instances: frozenset[str] | None

    def __call__(self, qualified: str) -> bool:
        """Whether the metrics of a table may be shown, by the table's qualified name."""
        return self.instances is None or owner_of(qualified) in self.instances


_ANY_NAME: Final = NamesShown(None)
NO_NAME: Final = NamesShown(frozenset())
"""Shows the metrics of no table."""

_HOW: Final = (
    "Give an API key as a bearer token, or an access key by basic authentication; over TLS or "
    "behind a proxy that speaks it (--api-keys-behind-proxy), an access key also on a loopback "
    "address."
)


class ScrapeRefused(WiderowError):
    """A key that opens nothing here; the message says what to look at, and not what was wrong."""


class Scrapes(NamedTuple):
    """How keys are given to `/metrics`, and whether one is needed.

    `is_open`: names are shown to everybody. `takes_pairs`: an access key is taken by basic
    authentication, which sends its secret: over TLS, behind a proxy that speaks it, within one
    machine, and where the pair is the default one, which is public.
    """

    is_open: bool = False
    takes_pairs: bool = True

    def names_shown(self, headers: Mapping[str, str], keyring: Keyring, now_us: int) -> NamesShown:
        """What the sender of these headers may see, at a time in microseconds since 1970.

        `Authorization: Bearer APIKEY` and `Authorization: Basic BASE64(ID:SECRET)` are read (RFC
        6750, RFC 7617), as Prometheus sends them. A key needs the permission to read, and shows
        the tables of the instances that it opens; those of no instance need a key for all.

        Raises: `ScrapeRefused` for a key that is not taken here, or that may not read.
        """
        given = headers.get("authorization")
        if self.is_open:
            return _ANY_NAME
        if given is None:
            return NO_NAME
        try:
            key = self._key_of(given, keyring, now_us)
            authorize(key, Permission.READ)
        except NotPermitted as error:
            raise ScrapeRefused(error.rule.value) from error
        return NamesShown(key.instances)

    def _key_of(self, given: str, keyring: Keyring, now_us: int) -> AccessKey | ApiKey:
        scheme, _, value = given.partition(" ")
        if scheme.lower() == "bearer":
            return keyring.find_api_key(value.strip(), now_us)
        if scheme.lower() == "basic" and self.takes_pairs:
            key_id, colon, secret = _decoded(value.strip()).partition(":")
            if colon:
                return keyring.find_pair(key_id, secret, "", now_us)
        raise ScrapeRefused(_HOW)


def _decoded(encoded: str) -> str:
    """The text in base64; "" if it is none."""
    try:
        return b64decode(encoded.encode("ascii"), validate=True).decode()
    except (Base64Error, UnicodeError):
        return ""
