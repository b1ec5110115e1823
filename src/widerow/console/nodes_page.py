"""The servers of a shared store, as the one that is asked sees them (docs/operating/cluster.md)."""

from widerow.console.parts import PageDocument, Visit

__all__ = ["show_nodes"]


def show_nodes(visit: Visit) -> PageDocument:
    """The nodes, and whether the database underneath divides its data by keys."""
    parts = visit.parts
    document = parts.on_loop(parts.engine.describe_nodes)
    return {
        **document,
        "endpoint": parts.endpoint(),
        "divides": parts.engine.store.placement is not None,
        "changes_pending": parts.engine.partitions.following.pending,
    }
