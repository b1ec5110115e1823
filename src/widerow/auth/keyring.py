"""Keys: their secrets, and what each key may do.

A keyring is a value. To change keys while serving, load a new one and put it in the old one's
place: requests that come afterwards see the new one whole.

The credentials file is TOML, one table for each key:

    [[key]]                     # an access key: its secret signs requests
    id = "reporting"
    secret = "something long"
    instances = ["shop"]        # left out: all instances
    permissions = ["read"]      # left out: read, write and manage
    security_token = "..."      # left out: the key is used without one

    [[temporary_key]]           # an access key that ends (change §D6)
    id = "tmp-1"
    secret = "something else"
    parent = "reporting"        # of this key it may do what is listed here, and no more
    expires = 2027-01-31T12:00:00Z
    token_sha256 = "..."        # of the security token; or security_token
    instances = ["shop"]        # left out: those of the parent; so are permissions

    [[api_key]]                 # is sent as it is, instead of a signature (change §D5)
    name = "notebook"
    sha256 = "..."              # of the key, in hexadecimal digits
    instances = ["shop"]        # left out: all instances
    permissions = ["read"]      # left out: read, write and manage
    expires = 2027-01-31T12:00:00Z   # left out: never
"""

import hmac
import tomllib
from binascii import unhexlify
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from hashlib import sha256
from typing import Any, Final, Self

from widerow.auth.signing import SigningKeys
from widerow.errors import NotPermitted, Rule, WiderowError
from widerow.limits import (
    API_KEYS_MAX,
    CREDENTIAL_BYTES_MAX,
    NAME_BYTES_MAX,
    SECURITY_TOKEN_BYTES_MAX,
)

__all__ = [
    "ALL_PERMISSIONS",
    "AccessKey",
    "ApiKey",
    "CredentialsInvalid",
    "Keyring",
    "Permission",
    "is_instance_name",
    "secret_digest",
]


class Permission(Enum):
    """What an action needs of a key. Each operation names one permission in its table."""

    READ = "read"  # rows and descriptions of tables
    WRITE = "write"  # rows
    MANAGE = "manage"  # tables


ALL_PERMISSIONS: Final = frozenset(Permission)


class CredentialsInvalid(WiderowError):
    """The credentials file cannot be used; the message says where and why, never a secret."""


