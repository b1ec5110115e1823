"""Access keys: who has which secret, and what it opens.

A keyring is a value. To change keys while serving, load a new one and put it in the old one's
place: requests that come afterwards see the new one whole.

The credentials file is TOML, one table for each key:

    [[key]]
    id = "reporting"
    secret = "something long"
    instances = ["shop"]        # left out: all instances
    permissions = ["read"]      # left out: read, write and manage
    security_token = "..."      # left out: the key is used without one
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Self

from widerow.auth.signing import SigningKeys
from widerow.errors import NotPermitted, Rule, WiderowError
from widerow.limits import CREDENTIAL_BYTES_MAX, NAME_BYTES_MAX, SECURITY_TOKEN_BYTES_MAX

__all__ = [
    "ALL_PERMISSIONS",
    "AccessKey",
    "CredentialsInvalid",
    "Keyring",
    "Permission",
    "is_instance_name",
]


class Permission(Enum):
    """What an action needs. Each operation names one in the dispatch table."""

    READ = "read"  # rows and descriptions of tables
    WRITE = "write"  # rows
    MANAGE = "manage"  # tables


ALL_PERMISSIONS: Final = frozenset(Permission)


class CredentialsInvalid(WiderowError):
    """The credentials file cannot be used; the message says where and why, never a secret."""


@dataclass(frozen=True, slots=True)
class AccessKey:
    """One key pair and what it may do. Neither `repr` nor `str` shows the secret or the token.

    `instances`: None for all. `security_token`: requests must carry exactly this token, or none.
    """

    id: str
    secret: str = field(repr=False)
    instances: frozenset[str] | None = None
    permissions: frozenset[Permission] = ALL_PERMISSIONS
    security_token: str | None = field(default=None, repr=False)
    signing: SigningKeys = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare what the secret signs with, once."""
        object.__setattr__(self, "signing", SigningKeys(self.secret))


class Keyring:
    """The access keys of a server, found by id."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[AccessKey]) -> None:
        """Hold `keys`. Raises: `CredentialsInvalid` when two have one id, or there are none."""
        self._keys: dict[str, AccessKey] = {}
        for key in keys:
            if key.id in self._keys:
                raise CredentialsInvalid(f"two keys have the id {key.id!r}")
            self._keys[key.id] = key
        if not self._keys:
            raise CredentialsInvalid("there is no [[key]] in it, so nobody could sign a request")

    @classmethod
    def default(cls) -> Self:
        """The pair `widerow` / `widerow`, which opens everything; for machines of one's own."""
        return cls([AccessKey("widerow", "widerow")])

    @classmethod
    def load(cls, text: str) -> Self:
        """The keyring that a credentials file describes (see the module's text).

        Raises: `CredentialsInvalid`, naming the line of a TOML mistake or the key and the field.
        """
        document: dict[str, Any] = {}
        mistake = ""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            mistake = f"not TOML: {error}"
        if mistake:
            # Raised out here, without a cause: newer Pythons keep the whole document in theirs.
            raise CredentialsInvalid(mistake)
        tables = document.pop("key", [])
        if document:
            raise CredentialsInvalid(f"unknown setting {_one(document)!r}; keys go under [[key]]")
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise CredentialsInvalid("write each key as a table of its own: [[key]]")
        return cls([_read_key(f"key {n}", table) for n, table in enumerate(tables, 1)])

    def find(self, access_key_id: str) -> AccessKey:
        """The key with this id. Constant time. Raises: `NotPermitted` (ACCESS_KEY_UNKNOWN)."""
        key = self._keys.get(access_key_id)
        if key is None:
            raise NotPermitted(Rule.ACCESS_KEY_UNKNOWN)
        return key

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._keys)

    def __repr__(self) -> str:
        """The ids only."""
        return f"Keyring({', '.join(sorted(self._keys))})"


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


# Most requests repeat a name. Asked before a signature is verified, so their number is bounded.
_GOOD_NAMES: Final[set[str]] = set()
_GOOD_NAMES_MAX: Final = 1024


_FIELDS: Final = frozenset(("id", "secret", "instances", "permissions", "security_token"))


def _read_key(place: str, table: Mapping[str, Any]) -> AccessKey:
    if unknown := table.keys() - _FIELDS:
        raise CredentialsInvalid(f"{place}: unknown field {_one(unknown)!r}")
    identity = _text(place, table, "id", CREDENTIAL_BYTES_MAX)
    # The id travels in headers and stands before a colon in our answers.
    if not (identity.isascii() and identity.isprintable()) or set(identity) & set(" :"):
        raise CredentialsInvalid(f"{place}: id must be printable ASCII without space and colon")
    place = f"{place} ({identity})"
    token: str | None = None
    if "security_token" in table:
        token = _text(place, table, "security_token", SECURITY_TOKEN_BYTES_MAX)
    return AccessKey(
        identity,
        _text(place, table, "secret", CREDENTIAL_BYTES_MAX),
        _instances(place, table),
        _permissions(place, table),
        token,
    )


def _text(place: str, table: Mapping[str, Any], name: str, bytes_max: int) -> str:
    value = table.get(name)
    if not isinstance(value, str) or not 0 < len(value.encode()) <= bytes_max:
        raise CredentialsInvalid(f"{place}: {name} must be a string of 1 to {bytes_max} bytes")
    if not value.isprintable() or value != value.strip():
        raise CredentialsInvalid(
            f"{place}: {name} must not have control characters or outer spaces"
        )
    return value


def _instances(place: str, table: Mapping[str, Any]) -> frozenset[str] | None:
    if "instances" not in table:
        return None
    names = _list(place, table, "instances")
    for name in names:
        if not is_instance_name(name):
            raise CredentialsInvalid(f"{place}: {name!r} is not an instance name")
    return frozenset(names)


def _permissions(place: str, table: Mapping[str, Any]) -> frozenset[Permission]:
    if "permissions" not in table:
        return ALL_PERMISSIONS
    names = _list(place, table, "permissions")
    known = {permission.value: permission for permission in Permission}
    if unknown := set(names) - known.keys():
        raise CredentialsInvalid(
            f"{place}: unknown permission {_one(unknown)!r}; there are {', '.join(known)}"
        )
    return frozenset(known[name] for name in names)


def _list(place: str, table: Mapping[str, Any], name: str) -> list[str]:
    values = table[name]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise CredentialsInvalid(f"{place}: {name} must be a list of strings")
    if not values:
        raise CredentialsInvalid(f"{place}: {name} is empty; leave it out to allow all")
    return values


def _one(names: Iterable[str]) -> str:
    return min(names)
