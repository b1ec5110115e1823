"""Metrics of the servers of a store: the lease, and what this server sees of the others."""

from collections.abc import Iterator

from widerow.engine.engine import Engine
from widerow.server.metrics import family

__all__ = ["node_lines"]


def node_lines(engine: Engine) -> Iterator[str]:
    """The lines. A store of one process has one server, which has the lease."""
    nodes, now_ns = engine.nodes, engine.clock.monotonic_ns()
    serve = [each.lives(now_ns) for each in nodes.seen()]
    yield from family("nodes", "gauge", "Servers of the store, as this one sees them, by state.")
    yield f'widerow_nodes{{state="serves"}} {1 + serve.count(True)}'
    yield f'widerow_nodes{{state="silent"}} {serve.count(False)}'
    yield from family("lease_held", "gauge", "1 where this server looks after the store.")
    yield f"widerow_lease_held {int(engine.lease.held())}"
    yield from family("clock_fault", "gauge", "1 where a wrong clock keeps it from writing.")
    yield f"widerow_clock_fault {int(nodes.clock_fault is not None)}"