def secret_digest(text: str) -> bytes:
    """SHA-256 of a security token or an API key: 32 bytes, which may be kept in memory."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class AccessKey:
    """One key pair and what it may do. Neither `repr` nor `str` shows the secret or the token.

    `instances`: None for all. `token_sha256`: `secret_digest` of the token that requests must
    carry; None if they must carry none. `parent`: the id of the access key for which this one
    stands for a while, until `expires_us` (microseconds since 1970); None for one that stays.
    """

    id: str
    secret: str = field(repr=False)
    instances: frozenset[str] | None = None
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    token_sha256: bytes | None = field(default=None, repr=False)
    parent: str | None = None
    expires_us: int | None = None
    signing: SigningKeys = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare what the secret signs with, once."""
        object.__setattr__(self, "signing", SigningKeys(self.secret))


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that is sent as it is, and what it may do (change §D5). Only its digest is known.

    `sha256`: `secret_digest` of the key. `instances`: None for all. `expires_us`: microseconds
    since 1970 from which on the key is refused; None for never.
    """

    name: str
    sha256: bytes = field(repr=False)
    instances: frozenset[str] | None = None
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    expires_us: int | None = None


class Keyring:
    """The keys of a server: access keys by id, API keys by their digests."""

    __slots__ = ("_api_keys", "_keys", "takes_api_keys")

    def __init__(
        self,
        keys: Iterable[AccessKey],
        api_keys: Iterable[ApiKey] = (),
        *,
        takes_api_keys: bool = False,
    ) -> None:
        """Hold `keys` and `api_keys`; the latter are accepted only if `takes_api_keys`.

        Raises: `CredentialsInvalid` for two keys of one name, for no key, or for too many API keys.
        """
        self._keys: dict[str, AccessKey] = {}
        for key in keys:
            if key.id in self._keys:
                raise CredentialsInvalid(f"two keys have the id {key.id!r}")
            self._keys[key.id] = key
        self._api_keys = tuple(api_keys)
        self.takes_api_keys = takes_api_keys
        if not self._keys and not self._api_keys:
            raise CredentialsInvalid("there is no [[key]] in it, so nobody could sign a request")
        if len(self._api_keys) > API_KEYS_MAX:
            raise CredentialsInvalid(f"there are more than {API_KEYS_MAX} API keys; revoke some")
        _refuse_equal_api_keys(self._api_keys)

    @classmethod
    def default(cls) -> Self:
        """The pair `widerow` / `widerow`, which may do everything; only for one's own machine."""
        return cls([AccessKey("widerow", "widerow")])

    @classmethod
    def load(cls, text: str, *, takes_api_keys: bool = False) -> Self:
        """The keyring that a credentials file describes (see the module's text).

        A temporary key whose parent is not in the file is left out: removing a key from the file
        removes its temporary keys, too. Raises: `CredentialsInvalid`, naming the line of a TOML
        mistake or the key and the field.
        """
        document: dict[str, Any] = {}
        mistake = ""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            mistake = f"not TOML: {error}"
        if mistake:
            # Raised here, without a cause: newer Pythons keep the whole document in their error.
            raise CredentialsInvalid(mistake)
        lasting = [_read_key(*each) for each in _tables_of(document, "key")]
        parents = {key.id: key for key in lasting}
        temporary = [_read_temporary(*each) for each in _tables_of(document, "temporary_key")]
        api_keys = [_read_api_key(*each) for each in _tables_of(document, "api_key")]
        if document:
            raise CredentialsInvalid(
                f"unknown setting {_one(document)!r}; keys go under [[key]], [[temporary_key]] or "
                "[[api_key]]"
            )
        alive = [_cut(key, parents[key.parent or ""]) for key in temporary if key.parent in parents]
        return cls([*lasting, *alive], api_keys, takes_api_keys=takes_api_keys)

    def find(self, access_key_id: str) -> AccessKey:
        """The key with this id. Constant time. Raises: `NotPermitted` (ACCESS_KEY_UNKNOWN)."""
        key = self._keys.get(access_key_id)
        if key is None:
            raise NotPermitted(Rule.ACCESS_KEY_UNKNOWN)
        return key

    def find_api_key(self, text: str, now_us: int) -> ApiKey:
        """The API key that `text` is, at a time in microseconds since 1970.

        Raises: `NotPermitted` (API_KEY), whatever the reason. The time it takes says nothing about
        the keys: digests are compared whole, and with every one of them.
        """
        digest = secret_digest(text)
        found: ApiKey | None = None
        for key in self._api_keys:
            if hmac.compare_digest(key.sha256, digest):
                found = key
        if found is None or not self.takes_api_keys:
            raise NotPermitted(Rule.API_KEY)
        if found.expires_us is not None and now_us >= found.expires_us:
            raise NotPermitted(Rule.API_KEY)
        return found

    def find_pair(self, access_key_id: str, secret: str, token: str, now_us: int) -> AccessKey:
        """The access key whose secret and security token these are, at a time in microseconds.

        `token`: "" for a key that is used without one. Raises: `NotPermitted` (ACCESS_KEY_UNKNOWN),
        whatever the reason. The time it takes does not tell whether the id, the secret or the token
        is wrong.
        """
        known = self._keys.get(access_key_id)
        wanted = _NOBODY if known is None else secret_digest(known.secret)
        is_key = hmac.compare_digest(secret_digest(secret[: CREDENTIAL_BYTES_MAX + 1]), wanted)
        carried = None if known is None else known.token_sha256
        given = secret_digest(token[: SECURITY_TOKEN_BYTES_MAX + 1])
        is_token = hmac.compare_digest(given, carried or secret_digest(""))
        if known is None or not is_key or not is_token:
            raise NotPermitted(Rule.ACCESS_KEY_UNKNOWN)
        if known.expires_us is not None and now_us >= known.expires_us:
            raise NotPermitted(Rule.ACCESS_KEY_UNKNOWN)
        return known

    @property
    def access_keys(self) -> tuple[AccessKey, ...]:
        """The keys that sign requests, in the order of the file, temporary ones last."""
        return tuple(self._keys.values())

    @property
    def api_keys(self) -> tuple[ApiKey, ...]:
        """The keys that are sent themselves, in the order of the file."""
        return self._api_keys

    def __len__(self) -> int:
        return len(self._keys) + len(self._api_keys)

    def __repr__(self) -> str:
        """Shows ids and names only."""
        names = [*self._keys, *[key.name for key in self._api_keys]]
        return f"Keyring({', '.join(sorted(names))})"


