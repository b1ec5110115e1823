"""Questions that a running server answers, or the store itself where no server has it open."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from widerow.cli.connection import endpoint_of
from widerow.errors import StoreLocked, WiderowError
from widerow.system import SystemClock, SystemEntropy
from widerow.wire.tablestore.errors.codes import OBJECT_NOT_EXIST

if TYPE_CHECKING:
    from widerow.engine.engine import Engine

__all__ = ["NoAnswer", "NotThere", "ask_server", "engine_of"]

Json = dict[str, Any]

_TIMEOUT_SECONDS: Final = 30.0


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
    from widerow.engine.engine import Engine  # noqa: PLC0415  # only to read a store
    from widerow.engine.table_models import TABLE_MODELS  # noqa: PLC0415  # only to read a store
    from widerow.storage.opener import open_store  # noqa: PLC0415  # only to read a store

    require_store(directory)
    try:
        store = open_store(f"rocksdb:{directory}")
    except StoreLocked as error:
        raise NoAnswer(f"{error}; ask the server that has it, with --endpoint") from error
    with store:
        yield Engine(store, SystemClock(), SystemEntropy(), TABLE_MODELS)


def ask_server(action: str, asked: Json, flags: Mapping[str, Any]) -> Json:
    """What a server answers to one of our own actions, asked as `flags` say.

    Raises: `NoAnswer` where nobody answers or the request is refused; `RequestFailed` for an
    endpoint that is not a URL.
    """
    from widerow.client.connection import refusal  # noqa: PLC0415  # only to ask a server
    from widerow.client.failures import Refused, no_answer_words  # noqa: PLC0415  # only to ask a server
    from widerow.client.http import NO_ANSWER, OK, HttpRequest, ask_url  # noqa: PLC0415  # only to ask a server

    body = json.dumps(asked).encode()
    endpoint = endpoint_of(flags)
    path = f"/{action}"
    headers = endpoint.signer.sign(path, body, SystemClock().now_us())
    headers["content-type"] = "application/json"
    url = endpoint.url.rstrip("/")
    try:
        answer = ask_url(url, HttpRequest(path, "POST", headers, body), _TIMEOUT_SECONDS)
        if answer.status == OK:
            found: Json = json.loads(answer.body)
            return found
    except (*NO_ANSWER, ValueError) as error:
        raise NoAnswer(
            f"{no_answer_words(url, error)}; or name a store that no server has open with --path"
        ) from error
    told = refusal(answer)
    if not isinstance(told, Refused):
        raise NoAnswer(f"the server answered {answer.status}; is it a widerow of this version?")
    raise (NotThere if told.code == OBJECT_NOT_EXIST else NoAnswer)(str(told))
