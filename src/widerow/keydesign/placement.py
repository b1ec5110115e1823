"""Partitions on nodes: which node serves which, and when one moves.

The service does not publish its placement rule; this module uses a simple one. The parts of a split
stay on the node of the whole. After each interval at most one partition moves: to the node with
least load, from the busiest one above the threshold that has a partition whose move brings the two
closer.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from widerow.keydesign.sketch import mixed

__all__ = ["IMBALANCE", "Move", "Placement"]

IMBALANCE: Final = 1.2
"""A node with more than this many times the mean load gives a partition away."""


@dataclass(frozen=True, slots=True)
class Move:
    """The move of a partition, named by its lower bound, between two nodes."""

    partition: bytes
    source: int
    target: int


class Placement:
    """Which node serves which partition. Partitions are named by their lower bounds."""

    def __init__(self, nodes: int, bounds: Sequence[bytes], seed: int = 0) -> None:
        """Assign partitions in turn to `nodes` nodes, beginning with a node chosen by `seed`."""
        if nodes < 1:
            raise ValueError("at least one node")
        self.nodes = nodes
        first = mixed(seed) % nodes
        starts = [b"", *bounds]
        self._node = {start: (first + at) % nodes for at, start in enumerate(starts)}

    def node(self, partition: bytes) -> int:
        """The node that serves a partition."""
        return self._node[partition]

    def follow(self, bounds: Sequence[bytes]) -> None:
        """Take over splits and merges of the partitions."""
        starts = [b"", *bounds]
        placed = sorted(self._node)
        node: dict[bytes, int] = {}
        for start in starts:
            # A new partition was split off the one before it; a merged partition has no lower bound
            # any more.
            whole = placed[bisect_right(placed, start) - 1]
            node[start] = self._node[whole]
        self._node = node

    def loads(self, load: Mapping[bytes, float]) -> list[float]:
        """The load of each node, from the load of each partition."""
        found = [0.0] * self.nodes
        for partition, node in self._node.items():
            found[node] += load.get(partition, 0.0)
        return found

    def balance(self, load: Mapping[bytes, float]) -> Move | None:
        """Move one partition if that improves the balance; returns the move, or None."""
        loads = self.loads(load)
        idlest = loads.index(min(loads))
        enough = IMBALANCE * sum(loads) / self.nodes
        for node in sorted(range(self.nodes), key=lambda each: -loads[each]):
            if loads[node] <= enough:
                return None
            apart = loads[node] - loads[idlest]
            own = [each for each, at in self._node.items() if at == node]
            # After the move the loads of the two nodes differ by |apart - 2 * load|.
            best = min(own, key=lambda each: (abs(apart - 2 * load.get(each, 0.0)), each))
            if 0 < load.get(best, 0.0) < apart:
                self._node[best] = idlest
                return Move(best, node, idlest)
        return None
