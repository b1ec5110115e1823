"""The pages `/_widerow/…` of dev mode, over HTTP. JSON in, JSON out.

An answer is 200 or 201 with the present state, or `{"error": {"field", "message"}}` with 400 (the
body), 403 (a page of another site may have sent it), 404 (no such thing), 405 or 413. A body must
have the content type `application/json`, and unless other machines are allowed the `host` header
must name this machine: a web page of another site can send neither.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from widerow.engine.copying import CopyRefused
from widerow.errors import WiderowError
from widerow.limits import DEV_BODY_BYTES_MAX
from widerow.server.dev import fields as f
from widerow.server.dev.fields import BodyField, FieldRefused, read_document, read_fields
from widerow.server.dev.mode import DevMode
from widerow.server.loopback import names_loopback
from widerow.server.message import Reply, Request, Response
from widerow.server.unforeseen import log_unforeseen
from widerow.wire.dialect import HeaderNames

__all__ = ["DEV_HEADERS", "DEV_PREFIX", "DevPages"]

DEV_PREFIX: Final = b"/_widerow"
DEV_HEADERS: Final = HeaderNames(frozenset(("content-type", "host")), ())
"""The headers that the listener keeps for these pages."""

_log = logging.getLogger("widerow.server")
_HEAD: Final = b"content-type: application/json\r\ncache-control: no-store\r\n"
_JSON_TYPE: Final = "application/json"

_CLOCK: Final = {"freeze": f.SET, "run": f.SET, "set": f.MOMENT, "advance": f.SPAN}
_RESET: Final = {"instance": f.NAME, "snapshot": f.NAME}
_SNAPSHOT: Final = {"instance": f.NAME, "name": f.NAME}


class _Refused(WiderowError):
    """An answer with an error."""

    def __init__(self, status: int, field: str, message: str, allow: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.field = field
        self.message = message
        self.allow = allow


class _Asked(NamedTuple):
    """A request to a page: the part of its path after the page's, and the body."""

    rest: tuple[str, ...]
    document: dict[str, Any]


_Answer = tuple[int, Any]
_Page = Callable[[_Asked], _Answer | Awaitable[_Answer]]


