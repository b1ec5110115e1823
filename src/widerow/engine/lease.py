"""Who looks after a store that several processes share: one of them at a time.

Statistics, splits and merges of partitions, and giving space back are the work of whoever holds the
lease. It is a record (docs/formats/catalog.md, "The lease") that is changed by check-and-set only:
whoever finds none, or one that ran out, takes it; the holder renews it in time, and gives it back
when it stops. A holder that is known to be silent (`nodes/nodes.py`) is not waited for. Clocks of
machines differ, so for moments two may believe that they hold it: whatever is done under it may be
repeated and is itself checked in its transaction. The lease saves work, and nothing depends on it.

A store of one process has no lease: that process looks after it.
"""

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from widerow.clock import Clock
from widerow.engine.plan import Plan, failing
from widerow.engine.stored_json import decode_json
from widerow.keys.layout import LEASE_KEY
from widerow.limits import LEASE_SECONDS
from widerow.storage.interface import Store, Transaction, Write

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Lease", "LeaseRecord", "LeaseTerm", "decode_lease", "encode_lease"]

_FORMAT: Final = 1
_LEASE_US: Final = LEASE_SECONDS * 1_000_000


class LeaseRecord(NamedTuple):
    """Who holds the lease, and until when in microseconds since 1970."""

    owner: str
    until_us: int


class LeaseTerm(NamedTuple):
    """Since when a process has held the lease without a gap, and until when it holds it now.

    In microseconds since 1970 by its clock.
    """

    since_us: int
    until_us: int


def encode_lease(lease: LeaseRecord) -> bytes:
    """The record of a lease."""
    return json.dumps(
        {"format": _FORMAT, "owner": lease.owner, "until_us": lease.until_us}
    ).encode()


def decode_lease(record: bytes) -> LeaseRecord:
    """The lease of a record. Raises `StoreDamaged`."""

    def read(found: dict[str, Any]) -> LeaseRecord:
        return LeaseRecord(str(found["owner"]), int(found["until_us"]))

    return decode_json(record, "the record of the lease", read, form=_FORMAT)


class Lease:
    """What this process knows of the lease.

    One caller at a time plans; any thread may ask `held`.

    `terms`: how often this process took the lease over from another or from nobody.
    """

    def __init__(self, store: Store, clock: Clock, owner: str) -> None:
        """A lease that is not held yet; for a store of one process, held for good.

        `owner`: names this process and no other. `is_silent` may be set: whether the process of
        that name is known to do nothing any more.
        """
        self.terms = 0
        self.is_silent: Callable[[str], bool] = _never
        self._needed = store.capabilities.shared
        self._clock = clock
        self._owner = owner
        self._known = LeaseRecord("", 0)  # as it was last read
        self._since_us = 0  # when the present term began

    def held(self) -> bool:
        """Whether this process looks after the store now."""
        if not self._needed:
            return True
        owner, until_us = self._known
        return owner == self._owner and self._clock.now_us() < until_us

    def term(self) -> LeaseTerm | None:
        """The present term of this process; None: it holds no lease, or needs none."""
        since_us, (_, until_us) = self._since_us, self._known
        return LeaseTerm(since_us, until_us) if self._needed and self.held() else None

    def plan(self) -> Plan[None] | None:
        """What is to be committed to take or keep the lease; None while there is nothing to do.

        None while this process holds it and less than half of its time is over, or another holds
        it.
        """
        if not self._needed:
            return None
        owner, until_us = self._known
        left_us = until_us - self._clock.now_us()
        own = owner == self._owner
        if left_us > (_LEASE_US // 2 if own else 0) and (own or not self.is_silent(owner)):
            return None
        write = Write((LEASE_KEY,), self._take, settled=self._learn)
        return Plan((write,), failing)

    def release(self) -> Plan[None] | None:
        """A plan that gives the lease back, so that others need not wait; None: it is not held."""
        if not self._needed or not self.held():
            return None
        self._known = LeaseRecord("", 0)
        return Plan((Write((LEASE_KEY,), self._give_back),), failing)

    def _give_back(self, txn: Transaction) -> None:
        record = txn.get(LEASE_KEY)
        if record is not None and decode_lease(record).owner == self._owner:
            txn.delete(LEASE_KEY)

    def _take(self, txn: Transaction) -> LeaseRecord:
        """Take the lease if it is free or held by this process. Answers the lease as it is then."""
        record, now_us = txn.get(LEASE_KEY), self._clock.now_us()
        if record is not None:
            found = decode_lease(record)
            # A lease longer than any was written by a clock that was set back since.
            lasts = now_us < found.until_us <= now_us + 2 * _LEASE_US
            if found.owner != self._owner and lasts and not self.is_silent(found.owner):
                return found
        taken = LeaseRecord(self._owner, now_us + _LEASE_US)
        txn.put(LEASE_KEY, encode_lease(taken))
        return taken

    def _learn(self, found: LeaseRecord) -> None:
        if found.owner == self._owner and not self.held():
            self.terms += 1
            self._since_us = self._clock.now_us()
        self._known = found


def _never(_: str) -> bool:
    return False