def is_instance_name(name: str) -> bool:
    """Whether `name` may name an instance: 1 to 255 of A-Z a-z 0-9 `_` and hyphen."""
    if name in _GOOD_NAMES:
        return True
    if not 0 < len(name) <= NAME_BYTES_MAX:
        return False
    if not (name.isascii() and name.replace("-", "0").replace("_", "0").isalnum()):
        return False
    if len(_GOOD_NAMES) < _GOOD_NAMES_MAX:
        _GOOD_NAMES.add(name)
    return True


# Most requests repeat a name. Called before a signature is verified, so the cache is bounded.
_GOOD_NAMES: Final[set[str]] = set()
_GOOD_NAMES_MAX: Final = 1024


_FIELDS: Final = frozenset(("id", "secret", "instances", "permissions", "security_token"))
_TEMPORARY_FIELDS: Final = _FIELDS | {"parent", "expires", "token_sha256"}
_API_KEY_FIELDS: Final = frozenset(("name", "sha256", "instances", "permissions", "expires"))
_SHA256_CHARS: Final = 64
_NOBODY: Final = b"\0" * 32  # no digest that is known to belong to a text
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_Table = Mapping[str, Any]


def _refuse_equal_api_keys(keys: tuple[ApiKey, ...]) -> None:
    names: set[str] = set()
    digests: dict[bytes, str] = {}
    for key in keys:
        if key.name in names:
            raise CredentialsInvalid(f"two API keys have the name {key.name!r}")
        if key.sha256 in digests:
            raise CredentialsInvalid(
                f"the API keys {digests[key.sha256]!r} and {key.name!r} are the same key"
            )
        names.add(key.name)
        digests[key.sha256] = key.name


