"""The page of a shared store's servers, as this server sees them (docs/operating/cluster.md)."""

from collections import Counter
from functools import partial
from typing import Any

from widerow.console.parts import PageDocument, Visit
from widerow.console.places import all_tables, sizes_of
from widerow.errors import StorageFailure, StoreBusy

__all__ = ["show_nodes"]


def show_nodes(visit: Visit) -> PageDocument:
    """The nodes with load, lags and the lease, and on which servers of the database ranges are.

    Costs one or two round trips where the database divides its data by keys, else none.
    """
    parts = visit.parts
    document = parts.on_loop(partial(parts.engine.describe_nodes, visit.opens))
    if not document["shared"]:
        return {**document, "endpoint": parts.endpoint()}
    sizes = sizes_of(visit, all_tables(visit))
    nodes = [_node(each, document["asked"]) for each in document["nodes"]]
    return {
        **document,
        "nodes": nodes,
        "groups": _groups(document["servers"], {each["id"]: each for each in nodes}),
        "endpoint": parts.endpoint(),
        "partitions": sum(each["partitions"] for each in sizes.values()),
        "divides": parts.engine.store.placement is not None,
        "ranges": _ranges(visit),
        "changes_pending": parts.engine.partitions.following.pending,
    }


def _node(node: dict[str, Any], asked: str) -> dict[str, Any]:
    """A node, with the skew of its clock: the middle of the bounds, and half their distance."""
    skew = node["skew"]
    return {
        **node,
        "asked": node["id"] == asked,
        "ahead_seconds": None if skew is None else round(sum(skew) / 2, 2),
        "ahead_within": None if skew is None else round((skew[1] - skew[0]) / 2, 2),
    }


def _groups(servers: list[PageDocument], nodes: dict[str, PageDocument]) -> list[PageDocument]:
    """The servers with their nodes; `whole`: whether a server is more than its one node."""
    return [
        {
            **server,
            "members": (members := [nodes[each] for each in server["nodes"]]),
            "whole": members[0]["worker"] is not None,
        }
        for server in servers
    ]


def _ranges(visit: Visit) -> list[PageDocument] | None:
    """How many ranges each server of the database has; None where the database does not tell."""
    placement = visit.parts.engine.store.placement
    if placement is None:
        return []
    try:
        count = Counter(each.server for each in placement.ranges())
    except (StorageFailure, StoreBusy):
        return None
    return [{"server": server, "ranges": count[server]} for server in sorted(count)]
