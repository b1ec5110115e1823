"""Logs changes of partitions and of ranges, and reports about them."""

import logging
from typing import Final

from widerow.engine.partitions.balance import Event, Partitions
from widerow.engine.partitions.document import key_hash
from widerow.engine.partitions.following import RangeEvent
from widerow.engine.partitions.range_rules import ChangeKind
from widerow.engine.partitions.rules import REMEDIES, Merge, Report

__all__ = ["log_events"]

_log = logging.getLogger("widerow.partitions")


_DONE: Final = {ChangeKind.SPLIT: "range split", ChangeKind.MERGE: "ranges merged"}
_FAILED: Final = {
    ChangeKind.SPLIT: "the database does not split a range",
    ChangeKind.MERGE: "the database does not merge ranges",
}


def log_events(partitions: Partitions) -> None:
    """Log the events of partitions, with their reasons, and remove them from the queue."""
    while partitions.events:
        _tell(partitions.events.popleft())
    while partitions.following.events:
        event = partitions.following.events.popleft()
        _tell_range(event, partitions.table_name(event.table))


def _tell_range(event: RangeEvent, table: str) -> None:
    facts: dict[str, object] = {"table": table, "key": key_hash(event.change.key)}
    if not event.failure:
        _log.info(_DONE[event.change.kind], extra={"facts": facts})
        return
    facts |= {"because": event.failure, "remedy": "none is needed: it is tried again"}
    _log.warning(_FAILED[event.change.kind], extra={"facts": facts})


def _tell(event: Event) -> None:
    table, decision = event
    facts: dict[str, object] = {
        "table": table.qualified,
        "partitions": len(table.splits) + 1,
        "reason": decision.reason.value,
        "because": decision.words,
    }
    if isinstance(decision, Report):
        facts |= {"key": key_hash(decision.key), "remedy": REMEDIES[decision.reason]}
        _log.warning("no split helps a partition", extra={"facts": facts})
        return
    words = "partitions merged" if isinstance(decision, Merge) else "partition split"
    _log.info(words, extra={"facts": facts})
