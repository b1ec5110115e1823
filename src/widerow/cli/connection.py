"""Which server a command talks to, and as whom: flag, then environment, then profile, then default.

Pure: the environment and the profile are handed in. The names of variables are those that clients
of the service have in use already (ts-cli), after our own.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from widerow.client.connection import Endpoint

__all__ = [
    "CONNECTION_FIELDS",
    "PROFILE_VARIABLE",
    "ConnectionField",
    "ServerConnection",
    "endpoint_of",
    "resolve_connection",
]

PROFILE_VARIABLE: Final = "WIDEROW_PROFILE"
"""The variable that names a profile where no flag does."""


class ConnectionField(NamedTuple):
    """One part of a connection: its name, what it is, its variables, nearest first, its default."""

    name: str
    help: str
    variables: tuple[str, ...]
    default: str


CONNECTION_FIELDS: Final = (
    ConnectionField(
        "endpoint",
        "The server, http://HOST:PORT; any that speaks Tablestore.",
        ("WIDEROW_ENDPOINT", "TABLESTORE_ENDPOINT", "OTS_ENDPOINT", "OTS_TEST_ENDPOINT"),
        "http://127.0.0.1:8087",
    ),
    ConnectionField(
        "instance",
        "The instance of the tables.",
        (
            *("WIDEROW_INSTANCE", "TABLESTORE_INSTANCE_NAME"),
            *("OTS_INSTANCE_NAME", "OTS_TEST_INSTANCE"),
        ),
        "widerow",
    ),
    ConnectionField(
        "access_key_id",
        "Who asks.",
        (
            *("WIDEROW_ACCESS_KEY_ID", "TABLESTORE_ACCESS_KEY_ID", "OTS_ACCESS_KEY_ID"),
            *("OTS_AK_ENV", "OTS_TEST_ACCESS_KEY_ID"),
        ),
        "widerow",
    ),
    ConnectionField(
        "access_key_secret",
        "The secret of the access key; a variable keeps it out of lists of processes.",
        (
            *("WIDEROW_ACCESS_KEY_SECRET", "TABLESTORE_ACCESS_KEY_SECRET"),
            *("OTS_ACCESS_KEY_SECRET", "OTS_SK_ENV", "OTS_TEST_ACCESS_KEY_SECRET"),
        ),
        "widerow",
    ),
    ConnectionField(
        "security_token",
        "The security token (STS) of a temporary key.",
        ("WIDEROW_SECURITY_TOKEN", "OTS_TEST_STS_TOKEN"),
        "",
    ),
)
"""The parts of a connection, in the order in which they are shown."""

_FLAG: Final = "flag"
_DEFAULT: Final = "default"
_FAMILIES: Final = (
    ("WIDEROW_", "WIDEROW_"),
    ("TABLESTORE_", "TABLESTORE_"),
    ("OTS_TEST_", "OTS_TEST_"),
    ("OTS_AK_ENV", "OTS_?K_ENV"),
    ("OTS_SK_ENV", "OTS_?K_ENV"),
    ("OTS_", "OTS_"),
)


class ServerConnection(NamedTuple):
    """The parts of a connection by their names, and where each one is from.

    A source is `flag`, the name of a variable, `profile NAME` or `default`.
    """

    values: Mapping[str, str]
    sources: Mapping[str, str]


class _Found(NamedTuple):
    value: str
    source: str
    family: str  # what is set together: one place, or variables that begin alike


def resolve_connection(
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    profile: Mapping[str, str],
    profile_name: str = "",
) -> ServerConnection:
    """The connection that these ask for; an empty text counts as none.

    Id, secret and token belong together. The secret is taken from where the id was set, if there is
    one, and the token only from where the secret is from, so that what is left over in one place
    does not spoil the key of another.
    """
    found = {
        field.name: _candidates(field, flags, environment, profile, profile_name)
        for field in CONNECTION_FIELDS
    }
    chosen = {name: each[0] for name, each in found.items()}
    chosen["access_key_secret"] = _beside(found["access_key_secret"], chosen["access_key_id"])
    token = _beside(found["security_token"], chosen["access_key_secret"])
    if token.family not in (_FLAG, chosen["access_key_secret"].family):
        token = _Found("", _DEFAULT, _DEFAULT)
    chosen["security_token"] = token
    return ServerConnection(
        {name: each.value for name, each in chosen.items()},
        {name: each.source for name, each in chosen.items()},
    )


def _candidates(
    field: ConnectionField,
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    profile: Mapping[str, str],
    profile_name: str,
) -> list[_Found]:
    """Every value that there is for a part, the nearest first; the default is the last."""
    found = [_Found(flags.get(field.name) or "", _FLAG, _FLAG)]
    found += [_Found(environment.get(each, ""), each, _family(each)) for each in field.variables]
    found.append(_Found(profile.get(field.name, ""), f"profile {profile_name}", "profile"))
    return [*(each for each in found if each.value), _Found(field.default, _DEFAULT, _DEFAULT)]


def _beside(candidates: Sequence[_Found], other: _Found) -> _Found:
    """The value of a flag, else that from where `other` was set, else the nearest."""
    if candidates[0].source == _FLAG or other.family == _DEFAULT:
        return candidates[0]
    return next((each for each in candidates if each.family == other.family), candidates[0])


def _family(variable: str) -> str:
    return next(family for prefix, family in _FAMILIES if variable.startswith(prefix))


def endpoint_of(given: Mapping[str, Any]) -> "Endpoint":
    """The endpoint that the flags of a command name (`server_flags`)."""
    from widerow.client.connection import Endpoint  # noqa: PLC0415  # only to ask a server

    return Endpoint(
        given["endpoint"],
        given["instance"],
        given["access_key_id"],
        given["access_key_secret"],
        given["security_token"],
    )
