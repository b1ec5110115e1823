"""`widerow profile`: named connections, kept in a file of the user's."""

import os
import sys
from collections.abc import Mapping
from getpass import getpass
from typing import Final

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, Positional, command, group, switch
from widerow.cli.connection import CONNECTION_FIELDS
from widerow.cli.environment import masked
from widerow.cli.names import profile_names
from widerow.cli.profiles import (
    ProfileInvalid,
    Profiles,
    load_profiles,
    profiles_path,
    save_profiles,
)
from widerow.cli.tablestore.grid import Grid
from widerow.cli.tablestore.output import print_grid

__all__ = ["PROFILE"]

_SECRETS: Final = ("access_key_secret", "security_token")


def _add(name: str, given: Given) -> None:
    fields = {field.name: given[field.name] for field in CONNECTION_FIELDS}
    if not any(fields.values()):
        raise ProfileInvalid("nothing to keep: give --endpoint, --instance or --access-key-id")
    if fields["access_key_id"] and not fields["access_key_secret"]:
        fields["access_key_secret"] = _asked_secret(fields["access_key_id"])
    path = profiles_path(os.environ)
    profiles = load_profiles(path).changed(name, fields)
    profiles = profiles.using(name) if given["use"] else profiles
    save_profiles(path, profiles)
    in_use = ", in use now" if profiles.current == name else ""
    line = f"kept the profile {name}{in_use}\n"
    tell(given, _changed("kept", name, profiles), lambda: sys.stderr.write(line))


def _changed(what: str, name: str, profiles: Profiles) -> dict[str, str | None]:
    return {what: name, "current": profiles.current or None}


def _asked_secret(key_id: str) -> str:
    """The secret that is typed where nobody sees it, or a line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    return getpass(f"secret of {key_id}: ")


def _list(given: Given) -> None:
    profiles = load_profiles(profiles_path(os.environ))
    rows = {
        name: {key: masked(key, value) for key, value in fields.items()}
        for name, fields in profiles.named.items()
    }
    document = {"current": profiles.current or None, "profiles": rows}
    tell(given, document, lambda: _show_profiles(rows, profiles.current))


def _show_profiles(rows: Mapping[str, Mapping[str, str]], current: str) -> None:
    names = ("endpoint", "instance", "access_key_id")
    lines = [
        [f"{'*' if name == current else ' '} {name}", *(row.get(key, "") for key in names)]
        for name, row in rows.items()
    ]
    if lines:
        print_grid(Grid(("  profile", "endpoint", "instance", "access key"), lines))
    else:
        sys.stderr.write("no profile yet; make one with `widerow profile add`\n")


def _use(name: str, given: Given) -> None:
    path = profiles_path(os.environ)
    profiles = load_profiles(path).using(name)
    save_profiles(path, profiles)
    tell(given, _changed("used", name, profiles), lambda: None)


def _remove(name: str, given: Given) -> None:
    path = profiles_path(os.environ)
    profiles = load_profiles(path).without(name)
    save_profiles(path, profiles)
    tell(given, _changed("removed", name, profiles), lambda: None)


_NAME: Final = Positional("name", "NAME", "The profile's name.", offered=profile_names)
_ADD: Final = command(
    _add,
    _NAME,
    *(
        Flag(field.name, field.help, "SECRET" if field.name in _SECRETS else "TEXT")
        for field in CONNECTION_FIELDS
    ),
    switch("use", "Use it from now on."),
    JSON_OUTPUT,
    help="Keep a connection under a name; one of that name is replaced.",
    examples="""
`widerow profile add shop --endpoint http://db:8087 --instance shop --access-key-id reporting`
— asks for the secret
`widerow profile add cloud --endpoint https://inst.region.ots.example.com --instance inst`

The first profile is used from then on; `widerow profile use` takes another one. The file is
`$XDG_CONFIG_HOME/widerow/profiles.toml`, and only its owner can read it.
""",
)
_LIST: Final = command(
    _list,
    JSON_OUTPUT,
    help="Show the profiles, without their secrets.",
    examples="""
`widerow profile list` — a star is before the one in use
""",
)
_USE: Final = command(
    _use,
    _NAME,
    JSON_OUTPUT,
    help="Use a profile from now on, in every command that asks a server.",
    examples="""
`widerow profile use shop`
`widerow --help` — every command that asks a server also takes `--profile NAME`
""",
)
_REMOVE: Final = command(
    _remove,
    _NAME,
    JSON_OUTPUT,
    help="Take a profile out of the file.",
    examples="""
`widerow profile remove shop`
""",
)
PROFILE: Final = group(
    "Example: `widerow profile add work --endpoint http://db1:8087 --instance shop`",
    {"add": _ADD, "list": _LIST, "use": _USE, "remove": _REMOVE},
)
