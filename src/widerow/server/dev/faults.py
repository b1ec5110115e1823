"""Faults on demand: which requests fail, and how.

A fault has a selection of requests (action, instance, table), the number of them that it strikes
(`skip`, `count`, `probability` with its `seed`), and what happens to a struck one: an error with a
documented code, a connection that is cut off, a delay, or errors for some rows of a batch. `when`
says whether the request is carried out first: a client that is told `OTSTimeout` after its write
was made cannot know that it was.

The same faults and the same requests in the same order strike the same requests.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from random import Random  # noqa: TID251  # seeded: what is struck must repeat
from typing import Any, Final, NamedTuple

from widerow.errors import Injected
from widerow.limits import FAULTS_MAX
from widerow.server.dev import fields as f
from widerow.server.dev.fields import BodyField, FieldRefused, read_fields
from widerow.wire.dialect import FaultParts

__all__ = ["Arrived", "FaultBook", "RequestFault", "Strike", "fault_fields", "read_fault"]

BEFORE: Final = "before"
AFTER: Final = "after"
_MESSAGE_NEEDS_CODE: Final = "needs an error code in `error`"


@dataclass(frozen=True, slots=True)
class RequestFault:
    """One fault as it was asked for.

    None means any request in its selection, and nothing elsewhere.

    `rows`: the share of a batch's rows that fail, or the numbers of those rows.
    """

    error: str | None = None
    message: str | None = None
    drop: bool = False
    latency_ms: int = 0
    when: str = BEFORE
    rows: float | frozenset[int] | None = None
    action: str | None = None
    instance: str | None = None
    table: str | None = None
    probability: float = 1.0
    seed: int = 0
    skip: int = 0
    count: int | None = None


class Arrived(NamedTuple):
    """What faults see of a request. `rows`: for each row of a batch, its table."""

    action: str
    instance: str
    tables: frozenset[str]
    rows: tuple[str, ...]


class Strike(NamedTuple):
    """What happens to a struck request. `rows`: which rows of a batch fail; None: all of it."""

    error: Injected | None
    drop: bool
    delay_seconds: float
    after: bool
    rows: tuple[bool, ...] | None


def fault_fields(codes: Iterable[str], actions: Iterable[str]) -> dict[str, BodyField]:
    """The fields of a fault in a dialect of these codes and actions."""
    return {
        "error": f.choice(codes),
        "message": f.NAME,
        "drop": f.FLAG,
        "latency_ms": f.DELAY_MS,
        "when": f.choice((BEFORE, AFTER)),
        "rows": f.PART,
        "action": f.choice(actions),
        "instance": f.NAME,
        "table": f.NAME,
        "probability": f.SHARE,
        "seed": f.SEED,
        "skip": f.SKIP,
        "count": f.COUNT,
    }


def read_fault(
    document: Mapping[str, Any], fields: Mapping[str, BodyField], parts: FaultParts
) -> RequestFault:
    """The fault of a document. Raises `FieldRefused` for an unreasonable one."""
    fault = RequestFault(**read_fields(document, fields))
    if fault.error is None and not fault.drop and not fault.latency_ms:
        raise FieldRefused("error", "or drop or latency_ms must say what is to happen")
    if fault.error is not None and fault.drop:
        raise FieldRefused("drop", "must be false where there is an error: nobody is told it")
    if fault.message is not None and fault.error is None:
        raise FieldRefused("message", _MESSAGE_NEEDS_CODE)
    if fault.rows is not None:
        if fault.error is None:
            raise FieldRefused("rows", _MESSAGE_NEEDS_CODE)
        if fault.action is not None and fault.action not in parts.batches:
            raise FieldRefused("action", f"must be one of {', '.join(sorted(parts.batches))}")
    return fault


class _Entry:
    """A fault in the book, with its counts."""

    def __init__(self, number: int, fault: RequestFault, text: tuple[int, str]) -> None:
        self.number = number
        self.fault = fault
        self.seen = 0
        self.struck = 0
        status, words = text
        self.error = (
            None
            if fault.error is None
            else Injected(status, fault.error, fault.message or words, number)
        )
        self._random = Random(fault.seed)  # noqa: S311  # repeatable, no secret

    @property
    def spent(self) -> bool:
        return self.fault.count is not None and self.struck >= self.fault.count

    def strike(self, arrived: Arrived) -> Strike | None:
        """What the fault does to a request, or None."""
        fault = self.fault
        if self.spent or not self._is_for(arrived):
            return None
        self.seen += 1
        if self.seen <= fault.skip or self._random.random() >= fault.probability:
            return None
        rows = None
        if fault.rows is not None:
            rows = self._rows(arrived, fault.rows)
            if not any(rows):
                return None
        self.struck += 1
        return Strike(self.error, fault.drop, fault.latency_ms / 1000, fault.when == AFTER, rows)

    def _is_for(self, arrived: Arrived) -> bool:
        fault = self.fault
        return (
            (fault.action is None or fault.action == arrived.action)
            and (fault.instance is None or fault.instance == arrived.instance)
            and (fault.table is None or fault.table in arrived.tables)
            and (fault.rows is None or bool(arrived.rows))
        )

    def _rows(self, arrived: Arrived, part: float | frozenset[int]) -> tuple[bool, ...]:
        """Which rows of a batch fail; a fault of one table strikes only that table's rows."""
        drawn = [
            number in part if isinstance(part, frozenset) else self._random.random() < part
            for number in range(len(arrived.rows))
        ]
        table = self.fault.table
        return tuple(
            fails and table in {None, of} for fails, of in zip(drawn, arrived.rows, strict=True)
        )

    def document(self) -> dict[str, Any]:
        rows = self.fault.rows
        shown = asdict(self.fault) | {"rows": sorted(rows) if isinstance(rows, frozenset) else rows}
        return {"id": self.number, **shown, "seen": self.seen, "struck": self.struck}


