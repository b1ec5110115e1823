"""Live requests: rate, latency and errors by action; the last slow and refused ones with hints."""

from typing import Final

from widerow.console.live import actions_since, series
from widerow.console.parts import PageDocument, Visit
from widerow.limits import SLOW_REQUEST_MS
from widerow.server.recent import NoticedRequest

__all__ = ["show_requests"]

_WINDOWS: Final = {"10s": 10.0, "1m": 60.0, "10m": 600.0}
_SHOWN_MAX: Final = 30  # of either list
_ADVICE: Final = {
    "GetRange": "Ask for fewer rows or columns a page, or for a narrower range.",
    "BatchWriteRow": "Send fewer or smaller rows at once; they share a sync anyway.",
    "BatchGetRow": "Ask for fewer rows at once, and only for the columns you need.",
    "GetRow": "The row may be large: ask for the columns you need.",
    "Search": "Ask for fewer rows, sort by fewer fields, or make the query narrower.",
}
_ANY: Final = "It may have waited for the disk: Health says how the store is doing."


def show_requests(visit: Visit) -> PageDocument:
    """The requests of the last `window`, and the last ten minutes as lists for charts."""
    recent = visit.parts.recent
    window = visit.asked.get("window", "1m")
    window = window if window in _WINDOWS else "1m"
    samples = [*list(recent.samples), recent.now()]
    whole, actions = actions_since(samples, _WINDOWS[window])
    return {
        "window": window,
        "windows": list(_WINDOWS),
        "all": whole,
        "actions": actions,
        "series": series(samples),
        "slow_ms": SLOW_REQUEST_MS,
        "slow": [_shown(visit, each) for each in _seen(visit, list(recent.slow))],
        "refused": [_shown(visit, each) for each in _seen(visit, list(recent.refused))],
    }


def _seen(visit: Visit, found: list[NoticedRequest]) -> list[NoticedRequest]:
    """The requests that the visitor may see, the last one first.

    A request of an unknown sender belongs to no instance: a visitor who may open all of them sees
    it.
    """
    everything = visit.key.instances is None
    kept = [
        each
        for each in reversed(found)
        if everything or (each.instance and visit.opens(each.instance))
    ]
    return kept[:_SHOWN_MAX]


def _shown(visit: Visit, each: NoticedRequest) -> PageDocument:
    ago = visit.parts.clock.now_us() - each.at_us
    hint = each.hint or (_ADVICE.get(each.action, _ANY) if each.code == "OK" else "")
    return {
        "at_ms": each.at_us // 1000,
        "seconds_ago": round(max(0, ago) / 1e6, 1),
        "action": each.action,
        "instance": each.instance,
        "status": each.status,
        "code": each.code,
        "ms": round(each.elapsed_us / 1000, 2),
        "request_id": each.request_id,
        "hint": hint,
    }
