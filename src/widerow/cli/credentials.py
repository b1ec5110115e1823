"""`widerow credentials`: temporary keys and API keys, made and revoked in a credentials file.

The file is replaced whole, so a server that follows it never sees half of it.
"""

import os
import re
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.auth.credentials_file import (
    API_KEYS,
    TEMPORARY_KEYS,
    KeyField,
    Names,
    add_key,
    key_names,
    remove_keys,
)
from widerow.auth.keyring import AccessKey, ApiKey, CredentialsInvalid, Keyring, secret_digest
from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, Positional, command, group, switch
from widerow.cli.flags import listed
from widerow.errors import NotPermitted
from widerow.limits import CREDENTIALS_BYTES_MAX
from widerow.storage.directory import sync_directory
from widerow.system import SystemClock, SystemEntropy

__all__ = ["CREDENTIALS"]

Json = dict[str, Any]

_SECRET_BYTES: Final = 32  # as many as SHA-256 has
_ID_BYTES: Final = 8
_UNITS: Final = {"m": 60, "h": 3600, "d": 86_400}
_LASTING: Final = re.compile(r"([0-9]{1,6})([mhd])")
_SECONDS_MAX: Final = 3650 * 86_400  # ten years
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS: Final = {TEMPORARY_KEYS: "temporary key", API_KEYS: "API key"}


def _make_api_key(name: str, given: Given) -> None:
    """Make an API key, show it once, and keep its digest in the file.

    Raises: `WiderowError` when the file, the name or a flag does not do.
    """
    key = f"wrk_{_random(_SECRET_BYTES)}"
    fields: dict[str, KeyField] = {
        "name": name,
        "sha256": secret_digest(key).hex(),
        **_rights(given),
    }
    shown: Json = {"name": name, "api_key": key, "expires": None}
    if given["expires_in"] is not None:
        fields["expires"] = _end_of(given["expires_in"])
        shown["expires"] = _told(fields["expires"])
    file = Path(given["file"])
    _replace(file, lambda text: add_key(text, API_KEYS, fields))
    words = f"This is the API key {name}. It is shown once: {file} has its digest only."
    tell(given, shown, lambda: _show_secret(words, key))


def _show_secret(words: str, *lines: str) -> None:
    """Say on standard error what follows on standard output."""
    sys.stderr.write(f"{words}\n")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _make_temporary_key(parent: str, given: Given) -> None:
    """Make a temporary key for an access key of the file, and show its three parts.

    Raises: `WiderowError` when the file, the access key or a flag does not do.
    """
    file = Path(given["file"])
    identity, secret, token = (
        f"tmp-{SystemEntropy().token_bytes(_ID_BYTES).hex()}",
        _random(_SECRET_BYTES),
        _random(_SECRET_BYTES),
    )
    end = _end_of(given["expires_in"])
    fields: dict[str, KeyField] = {
        "id": identity,
        "secret": secret,
        "parent": parent,
        "expires": end,
        "token_sha256": secret_digest(token).hex(),
        **_rights(given),
    }

    def changed(text: str) -> str:
        if ("key", parent) not in key_names(text):
            raise CredentialsInvalid(f"there is no access key {parent!r} in {file}")
        return add_key(text, TEMPORARY_KEYS, fields)

    _replace(file, changed)
    shown = {
        "access_key_id": identity,
        "access_key_secret": secret,
        "security_token": token,
        "expires": _told(end),
    }
    words = f"A temporary key for {parent}. Its token is shown once."
    lines = [f"{name}: {value}" for name, value in shown.items()]
    tell(given, shown, lambda: _show_secret(words, *lines))


def _revoke(names: Sequence[str], given: Given) -> None:
    """Take temporary keys and API keys of these names out of the file, or those that have ended.

    Raises: `WiderowError` when the file does not do, or there is no such key.
    """
    file = Path(given["file"])
    if bool(names) == given["expired"]:
        raise CredentialsInvalid("give names of keys, or --expired")
    gone: list[tuple[str, str]] = []

    def changed(text: str) -> str:
        known = frozenset(each for each in key_names(text) if each[0] in _KINDS)
        if given["expired"]:
            gone.extend(sorted(_ended(text, known)))
        else:
            for name in names:
                found = sorted(each for each in known if each[1] == name)
                if not found:
                    raise CredentialsInvalid(
                        f"there is no temporary key and no API key {name!r} in {file}; an access "
                        "key is taken out by hand"
                    )
                gone.extend(found)
        return remove_keys(text, gone)

    _replace(file, changed)
    document = {"revoked": [{"kind": _KINDS[kind], "name": name} for kind, name in gone]}
    lines = "".join(f"revoked {_KINDS[kind]} {name}\n" for kind, name in gone)
    tell(given, document, lambda: sys.stdout.write(lines))


