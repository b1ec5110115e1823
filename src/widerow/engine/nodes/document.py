"""The nodes of a store as plain data: for commands, pages and other programs."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from widerow.clock import Clock
from widerow.engine.lag import owner_of
from widerow.engine.nodes.nodes import Nodes, SeenNode
from widerow.engine.nodes.record import NodeRecord
from widerow.engine.nodes.slowest import Figures, slowest_server
from widerow.engine.nodes.work import NodeWork, WorstLag

__all__ = ["nodes_document"]

Json = dict[str, Any]

_JOINED: Final[dict[str, Callable[[list[float]], float]]] = {
    "p99_ms": max,
    "commit_p99_ms": max,
    "cores": sum,
    "in_flight": sum,
    "waiting": sum,
    "connections": sum,
    "memory_bytes": sum,
}
"""How figures of workers become that of their server."""


class _Known(NamedTuple):
    """A node as the asked one knows it; `age`: seconds since its beat was first seen."""

    record: NodeRecord
    rate: float
    age: float
    serves: bool
    lease_seconds: float | None
    skew: list[float] | None


def nodes_document(nodes: Nodes, clock: Clock, opens: Callable[[str], bool]) -> Json:
    """Everything that the asked node knows (docs/operating/cluster.md names the fields).

    `opens`: whether who asks may see names of tables of an instance or a namespace. Cost: nothing
    is read. The others are as they were seen at the last look.
    """
    if not nodes.is_shared:
        return {"shared": False, "nodes": []}
    own, now_ns = nodes.own(), clock.monotonic_ns()
    others = sorted(nodes.seen(), key=lambda each: (each.record.name, each.record.id))
    known = [
        _Known(own, nodes.rate, 0.0, serves=True, lease_seconds=None, skew=[0.0, 0.0]),
        *[_known(each, now_ns) for each in others],
    ]
    living = [each for each in known if each.serves]
    lease = _lease(known)
    keeper = None if lease is None else lease["node"]
    slow = slowest_server(
        [Figures(each.record.id, each.rate, each.record.work or NodeWork()) for each in living]
    )
    return {
        "shared": True,
        "asked": own.id.hex(),
        "sight": nodes.read_lease.holds(),
        "clock": nodes.clock_fault,
        "lease": lease,
        "lags": _lags(living, opens),
        "nodes": [
            _shown(each, own.now_us, slow) | {"keeper": each.record.id.hex() == keeper}
            for each in known
        ],
        "servers": _servers(known),
    }


def _known(seen: SeenNode, now_ns: int) -> _Known:
    return _Known(
        seen.record,
        seen.rate,
        (now_ns - seen.since_ns) / 1e9,
        seen.lives(now_ns),
        round(seen.read_lease_seconds(now_ns), 1),
        None if seen.skew is None else [seen.skew.low_us / 1e6, seen.skew.high_us / 1e6],
    )


def _shown(node: _Known, now_us: int, slow: tuple[bytes, str] | None) -> Json:
    record, work = node.record, node.record.work
    figures = (work or NodeWork())._asdict()
    del figures["lags"]
    return {
        "id": record.id.hex(),
        "name": record.name,
        "server": record.server,
        "worker": record.worker or None,
        "version": record.version,
        "state": "serves" if node.serves else "silent",
        "beat_age_seconds": round(node.age, 3),
        "seen_us": now_us - round(node.age * 1e6),
        "up_seconds": round((now_us - record.started_us) / 1e6, 1),
        "skew": node.skew,
        "epoch": record.epoch,
        "catalogue_lease_seconds": node.lease_seconds,
        "requests": record.requests,
        "requests_per_second": round(node.rate, 1),
        "load": None if work is None else figures,
        "slowest": slow[1] if slow is not None and slow[0] == record.id else None,
    }


def _servers(known: list[_Known]) -> list[Json]:
    """The servers, the asked one first: sums over those of their workers that serve.

    Latency is that of the slowest worker.
    """
    by_name: dict[str, list[_Known]] = {}
    for each in known:
        by_name.setdefault(each.record.server, []).append(each)
    return [
        {"server": name, "nodes": [each.record.id.hex() for each in nodes], **_sums(nodes)}
        for name, nodes in by_name.items()
    ]


def _sums(nodes: list[_Known]) -> Json:
    living = [each for each in nodes if each.serves]
    works = [each.record.work for each in living if each.record.work is not None]
    found: Json = {"requests_per_second": round(sum([each.rate for each in living]), 1)}
    for name, join in _JOINED.items():
        values = [value for each in works if (value := getattr(each, name)) is not None]
        found[name] = join(values) if values else None
    return found


def _lease(known: list[_Known]) -> Json | None:
    """Who looks after the store, as far as they tell; None: nobody does.

    Times are differences of its own clock, which may be another one than this one's.
    """
    keepers = [each for each in known if each.record.keeper]
    if not keepers:
        return None
    keeper = min(keepers, key=lambda each: each.age)
    record, term = keeper.record, keeper.record.term
    held = expires = None
    if term is not None:
        held = round((record.now_us - term.since_us) / 1e6 + keeper.age, 1)
        expires = round((term.until_us - record.now_us) / 1e6 - keeper.age, 1)
    return {
        "node": record.id.hex(),
        "name": record.name,
        "held_seconds": held,
        "expires_seconds": expires,
    }


def _lags(living: list[_Known], opens: Callable[[str], bool]) -> list[Json]:
    """What is behind, with the node that works on it; what most waits for first."""
    told = [
        (lag, each.record.name)
        for each in living
        if each.record.work is not None
        for lag in each.record.work.lags
    ]
    told.sort(key=lambda pair: (-(pair[0].seconds or 0.0), -(pair[0].rows or 0)))
    return [_lag(lag, name, opens) for lag, name in told]


def _lag(lag: WorstLag, node: str, opens: Callable[[str], bool]) -> Json:
    named = opens(owner_of(lag.table))
    return {
        "kind": lag.kind,
        "table": lag.table if named else None,
        "name": lag.name if named else None,
        "seconds": lag.seconds,
        "rows": lag.rows,
        "node": node,
    }
