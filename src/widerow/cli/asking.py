"""Questions that a running server answers, or the store itself where no server has it open."""

import json
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from widerow.errors import StoreLocked, WiderowError
from widerow.server.system import SystemClock, SystemEntropy

if TYPE_CHECKING:
    from widerow.engine.engine import Engine

__all__ = ["NoAnswer", "NotThere", "ask_server", "engine_of"]

Json = dict[str, Any]

_TIMEOUT_SECONDS: Final = 30.0
_MISSING: Final = "OTSObjectNotExist"


class NoAnswer(WiderowError):
    """What was asked for could not be found out; the message says why."""


class NotThere(NoAnswer):
    """The server knows no such table."""


@contextmanager
def engine_of(directory: Path) -> "Iterator[Engine]":
    """The engine over a store that no server has open; the store is closed afterwards.

    Raises: `NoAnswer` where a server has it, `SettingsInvalid` where there is no store,
    `StoreDamaged`, `StorageFailure`.
    """
    from widerow.cli.places import require_store  # noqa: PLC0415  # only to read a store
    from widerow.engine.engine import Engine  # noqa: PLC0415  # same
    from widerow.engine.table_models import TABLE_MODELS  # noqa: PLC0415  # same
    from widerow.storage.opener import open_store  # noqa: PLC0415  # same

    require_store(directory)
    try:
        store = open_store(f"rocksdb:{directory}")
    except StoreLocked as error:
        raise NoAnswer(f"{error}; ask the server that has it, with --endpoint") from error
    with store:
        yield Engine(store, SystemClock(), SystemEntropy(), TABLE_MODELS)


def ask_server(action: str, asked: Json, flags: Mapping[str, Any]) -> Json:
    """What a server answers to one of our own actions, asked as `flags` say.

    Raises: `NoAnswer` where nobody answers or the request is refused.
    """
    body = json.dumps(asked).encode()
    endpoint = flags["endpoint"].rstrip("/")
    if urlsplit(endpoint).scheme not in ("http", "https"):
        raise NoAnswer(f"{endpoint} is no endpoint; give http://HOST:PORT")
    request = urllib.request.Request(  # noqa: S310  # http or https, seen to above
        f"{endpoint}/{action}", body, _signed(action, body, flags), method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310  # same
            found: Json = json.load(answer)
            return found
    except urllib.error.HTTPError as error:
        raise _refusal(error) from error
    except (OSError, ValueError) as error:
        raise NoAnswer(
            f"no widerow answers at {endpoint} ({error}); name it with --endpoint, or a store that "
            "no server has open with --path"
        ) from error


def _signed(action: str, body: bytes, flags: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a request, as the protocol's clients sign them (wire §1.3)."""
    from widerow.auth.signing import (  # noqa: PLC0415  # only to ask a server
        SIGNATURE_V2,
        Mac,
        canonical_request,
    )

    now = datetime.fromtimestamp(SystemClock().now_us() / 1e6, UTC)
    headers = {
        "x-ots-date": f"{now:%Y-%m-%dT%H:%M:%S.000Z}",
        "x-ots-apiversion": "2015-12-31",
        "x-ots-accesskeyid": flags["access_key_id"],
        "x-ots-instancename": flags["instance"],
        "x-ots-contentmd5": b64encode(md5(body, usedforsecurity=False).digest()).decode(),
    }
    if flags.get("security_token"):
        headers["x-ots-ststoken"] = flags["security_token"]
    mac = Mac(flags["access_key_secret"].encode(), "sha1")
    signature = mac.sign(canonical_request(f"/{action}", headers)).decode()
    return {**headers, SIGNATURE_V2: signature, "content-type": "application/json"}


def _refusal(error: urllib.error.HTTPError) -> NoAnswer:
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # only when refused

    from widerow.wire.tablestore.messages import Error  # noqa: PLC0415  # same
    from widerow.wire.tablestore.operations.bodies import text  # noqa: PLC0415  # same

    try:
        told = Error.FromString(error.read())
    except DecodeError:
        return NoAnswer(f"the server answered {error.code}; is it a widerow of this version?")
    hint = error.headers.get("x-widerow-hint")
    words = f"{text(told.code)}: {text(told.message)}" + (f" ({hint})" if hint else "")
    return (NotThere if told.code == _MISSING else NoAnswer)(words)