def _list(given: Given) -> None:
    """Show the keys of the file: what they may do and until when. No secret, no digest.

    Raises: `WiderowError` when the file does not do.
    """
    text = _read(Path(given["file"]))
    known = key_names(text)
    rows = [] if not known else _rows(Keyring.load(text), known)
    tell(given, {"keys": rows}, lambda: _show_keys(rows))


def _show_keys(rows: Sequence[Json]) -> None:
    shown = Table()
    for heading in ("kind", "name", "stands for", "instances", "permissions", "ends", "state"):
        shown.add_column(heading, overflow="fold")
    for row in rows:
        instances = "all" if row["instances"] is None else ", ".join(row["instances"])
        words = (row["kind"], row["name"], row["parent"] or "", instances)
        more = (", ".join(row["permissions"]), row["expires"] or "never", row["state"])
        shown.add_row(*map(Text, (*words, *more)))
    Console().print(shown)


def _rows(keyring: Keyring, known: Names) -> list[Json]:
    now_us = SystemClock().now_us()
    rows = [
        _row("access key" if key.parent is None else "temporary key", key.id, key, now_us)
        for key in keyring.access_keys
    ]
    rows += [
        {**_nothing("temporary key", name), "state": "its access key is gone"}
        for kind, name in sorted(known)
        if kind == TEMPORARY_KEYS and not _is_known(keyring, name)
    ]
    return rows + [_row("API key", key.name, key, now_us) for key in keyring.api_keys]


def _row(kind: str, name: str, key: AccessKey | ApiKey, now_us: int) -> Json:
    ended = key.expires_us is not None and now_us >= key.expires_us
    return {
        "kind": kind,
        "name": name,
        "parent": key.parent if isinstance(key, AccessKey) else None,
        "instances": None if key.instances is None else sorted(key.instances),
        "permissions": sorted(each.value for each in key.permissions),
        "expires": None if key.expires_us is None else _told(_moment(key.expires_us)),
        "state": "ended" if ended else "in force",
    }


def _nothing(kind: str, name: str) -> Json:
    return {
        "kind": kind,
        "name": name,
        "parent": None,
        "instances": [],
        "permissions": [],
        "expires": None,
    }


def _is_known(keyring: Keyring, name: str) -> bool:
    try:
        keyring.find(name)
    except NotPermitted:
        return False
    return True


def _ended(text: str, known: Names) -> Names:
    """The names that open nothing any more: their time is over, or their access key is gone."""
    rows = _rows(Keyring.load(text), known) if known else []
    found = {(row["kind"], row["name"]) for row in rows if row["state"] != "in force"}
    return frozenset(each for each in known if (_KINDS[each[0]], each[1]) in found)


def _rights(given: Given) -> dict[str, KeyField]:
    lists = {name: listed(given[name]) for name in ("instances", "permissions")}
    return {name: words for name, words in lists.items() if words}


def _random(size: int) -> str:
    return urlsafe_b64encode(SystemEntropy().token_bytes(size)).decode().rstrip("=")


def _end_of(lasting: str) -> datetime:
    found = _LASTING.fullmatch(lasting)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= _SECONDS_MAX:
        raise CredentialsInvalid(
            f"--expires-in {lasting}: "
            "write minutes, hours or days, as in 15m, 12h, 90d; 3650d at most"
        )
    return _moment(SystemClock().now_us() + seconds * 1_000_000)


def _moment(time_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=time_us)


def _told(end: KeyField) -> str:
    assert isinstance(end, datetime)
    return f"{end:%Y-%m-%dT%H:%M:%SZ}"


# --- the file -------------------------------------------------------------------------------------


