"""Live requests: rate, latency and errors by action; the last slow and refused ones with hints."""

from typing import Final
from weakref import WeakKeyDictionary

from widerow.console.live import actions_since, series
from widerow.console.parts import PageDocument, Visit
from widerow.errors import WiderowError
from widerow.limits import NOTICED_REQUESTS_MAX, SLOW_REQUEST_MS
from widerow.server.recent import NoticedRequest, RecentRequests
from widerow.wire.tablestore.faults import FAULT_PARTS
from widerow.wire.tablestore.operations.table import OPERATIONS

__all__ = ["show_requests"]

_WINDOWS: Final = {"10s": 10.0, "1m": 60.0, "10m": 600.0}
_SHOWN: Final = 10  # of either list, until more are asked for
_TABLES_NAMED: Final = 3  # of a batch
_KNOWN: Final[WeakKeyDictionary[RecentRequests, dict[str, str]]] = WeakKeyDictionary()
"""The tables of requests, by the ids of these."""

_ADVICE: Final = {
    "GetRange": "Ask for fewer rows or columns a page, or for a narrower range.",
    "BatchWriteRow": "Send fewer or smaller rows at once; they share a sync anyway.",
    "BatchGetRow": "Ask for fewer rows at once, and only for the columns you need.",
    "GetRow": "The row may be large: ask for the columns you need.",
    "Search": "Ask for fewer rows, sort by fewer fields, or make the query narrower.",
}
_ANY: Final = "It may have waited for the disk: Health says how the store is doing."


def show_requests(visit: Visit) -> PageDocument:
    """The requests of the last `window`, and the last ten minutes as lists for charts.

    Slow and refused ones are those of `code` and of `on` (`INSTANCE/TABLE`), where these are given;
    `shown` of either at most. `groups`: how many of the refused ones had a code on a table.
    """
    recent = visit.parts.recent
    window = visit.asked.get("window", "1m")
    window = window if window in _WINDOWS else "1m"
    samples = [*list(recent.samples), recent.now()]
    whole, actions = actions_since(samples, _WINDOWS[window])
    refused, slow = _seen(visit, list(recent.refused)), _seen(visit, list(recent.slow))
    code, on = visit.asked.get("code", ""), visit.asked.get("on", "")
    shown = visit.number("shown", _SHOWN, NOTICED_REQUESTS_MAX)
    kept = [each for each in refused if code in ("", each["code"]) and on in ("", each["on"])]
    kept_slow = [each for each in slow if not code and on in ("", each["on"])]
    return {
        "window": window,
        "windows": list(_WINDOWS),
        "all": whole,
        "actions": actions,
        "series": series(samples),
        "code": code,
        "on": on,
        "shown": shown,
        "codes": sorted({each["code"] for each in refused} | ({code} if code else set())),
        "tables": sorted({each["on"] for each in [*refused, *slow]} | ({on} if on else set())),
        "groups": _groups(kept),
        "slow_ms": SLOW_REQUEST_MS,
        "slow": kept_slow[:shown],
        "slow_found": len(kept_slow),
        "refused": kept[:shown],
        "refused_found": len(kept),
    }


def _groups(refused: list[PageDocument]) -> list[PageDocument]:
    """Refused requests by code and table, the most first."""
    found: dict[tuple[str, str], list[PageDocument]] = {}
    for each in refused:
        found.setdefault((each["code"], each["on"]), []).append(each)
    groups = [
        {
            "code": code,
            "on": on,
            "count": len(several),
            "actions": sorted({each["action"] for each in several}),
            "seconds_ago": several[0]["seconds_ago"],
            "hint": several[0]["hint"],
        }
        for (code, on), several in found.items()
    ]
    return sorted(groups, key=lambda each: (-each["count"], each["seconds_ago"]))


def _seen(visit: Visit, found: list[NoticedRequest]) -> list[PageDocument]:
    """The requests that the visitor may see, the last one first.

    A request of an unknown sender belongs to no instance: a visitor who may open all of them sees
    it.
    """
    everything = visit.key.instances is None
    return [
        _shown(visit, each)
        for each in reversed(found)
        if everything or (each.instance and visit.opens(each.instance))
    ]


def _tables(visit: Visit, each: NoticedRequest) -> str:
    """The tables that a request named; "" where it named none or cannot be read any more.

    Found once for each request: a statement of 4 KiB takes 25 ms to read.
    """
    known = _KNOWN.setdefault(visit.parts.recent, {})
    if each.request_id not in known:
        while len(known) >= 2 * NOTICED_REQUESTS_MAX:
            del known[next(iter(known))]  # the oldest
        known[each.request_id] = _read_tables(visit, each)
    return known[each.request_id]


def _read_tables(visit: Visit, each: NoticedRequest) -> str:
    found = OPERATIONS.get(each.action)
    if found is None or not each.body:
        return ""
    try:
        asked = found.decode(each.body)
    except WiderowError:
        return ""  # that is why it was refused
    names = sorted(FAULT_PARTS.tables(visit.parts.tablestore, each.instance, asked))
    return ", ".join(names[:_TABLES_NAMED])


def _shown(visit: Visit, each: NoticedRequest) -> PageDocument:
    ago = visit.parts.clock.now_us() - each.at_us
    hint = each.hint or (_ADVICE.get(each.action, _ANY) if each.code == "OK" else "")
    table = _tables(visit, each)
    return {
        "on": f"{each.instance}/{table}" if table else each.instance,
        "at_ms": each.at_us // 1000,
        "seconds_ago": round(max(0, ago) / 1e6, 1),
        "action": each.action,
        "instance": each.instance,
        "table": table,
        "status": each.status,
        "code": each.code,
        "ms": round(each.elapsed_us / 1000, 2),
        "request_id": each.request_id,
        "hint": hint,
    }
