"""The last minutes of a server's requests, in bounded memory: what the console draws.

Counters only grow, so their past values have to be kept: a sample is a copy of the counters of all
actions, made every two seconds. The last slow requests and the last refused ones are kept, too.

Lives on the loop's thread. Another thread may copy the deques, which takes one step of the
interpreter, and read the copies.
"""

from collections import deque
from typing import Final, NamedTuple

from widerow.clock import Clock
from widerow.limits import (
    NOTICED_REQUESTS_MAX,
    REQUEST_SAMPLES_MAX,
    SLOW_REQUEST_MS,
)
from widerow.server.metrics import Metrics

__all__ = ["SLOW_NS", "ActionSample", "NoticedRequest", "RecentRequests", "RequestSample"]

SLOW_NS: Final = SLOW_REQUEST_MS * 1_000_000
"""Nanoseconds from which on a request is slow."""

_LINE: Final = b"x-widerow-hint: "


class ActionSample(NamedTuple):
    """The counters of one action at one moment; all of them only grow.

    `buckets`: durations, counted as `DurationHistogram` does; `sum_ns`: the sum of durations.
    """

    requests: int
    errors: int
    sum_ns: int
    buckets: tuple[int, ...]


class RequestSample(NamedTuple):
    """The counters of all actions that were ever asked for, at one moment.

    `at_us`: microseconds since 1970, `at_ns`: of the monotonic clock.
    """

    at_us: int
    at_ns: int
    actions: dict[str, ActionSample]


class NoticedRequest(NamedTuple):
    """One request that was slow or refused.

    `instance` "": the sender was not known yet. `hint`: what the client was told to do, else "".
    `body`: what its operation decodes, b"" where that was large or was not looked at.
    """

    at_us: int
    action: str
    instance: str
    status: int
    code: str
    elapsed_us: int
    request_id: str
    hint: str
    body: bytes = b""


class RecentRequests:
    """The recent requests. About half a megabyte where twenty actions are in use."""

    def __init__(self, metrics: Metrics, clock: Clock) -> None:
        self._metrics = metrics
        self._clock = clock
        self.started_us = clock.now_us()
        self.samples: deque[RequestSample] = deque(maxlen=REQUEST_SAMPLES_MAX)
        self.slow: deque[NoticedRequest] = deque(maxlen=NOTICED_REQUESTS_MAX)
        self.refused: deque[NoticedRequest] = deque(maxlen=NOTICED_REQUESTS_MAX)

    def sample(self) -> None:
        """Take a sample. Cost: a few microseconds for each action."""
        self.samples.append(self.now())

    def now(self) -> RequestSample:
        """The present counters, as a sample that is not kept."""
        actions = {
            name: ActionSample(
                requests=sum(codes.values()),
                errors=sum(codes.values()) - codes.get("OK", 0),
                sum_ns=counts.seconds.sum_ns,
                buckets=tuple(counts.seconds.buckets),
            )
            for name, counts in self._metrics.actions.copy().items()
            if (codes := counts.codes.copy())
        }
        return RequestSample(self._clock.now_us(), self._clock.monotonic_ns(), actions)

    def notice(
        self,
        request: tuple[str, str, str],
        answer: tuple[int, str],
        elapsed_ns: int,
        lines: bytes,
        body: bytes = b"",
    ) -> None:
        """Remember a request: its action, instance and id; its status and code.

        `lines`: the header lines of the answer, which may hold a hint. A refused request is kept as
        refused, even if it was slow. `body`: as in `NoticedRequest`.
        """
        action, instance, request_id = request
        status, code = answer
        kept = NoticedRequest(
            at_us=self._clock.now_us(),
            action=action,
            instance=instance,
            status=status,
            code=code,
            elapsed_us=elapsed_ns // 1000,
            request_id=request_id,
            hint=_hint_in(lines),
            body=body,
        )
        (self.slow if code == "OK" else self.refused).append(kept)


def _hint_in(lines: bytes) -> str:
    _, found, rest = lines.partition(_LINE)
    return rest.partition(b"\r\n")[0].decode("ascii", "replace") if found else ""
