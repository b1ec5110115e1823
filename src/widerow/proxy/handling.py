"""The proxy: a handler of requests that asks another server, behind the server's own listener.

A request is answered with the upstream's answer. Where there is a second server, it is asked when
the upstream has answered, and only what the upstream took for a request of somebody it knows: the
second server may believe the proxy's own signature. Requests that touch the same rows have both
done before the next of them begins. At most `PROXY_PENDING_MAX` are in hand; others wait.
"""

import asyncio
import logging
import re
from http import HTTPStatus
from typing import Final, NamedTuple

from widerow.auth.keyring import Permission
from widerow.auth.policy import AccessRules, authorize
from widerow.client.failures import RequestFailed
from widerow.client.http import OK, HttpAnswer
from widerow.clock import Clock, Entropy
from widerow.errors import InvalidRequest, Rule, WiderowError
from widerow.limits import PROXY_PENDING_MAX
from widerow.proxy.claims import TrafficFacts
from widerow.proxy.comparison import AnswerComparer, ProxySide, ReadRequest, learn_traffic
from widerow.proxy.decoding import inflated, message_types, parse_message, told_error
from widerow.proxy.exchange import Exchange, ProxiedRequest
from widerow.proxy.identifiers import makes_identifiers
from widerow.proxy.recording import RecordingInvalid, RecordingWriter
from widerow.proxy.turns import RequestTurns
from widerow.server.message import Reply, Request, Response
from widerow.server.unforeseen import log_unforeseen
from widerow.wire.dialect import Opened
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT, action_of
from widerow.wire.tablestore.envelope import answer_date, open_request, response_headers
from widerow.wire.tablestore.errors.answers import encode_error
from widerow.wire.tablestore.errors.codes import AUTH_FAILED, SERVER_UNAVAILABLE

__all__ = ["ProxyCounts", "ProxyHandler"]

_log = logging.getLogger("widerow.proxy")

_BAD_GATEWAY: Final = 502
_ACTION: Final = re.compile(r"(tunnel/)?[A-Za-z]{1,64}")
_SIGNATURES: Final = ("x-ots-signature", "x-ots-signaturev4", "x-ots-apikey")
_PASSED_ON: Final = frozenset(("authorization", "content-type", "location", "allow", "retry-after"))
_STATUSES: Final = frozenset(status.value for status in HTTPStatus if status >= OK)
_UNKNOWN: Final = "the upstream did not know who sent it"
_UNREADABLE: Final = "it names no action and no instance"
_NO_ANSWER: Final = "the upstream gave no answer"


class ProxyCounts:
    """What went by: requests, those that the upstream gave no answer to, nanoseconds it took."""

    def __init__(self) -> None:
        self.requests = 0
        self.failed = 0
        self.not_recorded = 0


class _Asked(NamedTuple):
    request: ProxiedRequest
    target: str
    opened: Opened | None  # where the proxy itself has verified the sender


