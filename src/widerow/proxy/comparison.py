"""One exchange after another, asked of another server as well, and compared.

The proxy compares what it has just passed on, a replay what was recorded: both hand exchanges in
here, in an order in which requests that touch the same rows do not overtake each other.
"""

from typing import Final, NamedTuple

from google.protobuf.message import Message

from widerow.client.failures import RequestFailed
from widerow.client.http import OK, HttpAnswer
from widerow.client.pool import ConnectionPool
from widerow.client.signing import Signer
from widerow.clock import Clock
from widerow.limits import DATE_SKEW_SECONDS_MAX
from widerow.proxy.claims import TrafficFacts, claims_of, tables_of
from widerow.proxy.comparing import Allowances, ServerTimes, compare_answers
from widerow.proxy.decoding import (
    answer_tree,
    inflated,
    message_types,
    parse_message,
    request_tree,
)
from widerow.proxy.exchange import Exchange, ProxiedRequest
from widerow.proxy.identifiers import Identifiers
from widerow.proxy.report import DifferenceReport
from widerow.proxy.turns import Claim

__all__ = [
    "UNANSWERED",
    "AnswerComparer",
    "ProxySide",
    "ReadRequest",
    "learn_traffic",
    "repeatable",
]

_SKEW_MS: Final = DATE_SKEW_SECONDS_MAX * 1000
_DEFINING: Final = frozenset(("CreateTable", "CreateIndex", "DescribeTable"))
_READING: Final = frozenset(
    (
        *("ListTable", "DescribeTable", "GetRow", "BatchGetRow", "GetRange", "BulkExport"),
        *("ComputeSplitPointsBySize", "Search", "ListSearchIndex", "DescribeSearchIndex"),
        *("ListStream", "DescribeStream", "GetShardIterator", "GetStreamRecord"),
    )
)
UNANSWERED: Final = "the other server gave no answer"
"""Why a request was not compared: a report with this is not a clean one."""

_UNSIGNED: Final = "it names what the upstream made up, and there is no key to sign it anew with"


def repeatable(action: str) -> bool:
    """Whether a request of this action may be sent twice: it changes nothing."""
    return action in _READING


class ProxySide(NamedTuple):
    """A server, and who asks it: None where requests are passed on as they were signed."""

    upstream: ConnectionPool
    signer: Signer | None

    async def ask(self, request: ProxiedRequest, target: str, now_us: int) -> HttpAnswer:
        """Ask as the signer, or as whoever signed. Raises: `RequestFailed`."""
        headers = request.headers
        if self.signer is not None:
            target = f"/{request.action}"
            headers = self.signer.sign(target, request.body, now_us, headers)
        return await self.upstream.ask(
            target, headers.items(), request.body, repeatable=repeatable(request.action)
        )


class ReadRequest(NamedTuple):
    """A request with its message, None where that cannot be read, and what it touches."""

    request: ProxiedRequest
    message: Message | None
    claims: tuple[Claim, ...]

    @classmethod
    def of(cls, request: ProxiedRequest, facts: TrafficFacts) -> "ReadRequest":
        """Read a request. Linear in its body."""
        types = message_types(request.action)
        body = inflated(request.headers, request.body, "request")
        message = parse_message(types.request if types else None, body)
        return cls(request, message, claims_of(request.action, request.instance, message, facts))


class AnswerComparer:
    """Asks another server what the upstream was asked. For the thread of one loop."""

    def __init__(
        self, other: ProxySide, facts: TrafficFacts, report: DifferenceReport, clock: Clock
    ) -> None:
        self.report = report
        self._other = other
        self._facts = facts
        self._clock = clock
        self._identifiers = Identifiers()
        self._first_ms: int | None = None  # of the upstream's clock
        self._other_first_ms = clock.now_us() // 1000 - _SKEW_MS

    async def run(self, read: ReadRequest, exchange: Exchange) -> None:
        """Ask the other server and compare. Never raises for what a server does."""
        request = exchange.request
        if self._first_ms is None:
            self._first_ms = exchange.at_us // 1000 - _SKEW_MS
        columns = self._facts.auto_columns(request.instance, tables_of(read.message))
        translated = self._translated(request, columns)
        if translated is None:
            self.report.skip(_UNSIGNED)
            return
        try:
            now_us = self._clock.now_us()
            answer = await self._other.ask(translated, f"/{request.action}", now_us)
        except RequestFailed:
            self.report.skip(UNANSWERED)
            return
        now_ms = self._clock.now_us() // 1000
        ended_ms = (exchange.at_us + exchange.took_us) // 1000
        allowed = Allowances(
            ServerTimes(self._first_ms, ended_ms + _SKEW_MS),
            ServerTimes(self._other_first_ms, now_ms + _SKEW_MS),
            columns,
        )
        found = compare_answers(request.action, exchange.answer, answer, allowed)
        self.report.add(exchange, answer, found)
        if exchange.answer.status == answer.status == OK:
            self._learn(read, exchange.answer, answer, columns)

    def _translated(
        self, request: ProxiedRequest, columns: frozenset[str]
    ) -> ProxiedRequest | None:
        """The request as the other server is asked; None where that cannot be signed."""
        body = inflated(request.headers, request.body, "request")
        renamed = self._identifiers.translate(request.action, body, columns)
        if renamed == body:
            return request
        if self._other.signer is None:
            return None
        headers = {
            name: value
            for name, value in request.headers.items()
            if not name.startswith("x-ots-request-compress-")
        }
        return request._replace(headers=headers, body=renamed)

    def _learn(
        self,
        read: ReadRequest,
        ours: HttpAnswer,
        theirs: HttpAnswer,
        columns: frozenset[str],
    ) -> None:
        action = read.request.action
        types = message_types(action)
        if types is None:
            return
        left, right = (
            parse_message(types.answer, inflated(each.headers, each.body, "response"))
            for each in (ours, theirs)
        )
        self._identifiers.learn(read.message, left, right)
        if columns:
            trees = answer_tree(action, ours), answer_tree(action, theirs)
            self._identifiers.learn_keys(*trees, columns)


def learn_traffic(read: ReadRequest, answer: HttpAnswer, facts: TrafficFacts) -> None:
    """Take what a request that was granted says of tables and transactions."""
    request = read.request
    if answer.status != OK:
        return
    if request.action in _DEFINING:
        facts.learn(
            request.action,
            request.instance,
            request_tree(request.action, request.headers, request.body),
            answer_tree(request.action, answer),
        )
    elif request.action == "StartLocalTransaction":
        told = answer_tree(request.action, answer)
        if isinstance(told, dict):
            facts.learn_transaction(str(told.get("transaction_id")), read.claims)
