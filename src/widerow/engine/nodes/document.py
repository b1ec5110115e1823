"""The nodes of a store as plain data: for commands, pages and other programs."""

from typing import Any

from widerow.clock import Clock
from widerow.engine.nodes.nodes import Nodes, SeenNode
from widerow.engine.nodes.record import NodeRecord

__all__ = ["nodes_document"]

Json = dict[str, Any]


def nodes_document(nodes: Nodes, clock: Clock) -> Json:
    """Everything that the asked node knows (docs/operating/cluster.md names the fields).

    Cost: nothing is read. The others are as they were seen at the last look.
    """
    own, now_ns = nodes.own(), clock.monotonic_ns()
    others = sorted(nodes.seen(), key=lambda each: (each.record.name, each.record.id))
    if not nodes.is_shared:
        return {"shared": False, "nodes": []}
    return {
        "shared": True,
        "asked": own.id.hex(),
        "sight": nodes.read_lease.holds(),
        "clock": nodes.clock_fault,
        "nodes": [
            _shown(own, own.now_us, nodes.rate)
            | {"state": "serves", "beat_age_seconds": 0.0, "skew": [0.0, 0.0]},
            *[_seen(each, own.now_us, now_ns) for each in others],
        ],
    }


def _shown(node: NodeRecord, now_us: int, rate: float) -> Json:
    return {
        "id": node.id.hex(),
        "name": node.name,
        "version": node.version,
        "up_seconds": round((now_us - node.started_us) / 1e6, 1),
        "epoch": node.epoch,
        "keeper": node.keeper,
        "requests": node.requests,
        "requests_per_second": round(rate, 1),
    }


def _seen(seen: SeenNode, now_us: int, now_ns: int) -> Json:
    skew = None if seen.skew is None else [seen.skew.low_us / 1e6, seen.skew.high_us / 1e6]
    return _shown(seen.record, now_us, seen.rate) | {
        "state": "serves" if seen.lives(now_ns) else "silent",
        "beat_age_seconds": round((now_ns - seen.since_ns) / 1e9, 3),
        "skew": skew,
    }