class ProxyHandler:
    """Answers with what the upstream answers. For the thread of one loop."""

    def __init__(  # what a proxy is made of, each by its name
        self,
        upstream: ProxySide,
        clock: Clock,
        entropy: Entropy,
        *,
        identity: AccessRules | None = None,
        comparison: AnswerComparer | None = None,
        recording: RecordingWriter | None = None,
        facts: TrafficFacts | None = None,
    ) -> None:
        """Pass on to `upstream`; compare and record what is asked, where there is a place for it.

        `identity`: who may ask, needed where `upstream` is asked with a key of the proxy's.
        """
        assert identity is not None or upstream.signer is None, "a key must not be open to anyone"
        self.counts = ProxyCounts()
        self._upstream = upstream
        self._clock = clock
        self._entropy = entropy
        self._identity = identity
        self._comparison = comparison
        self._recording = recording
        self._facts = facts or TrafficFacts()
        self._turns = RequestTurns()
        self._room = asyncio.Semaphore(PROXY_PENDING_MAX)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def pending(self) -> int:
        """Requests in hand, those included that were answered and are still compared."""
        return len(self._tasks)

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Begin; `reply` is called when the upstream has answered."""
        self.counts.requests += 1
        task = asyncio.get_running_loop().create_task(self._serve(request, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return None

    def replace_identity(self, identity: AccessRules) -> None:
        """Let others ask from now on, where the proxy decides who may."""
        self._identity = identity

    def refuse(self, error: WiderowError) -> Response:
        """The answer to what never became a request."""
        return self._refused(error, "", "/", "")

    def close(self) -> None:
        """Give up what is in hand."""
        for task in list(self._tasks):
            task.cancel()

    # --- one request -------------------------------------------------------------------------

    async def _serve(self, request: Request, reply: Reply) -> None:
        told = _Once(reply)
        action = ""
        try:
            target = request.target.decode("latin-1")
            action = action_of(target.partition("?")[0])
            async with self._room:
                await self._pass_on(request, target, action, told)
        except RequestFailed as error:
            self.counts.failed += 1
            if self._comparison is not None:
                self._comparison.report.skip(_NO_ANSWER)
            told.reply(self._bad_gateway(str(error), action))
        except WiderowError as error:
            kind = request.headers.get("content-type", "")
            told.reply(self._refused(error, action, f"/{action}", kind))
        except asyncio.CancelledError:
            told.reply(self._bad_gateway("the proxy is stopping", action))
            raise
        except Exception as error:  # noqa: BLE001  # every request is answered
            log_unforeseen(_log, error, action=action)
            told.reply(self._bad_gateway("the proxy met an error of its own; see its log", action))

    async def _pass_on(self, request: Request, target: str, action: str, told: "_Once") -> None:
        if not target.startswith("/"):
            raise InvalidRequest(Rule.HTTP_MALFORMED)
        if request.method == b"GET":
            answer = await self._upstream.upstream.ask(
                target, _own_headers(request).items(), b"", method="GET", repeatable=True
            )
            told.reply(_passed(answer))
            return
        asked = self._opened(request, target, action)
        if not self._is_readable(asked.request):
            self._skip(_UNREADABLE)
            answer = await self._ask(asked)
            told.reply(self._response(asked, answer))
            return
        if self._comparison is None and self._recording is None:
            told.reply(self._response(asked, await self._ask(asked)))
            return
        read = ReadRequest.of(asked.request, self._facts)
        ticket = self._turns.enter(read.claims)
        try:
            await ticket.ready
            await self._exchange(asked, read, told)
        finally:
            self._turns.leave(ticket)

    def _opened(self, request: Request, target: str, action: str) -> _Asked:
        """The request, verified where the proxy signs in its sender's place.

        Raises: `InvalidRequest`, `NotPermitted`.
        """
        if request.method != b"POST":
            raise InvalidRequest(Rule.HTTP_METHOD)
        if request.repeated:
            raise InvalidRequest(Rule.HEADER_DUPLICATE, name=request.repeated)
        headers = _own_headers(request)
        body, opened = request.body, None
        if self._identity is not None:
            opened, body = open_request(
                f"/{action}",
                headers,
                body,
                self._identity.keyring,
                self._identity.instances,
                self._clock.now_us(),
            )
            authorize(opened.key, _permission(action, body))
            for name in ("x-ots-request-compress-type", "x-ots-request-compress-size"):
                headers.pop(name, None)
        instance = headers.get("x-ots-instancename", "")
        return _Asked(ProxiedRequest(action, instance, headers, body), target, opened)

    def _is_readable(self, request: ProxiedRequest) -> bool:
        """Whether it is of the protocol, so that it can be recorded and compared."""
        return (
            _ACTION.fullmatch(request.action) is not None
            and bool(request.instance)
            and request.instance.isprintable()
            and any(name in request.headers for name in _SIGNATURES)
        )

    async def _ask(self, asked: _Asked) -> HttpAnswer:
        answer = await self._upstream.ask(asked.request, asked.target, self._clock.now_us())
        if answer.status not in _STATUSES:
            raise RequestFailed(f"{self._upstream.upstream.url} answered status {answer.status}")
        return answer

    async def _exchange(self, asked: _Asked, read: ReadRequest, told: "_Once") -> None:
        at_us, began_ns = self._clock.now_us(), self._clock.monotonic_ns()
        answer = await self._ask(asked)
        took_us = (self._clock.monotonic_ns() - began_ns) // 1000
        exchange = Exchange(asked.request, answer, at_us, took_us)
        response = self._response(asked, answer)
        if told_error(answer)[0] == AUTH_FAILED:
            self._skip(_UNKNOWN)
            told.reply(response)
            return
        learn_traffic(read, answer, self._facts)
        if self._comparison is None or not _is_gone_on_with(exchange):
            told.reply(response)
        if self._recording is not None:
            self._record(self._recording, exchange)
        if self._comparison is not None:
            await self._comparison.run(read, exchange)
            told.reply(response)

    def _record(self, recording: RecordingWriter, exchange: Exchange) -> None:
        try:
            recording.add(exchange)
        except RecordingInvalid as error:
            if not self.counts.not_recorded:
                facts = {"reason": str(error)}
                _log.error("an exchange is not recorded", extra={"facts": facts})
            self.counts.not_recorded += 1

    def _skip(self, reason: str) -> None:
        if self._comparison is not None:
            self._comparison.report.skip(reason)

    # --- answers -----------------------------------------------------------------------------

    def _response(self, asked: _Asked, answer: HttpAnswer) -> Response:
        """The upstream's answer; signed anew for a sender whom the upstream does not know."""
        if asked.opened is None:
            return _passed(answer)
        head = response_headers(
            f"/{asked.request.action}",
            answer.body,
            answer.headers.get("x-ots-requestid") or self._request_id(),
            answer_date(self._clock.now_us()),
            asked.opened,
        )
        hint = answer.headers.get("x-widerow-hint")
        if hint is not None:
            head += f"x-widerow-hint: {hint}\r\n".encode("latin-1")
        return Response(answer.status, head, answer.body)

    def _refused(self, error: WiderowError, name: str, path: str, kind: str) -> Response:
        refusal = TABLESTORE_DIALECT.refuse(error, name, kind)
        date = answer_date(self._clock.now_us())
        head = response_headers(path, refusal.body, self._request_id(), date, None)
        return Response(refusal.status, head + refusal.lines, refusal.body)

    def _bad_gateway(self, reason: str, action: str) -> Response:
        """The proxy's own answer. Clients repeat what may be repeated on this code (wire §1.9)."""
        body = encode_error(SERVER_UNAVAILABLE, f"widerow proxy: {reason}")
        date = answer_date(self._clock.now_us())
        head = response_headers(f"/{action}", body, self._request_id(), date, None)
        return Response(_BAD_GATEWAY, head, body)

    def _request_id(self) -> str:
        text = self._entropy.token_bytes(16).hex()
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class _Once:
    """Answers a request the first time that it is told an answer."""

    def __init__(self, reply: Reply) -> None:
        self._reply: Reply | None = reply

    def reply(self, response: Response) -> None:
        if self._reply is not None:
            reply, self._reply = self._reply, None
            reply(response)


def _own_headers(request: Request) -> dict[str, str]:
    """What a client says of its request; how it is framed is for each connection by itself."""
    return {
        name: value
        for name, value in request.headers.items()
        if name.startswith("x-") or name == "user-agent"
    }


def _passed(answer: HttpAnswer) -> Response:
    """An answer as it came, without the headers that are of its connection."""
    lines = [
        f"{name}: {value}\r\n"
        for name, value in answer.headers.items()
        if name.startswith("x-") or name in _PASSED_ON
    ]
    return Response(answer.status, "".join(lines).encode("latin-1"), answer.body)


def _permission(action: str, body: bytes) -> Permission:
    """What a request takes; of an action that is not served here, the most."""
    served = TABLESTORE_DIALECT.operations.get(action) or TABLESTORE_DIALECT.own.get(action)
    return Permission.MANAGE if served is None else served.permission_for(body)


def _is_gone_on_with(exchange: Exchange) -> bool:
    """Whether the client may name in its next request what this answer has made up."""
    types = message_types(exchange.request.action)
    if types is None or exchange.answer.status != OK:
        return False
    answer = exchange.answer
    body = inflated(answer.headers, answer.body, "response")
    return makes_identifiers(exchange.request.action, parse_message(types.answer, body))