def _tables_of(document: dict[str, Any], name: str) -> list[tuple[str, _Table]]:
    """The tables under `name`, each with its place, taken out of the document."""
    tables = document.pop(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise CredentialsInvalid(f"write each key as a table of its own: [[{name}]]")
    word = name.replace("_", " ")
    return [(f"{word} {number}", table) for number, table in enumerate(tables, 1)]


def _read_key(place: str, table: _Table) -> AccessKey:
    place, identity = _named(place, table, "id", _FIELDS)
    return AccessKey(
        identity,
        _text(place, table, "secret", CREDENTIAL_BYTES_MAX),
        _instances(place, table),
        _permissions(place, table),
        _token(place, table),
    )


def _read_temporary(place: str, table: _Table) -> AccessKey:
    place, identity = _named(place, table, "id", _TEMPORARY_FIELDS)
    token = _token(place, table)
    if "token_sha256" in table:
        if token is not None:
            raise CredentialsInvalid(f"{place}: give security_token or token_sha256, not both")
        token = _digest(place, table, "token_sha256")
    if token is None:
        raise CredentialsInvalid(f"{place}: security_token or token_sha256 is missing")
    if "expires" not in table:
        raise CredentialsInvalid(f"{place}: expires is missing")
    return AccessKey(
        identity,
        _text(place, table, "secret", CREDENTIAL_BYTES_MAX),
        _instances(place, table),
        _permissions(place, table),
        token,
        _text(place, table, "parent", CREDENTIAL_BYTES_MAX),
        _expires(place, table),
    )


def _cut(key: AccessKey, parent: AccessKey) -> AccessKey:
    """A temporary key with at most the present permissions of its parent."""
    instances = parent.instances
    if key.instances is not None:
        instances = key.instances if instances is None else key.instances & instances
    return AccessKey(
        key.id,
        key.secret,
        instances,
        key.permissions & parent.permissions,
        key.token_sha256,
        key.parent,
        key.expires_us,
    )


def _read_api_key(place: str, table: _Table) -> ApiKey:
    place, name = _named(place, table, "name", _API_KEY_FIELDS)
    return ApiKey(
        name,
        _digest(place, table, "sha256"),
        _instances(place, table),
        _permissions(place, table),
        _expires(place, table),
    )


def _named(place: str, table: _Table, field_name: str, fields: frozenset[str]) -> tuple[str, str]:
    """The place with the key's name added, and the name. `fields` must be known ones."""
    if unknown := table.keys() - fields:
        raise CredentialsInvalid(f"{place}: unknown field {_one(unknown)!r}")
    name = _text(place, table, field_name, CREDENTIAL_BYTES_MAX)
    # An id travels in headers, and comes before a colon in answers.
    if not (name.isascii() and name.isprintable()) or set(name) & set(" :"):
        raise CredentialsInvalid(
            f"{place}: {field_name} must be printable ASCII without space and colon"
        )
    return f"{place} ({name})", name


def _token(place: str, table: _Table) -> bytes | None:
    if "security_token" not in table:
        return None
    return secret_digest(_text(place, table, "security_token", SECURITY_TOKEN_BYTES_MAX))


def _digest(place: str, table: _Table, name: str) -> bytes:
    value = table.get(name)
    digits = set("0123456789abcdef")
    if not isinstance(value, str) or len(value) != _SHA256_CHARS or set(value.lower()) - digits:
        raise CredentialsInvalid(
            f"{place}: {name} must be {_SHA256_CHARS} hexadecimal digits, which "
            "`widerow credentials` writes"
        )
    digest = unhexlify(value)
    if hmac.compare_digest(digest, secret_digest("")):
        raise CredentialsInvalid(f"{place}: {name} is that of an empty text")
    return digest


def _expires(place: str, table: _Table) -> int | None:
    if "expires" not in table:
        return None
    value = table["expires"]
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise CredentialsInvalid(
            f"{place}: expires must be a time with its zone, as in 2027-01-31T12:00:00Z"
        )
    return (value - _EPOCH) // timedelta(microseconds=1)


def _text(place: str, table: _Table, name: str, bytes_max: int) -> str:
    value = table.get(name)
    if not isinstance(value, str) or not 0 < len(value.encode()) <= bytes_max:
        raise CredentialsInvalid(f"{place}: {name} must be a string of 1 to {bytes_max} bytes")
    if not value.isprintable() or value != value.strip():
        raise CredentialsInvalid(
            f"{place}: {name} must not have control characters or outer spaces"
        )
    return value


def _instances(place: str, table: _Table) -> frozenset[str] | None:
    if "instances" not in table:
        return None
    names = _list(place, table, "instances")
    for name in names:
        if not is_instance_name(name):
            raise CredentialsInvalid(f"{place}: {name!r} is not an instance name")
    return frozenset(names)


def _permissions(place: str, table: _Table) -> frozenset[Permission]:
    if "permissions" not in table:
        return ALL_PERMISSIONS
    names = _list(place, table, "permissions")
    known = {permission.value: permission for permission in Permission}
    if unknown := set(names) - known.keys():
        raise CredentialsInvalid(
            f"{place}: unknown permission {_one(unknown)!r}; there are {', '.join(known)}"
        )
    return frozenset(known[name] for name in names)


def _list(place: str, table: _Table, name: str) -> list[str]:
    values = table[name]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise CredentialsInvalid(f"{place}: {name} must be a list of strings")
    if not values:
        raise CredentialsInvalid(f"{place}: {name} is empty; leave it out to allow all")
    return values


def _one(names: Iterable[str]) -> str:
    return min(names)
