"""The server's own rules for partitions, in a replay."""

from collections.abc import Callable, Sequence
from typing import Final

from widerow.engine.partitions.rules import (
    REMEDIES,
    Merge,
    Reason,
    Report,
    Split,
    Thresholds,
    decide,
)
from widerow.engine.partitions.rules import Decision as Decided
from widerow.engine.partitions.table_load import TableLoad
from widerow.keydesign.replay import KeyLoad, ReplayDecision

__all__ = ["ServerRules"]

_KINDS: Final = {Split: "split", Merge: "merge", Report: "report"}


class ServerRules:
    """One table's partitions, split and merged as a server would do under this load.

    Load that no split can divide is reported once for each reason and partition.
    """

    def __init__(self, thresholds: Thresholds, name: Callable[[bytes], str] = bytes.hex) -> None:
        """A table of one partition; `name` gives a key's text for people."""
        self._thresholds = thresholds
        self._name = name
        self._load = TableLoad((), 0.0, thresholds)
        self._reported: set[tuple[Reason, bytes]] = set()

    @property
    def bounds(self) -> Sequence[bytes]:
        """The lower bounds of the second and later partitions."""
        return self._load.bounds

    def note(self, load: KeyLoad) -> None:
        """Count some load."""
        self._load.note(load.key, load.read_units, load.write_units, load.rows, load.size)

    def decide(self, second: float) -> Sequence[ReplayDecision]:
        """Let this second pass, and make the changes that the rules decide."""
        if not self._load.tick(second):
            return ()
        decided = decide(self._load.facts(), self._thresholds)
        for each in decided:
            self._load.apply(each)
        return [
            ReplayDecision(_KINDS[type(each)], self._words(each))
            for each in decided
            if self._new(each)
        ]

    def _new(self, decided: Decided) -> bool:
        """Whether the decision is reported: each report only once."""
        if not isinstance(decided, Report):
            return True
        about = (decided.reason, decided.start)
        known = about in self._reported
        self._reported.add(about)
        return not known

    def _words(self, decided: Decided) -> str:
        """The reason, the key, the figures, and what an application can do."""
        key = decided.at if isinstance(decided, Split) else _key(decided)
        words = f"{decided.reason.value} at {self._name(key)}: {decided.words}"
        remedy = REMEDIES.get(decided.reason)
        return f"{words}; {remedy}" if remedy else words


def _key(decided: Merge | Report) -> bytes:
    return decided.key if isinstance(decided, Report) else decided.start