class FaultBook:
    """The faults of a server, in the order in which they were added. Any thread may call."""

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._number = 0
        self._struck = 0  # requests struck by removed faults
        self._lock = threading.Lock()
        self.active = False
        """Whether any fault may strike; a request looks at no more where none may."""

    def add(self, fault: RequestFault, parts: FaultParts) -> dict[str, Any]:
        """Add a fault; its document. Raises `FieldRefused` where there are too many."""
        with self._lock:
            if len(self._entries) >= FAULTS_MAX:
                raise FieldRefused("body", f"is one fault too many: {FAULTS_MAX} may be there")
            self._number += 1
            text = (200, "") if fault.error is None else parts.codes[fault.error]
            entry = self._entries[self._number] = _Entry(self._number, fault, text)
            self.active = True
            return entry.document()

    def remove(self, number: int) -> bool:
        """Remove a fault; whether it was there."""
        with self._lock:
            entry = self._entries.pop(number, None)
            if entry is not None:
                self._struck += entry.struck
            self._look()
            return entry is not None

    def clear(self) -> int:
        """Remove every fault; the number of removed ones."""
        with self._lock:
            removed = len(self._entries)
            self._struck += sum(entry.struck for entry in self._entries.values())
            self._entries.clear()
            self._look()
            return removed

    def documents(self) -> list[dict[str, Any]]:
        """The document of every fault, with counts of matching and of struck requests."""
        with self._lock:
            return [entry.document() for entry in self._entries.values()]

    def struck(self) -> int:
        """The number of struck requests, removed faults included."""
        with self._lock:
            return self._struck + sum(entry.struck for entry in self._entries.values())

    def strike(self, arrived: Arrived) -> Strike | None:
        """What the first fault that strikes a request does to it, or None."""
        with self._lock:
            for entry in self._entries.values():
                found = entry.strike(arrived)
                if found is not None:
                    self._look()
                    return found
        return None

    def _look(self) -> None:
        self.active = any(not entry.spent for entry in self._entries.values())