class DevPages:
    """The pages of one server. On the loop's thread."""

    def __init__(self, mode: DevMode, *, remote: bool) -> None:
        """`remote`: other machines may use the pages."""
        self._mode = mode
        self._remote = remote
        self._running: set[asyncio.Task[None]] = set()
        self._pages: dict[str, dict[str, _Page]] = {
            "": {"GET": self._index},
            "clock": {"GET": self._clock, "POST": self._move_clock},
            "faults": {"GET": self._faults, "POST": self._add_fault, "DELETE": self._remove_faults},
            "snapshots": {
                "GET": self._snapshots,
                "POST": self._keep,
                "DELETE": self._forget,
            },
            "reset": {"POST": self._reset},
        }

    def answer(self, request: Request, reply: Reply) -> Response | None:
        """Answer now, or return None and call `reply` later. Never raises."""
        try:
            found = self._ask(request)
        except Exception as error:  # noqa: BLE001  # every request is answered
            return _refusal(error)
        if isinstance(found, tuple):
            return _response(*found)
        task = asyncio.get_running_loop().create_task(_finish(found, reply))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return None

    def _ask(self, request: Request) -> _Answer | Awaitable[_Answer]:
        method = request.method.decode("latin-1")
        target = request.target.decode("latin-1")
        _, name, *rest = (target.removeprefix("/_widerow") or "/").split("/")
        pages = self._pages.get(name)
        if pages is None or not target.startswith(("/_widerow/", "/_widerow")):
            known = " ".join(f"/_widerow/{each}" for each in self._pages if each)
            raise _Refused(404, "path", f"is not a page; there are {known}")
        page = pages.get("GET" if method == "HEAD" else method)
        if page is None:
            raise _Refused(405, "method", f"must be one of {', '.join(pages)}", ", ".join(pages))
        if rest and method != "DELETE":
            raise _Refused(404, "path", f"ends behind /_widerow/{name}")
        self._check_sender(request, method)
        if len(request.body) > DEV_BODY_BYTES_MAX:
            raise _Refused(413, "body", f"must be at most {DEV_BODY_BYTES_MAX} bytes")
        return page(_Asked(tuple(rest), read_document(request.body)))

    def _check_sender(self, request: Request, method: str) -> None:
        """Refuse a request that a page of another site could have sent."""
        host = request.headers.get("host", "")
        if not self._remote and host and not names_loopback(host):
            raise _Refused(403, "host", "must be this machine's loopback name or address")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and kind != _JSON_TYPE:
            raise _Refused(400, "content-type", f"must be {_JSON_TYPE}")

    # --- the pages ---------------------------------------------------------------------------

    def _index(self, asked: _Asked) -> _Answer:
        _no_fields(asked)
        return 200, {
            "pages": {f"/_widerow/{name}": list(self._pages[name]) for name in self._pages if name}
        }

    def _clock(self, asked: _Asked) -> _Answer:
        _no_fields(asked)
        return 200, self._mode.clock_document()

    def _move_clock(self, asked: _Asked) -> _Answer:
        given = read_fields(asked.document, _CLOCK)
        if not given:
            raise FieldRefused("body", f"must have one of {', '.join(_CLOCK)}")
        if "freeze" in given and "run" in given:
            raise FieldRefused("run", "must be left out where there is freeze")
        if "set" in given and "advance" in given:
            raise FieldRefused("advance", "must be left out where there is set")
        mode, clock = self._mode, self._mode.clock
        if "advance" in given:
            mode.advance(given["advance"])
        if "set" in given:
            clock.set(given["set"])
        if "freeze" in given:
            clock.freeze()
        if "run" in given:
            clock.run()
        return 200, mode.clock_document()

    def _faults(self, asked: _Asked) -> _Answer:
        _no_fields(asked)
        return 200, {"faults": self._mode.faults.documents()}

    def _add_fault(self, asked: _Asked) -> _Answer:
        return 201, self._mode.add_fault(asked.document)

    def _remove_faults(self, asked: _Asked) -> _Answer:
        _no_fields(asked)
        if not asked.rest:
            return 200, {"removed": self._mode.faults.clear()}
        number = asked.rest[0]
        known = len(asked.rest) == 1 and number.isascii() and number.isdigit() and len(number) < 12
        if not known or not self._mode.faults.remove(int(number)):
            raise _Refused(404, "path", "must end with the id of a fault that is there")
        return 200, {"removed": 1}

    def _snapshots(self, asked: _Asked) -> _Answer:
        _no_fields(asked)
        return 200, {"snapshots": self._mode.snapshots()}

    async def _keep(self, asked: _Asked) -> _Answer:
        given = _all_of(asked, _SNAPSHOT, ("instance", "name"))
        return 201, await self._mode.keep(given["instance"], given["name"])

    def _forget(self, asked: _Asked) -> _Answer:
        given = _all_of(asked, _SNAPSHOT, ("instance", "name"))
        if asked.rest or not self._mode.forget(given["instance"], given["name"]):
            raise _Refused(404, "name", "must be that of a snapshot of the instance")
        return 200, {"removed": 1}

    async def _reset(self, asked: _Asked) -> _Answer:
        given = _all_of(asked, _RESET, ("instance",))
        return 200, await self._mode.reset(given["instance"], given.get("snapshot"))


def _no_fields(asked: _Asked) -> None:
    read_fields(asked.document, {})


def _all_of(
    asked: _Asked, fields: Mapping[str, BodyField], needed: tuple[str, ...]
) -> dict[str, Any]:
    given = read_fields(asked.document, fields)
    for name in needed:
        if name not in given:
            raise FieldRefused(name, f"must be given: {fields[name].allowed}")
    return given


async def _finish(answer: Awaitable[_Answer], reply: Reply) -> None:
    try:
        response = _response(*await answer)
    except Exception as error:  # noqa: BLE001  # every request is answered
        response = _refusal(error)
    reply(response)


def _response(status: int, document: object, lines: bytes = b"") -> Response:
    return Response(status, _HEAD + lines, json.dumps(document).encode() + b"\n")


def _refusal(error: Exception) -> Response:
    status, field, message, lines = 500, "server", "a defect of widerow; see its log", b""
    if isinstance(error, _Refused):
        status, field, message = error.status, error.field, error.message
        lines = f"allow: {error.allow}\r\n".encode() if error.allow else b""
    elif isinstance(error, FieldRefused):
        status, field, message = 400, error.field, error.allowed
    elif isinstance(error, CopyRefused):
        status, field, message = 400, "instance", str(error)
    elif isinstance(error, WiderowError):
        status, field, message = 503, "server", str(error)
    else:
        log_unforeseen(_log, error)
    return _response(status, {"error": {"field": field, "message": message}}, lines)