def _read(file: Path) -> str:
    """The text of the file. Raises: `CredentialsInvalid`."""
    try:
        with file.open("rb") as opened:
            content = opened.read(CREDENTIALS_BYTES_MAX + 1)
        text = content.decode()
    except OSError as error:
        raise CredentialsInvalid(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise CredentialsInvalid(f"{file}: not UTF-8 text") from None
    if len(content) > CREDENTIALS_BYTES_MAX:
        raise CredentialsInvalid(f"{file}: more than {CREDENTIALS_BYTES_MAX} bytes")
    return text


def _replace(file: Path, change: Callable[[str], str]) -> None:
    """Put the changed text in the place of the file's, at once and for its owner alone.

    A file beside it, of the same name and `.new`, keeps a second command out. A file that is not
    there yet counts as an empty one. Raises: `CredentialsInvalid`.
    """
    place = file.resolve()  # of a link, what it leads to
    beside = place.with_name(place.name + ".new")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CredentialsInvalid(
            f"{beside} is there: another command is writing; if none is, remove it"
        ) from None
    except OSError as error:
        raise CredentialsInvalid(f"cannot write {beside}: {error.strerror}") from error
    try:
        with open(descriptor, "wb") as writing:  # noqa: PTH123  # a descriptor, not a path
            text = _read(place) if place.exists() else ""
            content = change(text).encode()
            if len(content) > CREDENTIALS_BYTES_MAX:
                raise CredentialsInvalid(f"{file}: more than {CREDENTIALS_BYTES_MAX} bytes")
            _take_after(place, descriptor)
            writing.write(content)
            writing.flush()
            os.fsync(descriptor)
        beside.replace(place)
        sync_directory(place.parent)
    except OSError as error:
        raise CredentialsInvalid(f"cannot write {file}: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def _take_after(place: Path, descriptor: int) -> None:
    """Give the new file the mode and the owner of the old one: its server has to read it."""
    if not place.exists():
        return
    old = place.stat()
    os.fchmod(descriptor, old.st_mode & 0o777)
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)


# --- the commands --------------------------------------------------------------------------------

_FILE: Final = Flag(
    "file",
    "The credentials file of the server.",
    "FILE",
    required=True,
    variable="WIDEROW_CREDENTIALS",
)
_RIGHTS: Final = (
    Flag("instances", "Instances that it opens; all if not given.", "A,B"),
    Flag("permissions", "What it may do: read, write, manage; all if not given.", "A,B"),
)
_API_KEY: Final = command(
    _make_api_key,
    Positional("name", "NAME", "What to call it."),
    _FILE,
    *_RIGHTS,
    Flag("expires_in", "When it ends, as in 12h or 90d; never if not given.", "TIME"),
    JSON_OUTPUT,
    help="Make an API key and show it, once.",
    examples="""
`widerow credentials api-key notebook --file keys.toml --instances shop --permissions read`
`widerow credentials api-key nightly --file keys.toml --expires-in 90d --json`
""",
)
_TEMPORARY_KEY: Final = command(
    _make_temporary_key,
    Positional("parent", "ID", "The access key for which it stands."),
    _FILE,
    *_RIGHTS,
    Flag("expires_in", "When it ends, as in 15m or 12h.", "TIME", default="1h"),
    JSON_OUTPUT,
    help="Make a temporary key (id, secret and security token) for an access key, and show it.",
    examples="""
`widerow credentials temporary-key reporting --file keys.toml` — for an hour
`widerow credentials temporary-key reporting --file keys.toml --expires-in 15m --permissions read`
""",
)
_REVOKE: Final = command(
    _revoke,
    Positional("names", "[NAME]...", "Temporary keys and API keys.", "*"),
    _FILE,
    switch("expired", "Those that open nothing any more, instead of names."),
    JSON_OUTPUT,
    help="Take temporary keys and API keys out of the file.",
    examples="""
`widerow credentials revoke notebook --file keys.toml` — a server refuses it within a second
`widerow credentials revoke --expired --file keys.toml`
""",
)
_LIST: Final = command(
    _list,
    _FILE,
    JSON_OUTPUT,
    help="Show the keys of the file, what they may do and until when, without their secrets.",
    examples="""
`widerow credentials list --file keys.toml`
""",
)
CREDENTIALS: Final = group(
    "Example: `widerow credentials list --file keys.toml`",
    {"api-key": _API_KEY, "temporary-key": _TEMPORARY_KEY, "revoke": _REVOKE, "list": _LIST},
)
