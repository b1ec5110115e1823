"""Rates, latencies and errors of actions, from the samples of the last minutes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from widerow.server.metrics import BUCKET_BOUNDS, PAGES_ACTION, latency_ms
from widerow.server.recent import ActionSample, RequestSample

__all__ = ["actions_since", "series"]

_NONE: Final = ActionSample(0, 0, 0, (0,) * (len(BUCKET_BOUNDS) + 1))


def _difference(before: RequestSample, after: RequestSample) -> dict[str, ActionSample]:
    """The growth of counters between two samples, for actions with new requests.

    Requests to the console are left out.
    """
    found = {}
    for name, now in after.actions.items():
        if name == PAGES_ACTION:
            continue
        past = before.actions.get(name, _NONE)
        if now.requests > past.requests:
            found[name] = ActionSample(
                now.requests - past.requests,
                now.errors - past.errors,
                now.sum_ns - past.sum_ns,
                tuple(a - b for a, b in zip(now.buckets, past.buckets, strict=True)),
            )
    return found


def _joined(samples: Sequence[ActionSample]) -> ActionSample:
    if not samples:
        return _NONE
    return ActionSample(
        sum(each.requests for each in samples),
        sum(each.errors for each in samples),
        sum(each.sum_ns for each in samples),
        tuple(map(sum, zip(*[each.buckets for each in samples], strict=True))),
    )


def _shown(sample: ActionSample, seconds: float) -> dict[str, Any]:
    return {
        "requests": sample.requests,
        "per_second": round(sample.requests / seconds, 2),
        "errors": sample.errors,
        "errors_per_second": round(sample.errors / seconds, 2),
        "mean_ms": round(sample.sum_ns / 1e6 / sample.requests, 3) if sample.requests else 0.0,
        "p50_ms": round(latency_ms(sample.buckets, 0.5), 3),
        "p99_ms": round(latency_ms(sample.buckets, 0.99), 3),
    }


def actions_since(
    samples: Sequence[RequestSample], seconds: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """All actions together, and each of them, over the last `seconds`; the busiest first.

    `samples` ascend; the last one is of now. With fewer than two, all numbers are empty.
    """
    if len(samples) < 2:
        return _shown(_NONE, 1.0), []
    last = samples[-1]
    since = last.at_ns - round(seconds * 1e9)
    first = next((each for each in samples if each.at_ns >= since), samples[0])
    if first is last:
        first = samples[-2]
    elapsed = max(1e-3, (last.at_ns - first.at_ns) / 1e9)
    found = _difference(first, last)
    actions = [{"action": name, **_shown(each, elapsed)} for name, each in found.items()]
    actions.sort(key=lambda each: (-each["requests"], each["action"]))
    return _shown(_joined(list(found.values())), elapsed), actions


def series(samples: Sequence[RequestSample]) -> dict[str, list[float]]:
    """Lists of the same length for charts: seconds since 1970, rate, errors, latency."""
    found: dict[str, list[float]] = {"at": [], "rate": [], "errors": [], "p50_ms": [], "p99_ms": []}
    for before, after in pairwise(samples):
        elapsed = max(1e-3, (after.at_ns - before.at_ns) / 1e9)
        whole = _shown(_joined(list(_difference(before, after).values())), elapsed)
        found["at"].append(after.at_us // 1000 / 1000)
        found["rate"].append(whole["per_second"])
        found["errors"].append(whole["errors_per_second"])
        found["p50_ms"].append(whole["p50_ms"])
        found["p99_ms"].append(whole["p99_ms"])
    return found
