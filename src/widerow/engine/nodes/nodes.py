"""How the servers of one shared store know of each other, and of changes of the catalogue.

Each node writes a record of itself, a beat, about once a second, and looks at the catalogue's epoch
and at the records of the other nodes a few times a second. Three rules rest on that:

**Read lease.** A node uses the catalogue that it has read, without reading the epoch, for
`READ_LEASE_SECONDS` after the look, or after the last beat if that is earlier. Both times are taken
before the look or the beat begins. The first beat comes before the first look, so the node's record
is there when it looks.

**Acknowledgement.** A change of the catalogue is answered when every other node has acknowledged
its epoch, or a later one, by a beat; or when the node's read lease has ended: `READ_LEASE_SECONDS`
after its last beat was first seen here, or after the change was made. A node that begins to beat
later reads the new epoch. No clock of another machine counts for that, only the time that has
passed here (`READ_LEASE_MARGIN_SECONDS` allows for clocks that run unevenly).

So a change is answered when no node uses an earlier catalogue. A dead node delays one change, made
in the moments of its death, and no later one. A request that began before a change was answered may
still see the earlier catalogue, because it is concurrent with the change (`TRANSACTION_SECONDS_MAX`
says how long rows of a dropped table stay: longer than a read lease and a write together). Bodies
of row writes check the read lease again when they run, and read the epoch if it has ended.

**Settled.** A build of an index must not miss a row whose write was planned on the catalogue from
before the index. A process runs one group after another, and a beat is a write of a group. So when
a beat with an epoch is durable, every group has ended whose bodies were planned on an earlier one;
the epoch in a node's record stays behind as long as a commit of such a group may still be made.
Once all records have the epoch, no such write is left, and the build begins. For that, every server
that writes rows has a record: it takes no request before its first beats, and refuses writes when
it could not beat for `READ_LEASE_SECONDS`, long before its record is removed. Where a record does
not change, the build waits for `TRANSACTION_SECONDS_MAX`, after which no write from before the
index is left anyway.

**Clocks.** Looks tell how far clocks are apart (`clocks.py`). A node whose clock differs by more
than `CLOCK_SKEW_SECONDS_MAX` from those of most others refuses to write: it would make leases,
times to live and versions wrong for all. Of two nodes, the later one refuses.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from widerow import __version__
from widerow.clock import Clock
from widerow.engine.catalog.catalog import Catalog
from widerow.engine.catalog.read_lease import ReadLease
from widerow.engine.lease import Lease
from widerow.engine.nodes.clocks import Skew, largest
from widerow.engine.nodes.record import NodeRecord, decode_node, encode_node
from widerow.engine.partitions.shared_notes import LoadNote, SharedNotes, decode_notes
from widerow.engine.partitions.throttle import Taken, Throttle
from widerow.engine.plan import Plan, failing
from widerow.errors import StorageFailure, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    node_key,
    node_notes_key,
    node_notes_prefix,
    nodes_prefix,
)
from widerow.limits import (
    CLOCK_SKEW_SECONDS_MAX,
    NODE_BEAT_SECONDS,
    NODE_BEHIND_MAX,
    NODE_CLOCKS,
    NODE_GONE_SECONDS,
    NODE_NOTES_KEPT,
    READ_LEASE_MARGIN_SECONDS,
    READ_LEASE_SECONDS,
    SILENT_SECONDS,
    TRANSACTION_SECONDS_MAX,
)
from widerow.storage.interface import Reader, Store, Transaction, Write

if TYPE_CHECKING:
    from widerow.engine.nodes.work import NodeWork

__all__ = ["LoadOfAll", "Nodes", "SeenNode", "read_nodes"]

_SECOND_NS: Final = 1_000_000_000
_READ_LEASE_NS: Final = READ_LEASE_SECONDS * _SECOND_NS
_ENDED_NS: Final = round((READ_LEASE_SECONDS + READ_LEASE_MARGIN_SECONDS) * _SECOND_NS)
_BEAT_NS: Final = round(NODE_BEAT_SECONDS * _SECOND_NS)
_SILENT_NS: Final = SILENT_SECONDS * _SECOND_NS
_GONE_NS: Final = NODE_GONE_SECONDS * _SECOND_NS


class SeenNode(NamedTuple):
    """Another node as it was seen last.

    `since_ns`: when this beat was first seen. `skews`: how far its clock was ahead at the last few
    beats, without a beat that was there at the first look: when that was made is unknown. `rate`:
    requests a second between the last two beats.
    """

    record: NodeRecord
    since_ns: int
    skews: tuple[Skew, ...] = ()
    rate: float = 0.0

    @property
    def skew(self) -> Skew | None:
        """How far the node's clock is ahead; None: not known yet."""
        return largest(self.skews)

    def lives(self, now_ns: int) -> bool:
        """Whether the node has beaten within `SILENT_SECONDS`."""
        return now_ns - self.since_ns < _SILENT_NS

    def may_hold_lease(self, now_ns: int) -> bool:
        """Whether the node's read lease may still hold."""
        return now_ns - self.since_ns < _ENDED_NS

    def read_lease_seconds(self, now_ns: int) -> float:
        """For how long the node's read lease may still hold at most."""
        return max(0, _ENDED_NS - now_ns + self.since_ns) / _SECOND_NS


class LoadOfAll(NamedTuple):
    """What the nodes tell each other of their load.

    `notes`: what this one has to tell. `told`: takes in what another one told. `throttle`: shares
    the reserves; None where they are not enforced.
    """

    notes: SharedNotes
    told: Callable[[Sequence[LoadNote]], None]
    throttle: Throttle | None


def read_nodes(reader: Reader) -> list[NodeRecord]:
    """The records of all nodes. Raises `StoreDamaged`. Cost: one page."""
    prefix = nodes_prefix()
    found = reader.scan(prefix, after_prefix(prefix))
    return [decode_node(key[len(prefix) :], record) for key, record in found]


class Nodes:
    """This process as a node of a shared store, and the other nodes. See the module.

    One caller at a time beats and looks; any thread may ask the rest. Before the first beat this
    process is not a node, and without a read lease: each request reads the epoch.
    """

    def __init__(
        self, store: Store, catalog: Catalog, lease: Lease, clock: Clock, node_id: bytes
    ) -> None:
        """A process that is not a node yet.

        May be set before the first beat: `name`, for people; `worker`, its number among those of
        a server; `measure`, what tells at a beat how busy the process is.
        `node_id`: names this process and no other, in hex also for its lease.
        """
        self.name = ""
        self.worker = 0
        self.measure: Callable[[], NodeWork | None] = _unmeasured
        self.requests = 0
        self.load: LoadOfAll | None = None
        self.behind: Callable[[], frozenset[int]] = frozenset  # what a keeper tells of its tables
        self.clock_fault: str | None = None  # what is wrong with this clock, as far as known
        self.read_lease = ReadLease(clock)
        self.is_shared = store.capabilities.shared
        self._store = store
        self._catalog = catalog
        self._lease = lease
        self._clock = clock
        self._id = node_id
        self._started_us = clock.now_us()
        self._number = 0  # of the last beat that was planned
        self._beat_ns: int | None = None  # when the making of the last durable beat began
        self._told = -1  # the epoch in the last durable beat
        self._told_requests = 0
        self.rate = 0.0  # requests a second between the last two beats of this node
        self._looked_ns: int | None = None  # when the last look began
        self._others: dict[bytes, SeenNode] = {}
        self._taken: tuple[Taken, ...] = ()
        self._work: NodeWork | None = None  # as it was last told
        self._heard: dict[bytes, int] = {}  # by node, the number of the last notes read
        self._left: frozenset[bytes] = frozenset()  # the nodes whose records were last seen to go
        self._elders: frozenset[bytes] = frozenset()  # the nodes that were there at the first look
        if self.is_shared:
            catalog.go_by(self.read_lease, self.acknowledgement, self.check_writing)
            lease.is_silent = self.is_silent

    # --- telling -----------------------------------------------------------------------------

    def beat(self) -> Plan[None] | None:
        """A plan that writes this node's record; None: the last is recent and has this epoch."""
        now_ns, epoch = self._clock.monotonic_ns(), self._catalog.state.epoch
        if self._store.may_still_commit:
            epoch = max(self._told, 0)
        fresh = self._beat_ns is not None and now_ns - self._beat_ns < _BEAT_NS
        if not self.is_shared or (fresh and epoch == self._told):
            return None
        self._number += 1  # a number is never used again: a beat that failed may still be made
        notes = None
        if self.load is not None:
            notes = self.load.notes.take()
            if not fresh and self.load.throttle is not None:
                self._taken = self.load.throttle.tell()
        if not fresh:
            self._work = self.measure()
        record = self.own()._replace(epoch=epoch)

        def settled(_: None) -> None:
            if self._beat_ns is not None and now_ns - self._beat_ns >= _BEAT_NS:
                seconds = (now_ns - self._beat_ns) / _SECOND_NS
                self.rate = (record.requests - self._told_requests) / seconds
                self._told_requests = record.requests
            self._beat_ns, self._told = now_ns, epoch

        writes = [Write((node_key(self._id),), partial(_put, record), settled=settled)]
        if notes is not None:
            body = partial(_put_notes, self._id, record.beat, notes)
            writes.append(Write((node_notes_prefix(self._id),), body))
        return Plan(tuple(writes), failing)

    def leave(self) -> Plan[None] | None:
        """A plan that gives this node's lease back and removes its record; None: it has neither.

        The record stays, as after a kill, while a commit of this process may still be made. The
        lease goes first: others take over when they miss the record.
        """
        self.read_lease.end()
        self._beat_ns = None
        given_back = self._lease.release()
        lease = () if given_back is None else given_back.writes
        stays = not self._number or self._store.may_still_commit
        gone = () if stays else _removal(self._id, self._number)
        writes = (*lease, *gone)
        return Plan(writes, failing) if writes else None

    def clear(self) -> Plan[None] | None:
        """A plan that removes the records of dead nodes; for the server that keeps the store."""
        now_ns = self._clock.monotonic_ns()
        gone = [
            write
            for node_id, seen in list(self._others.items())
            if now_ns - seen.since_ns > _GONE_NS
            for write in _removal(node_id, seen.record.beat)
        ]
        return Plan(tuple(gone), failing) if gone else None

    # --- looking -----------------------------------------------------------------------------

    def look(self) -> None:
        """Read the catalogue's epoch and the other nodes' records, and extend the read lease.

        Cost: two round trips, and reading the catalogue where it has changed. Raises
        `StorageFailure`; the lease is then not extended.
        """
        began_ns, began_us = self._clock.monotonic_ns(), self._clock.now_us()
        self._catalog.renew()
        if self._beat_ns is not None:
            left_ns = min(began_ns, self._beat_ns) + _READ_LEASE_NS - began_ns
            self.read_lease.extend(began_ns + left_ns, began_us + left_ns // 1000)
        found = [each for each in read_nodes(self._store.snapshot()) if each.id != self._id]
        seen_ns, seen_us = self._clock.monotonic_ns(), self._clock.now_us()
        before = self._others
        self._others = {each.id: self._seen(each, seen_ns, seen_us) for each in found}
        self._left = frozenset(before.keys() - self._others.keys()) or self._left
        self._hear([each for each in self._others.values() if before.get(each.record.id) != each])
        if self._looked_ns is None:
            self._elders = frozenset(self._others)
        self._looked_ns = began_ns
        self.clock_fault = self._compared()

    def _seen(self, record: NodeRecord, seen_ns: int, seen_us: int) -> SeenNode:
        known = self._others.get(record.id)
        if known is not None and known.record.beat == record.beat:
            return known
        if self._looked_ns is None:
            return SeenNode(record, seen_ns)
        skew = Skew.of(record.now_us, seen_us - (seen_ns - self._looked_ns) // 1000, seen_us)
        if known is None:
            return SeenNode(record, seen_ns, (skew,))
        seconds = (seen_ns - known.since_ns) / _SECOND_NS
        rate = (record.requests - known.record.requests) / seconds if seconds else 0.0
        skews = (*known.skews, skew)[-NODE_CLOCKS:]
        return SeenNode(record, seen_ns, skews, max(0.0, rate))

    def _hear(self, beaten: Sequence[SeenNode]) -> None:
        """Read the load notes of nodes that have beaten since the last look."""
        load = self.load
        if load is None:
            return
        snapshot = self._store.snapshot()
        for record in [each.record for each in beaten]:
            prefix = node_notes_prefix(record.id)
            first = self._heard.get(record.id, record.beat) + 1  # no notes from before this process
            for key, notes in snapshot.scan(node_notes_key(record.id, first), after_prefix(prefix)):
                load.told(decode_notes(notes))
                first = int.from_bytes(key[len(prefix) :], "big") + 1
            self._heard[record.id] = max(first - 1, record.beat)
        self._heard = {each: self._heard[each] for each in self._heard if each in self._others}
        if load.throttle is not None:
            load.throttle.hear([each.record.taken for each in self.others()])

    def others(self) -> list[SeenNode]:
        """The other nodes that are alive, as they were seen at the last look."""
        now_ns = self._clock.monotonic_ns()
        return [each for each in list(self._others.values()) if each.lives(now_ns)]

    def own(self) -> NodeRecord:
        """This node's record as it would be written now, with the number of the last beat."""
        keeps = self._lease.held()
        behind = sorted(self.behind())[:NODE_BEHIND_MAX] if keeps else ()
        return NodeRecord(
            self._id,
            self.name,
            __version__,
            self._started_us,
            self._number,
            self._clock.now_us(),
            self._catalog.state.epoch,
            keeps,
            self.requests,
            self._taken,
            self.worker,
            self._lease.term(),
            self._work,
            tuple(behind),
        )

    def is_silent(self, node: str) -> bool:
        """Whether the node with this id, in hex, has not beaten for `SILENT_SECONDS`, or has left.

        False for a node that was never seen.
        """
        node_id = bytes.fromhex(node)
        seen = self._others.get(node_id)
        if seen is None:
            return node_id in self._left
        return not seen.lives(self._clock.monotonic_ns())

    def told_behind(self) -> frozenset[int]:
        """The tables whose indexes are far behind, as the server tells that keeps the store."""
        told = [each.record.behind for each in self.others() if each.record.keeper]
        return frozenset([number for numbers in told for number in numbers])

    def seen(self) -> list[SeenNode]:
        """Every other node that has a record, alive or not."""
        return list(self._others.values())

    # --- changes of the catalogue ------------------------------------------------------------

    def acknowledgement(self, epoch: int) -> Callable[[], bool]:
        """What tells whether every node has acknowledged the durable `epoch`, or a later one.

        To be asked again until it is true: `READ_LEASE_SECONDS` at most, because then every
        read lease on an earlier epoch has ended. Cost: one page each time.
        """
        return partial(self._is_acknowledged, epoch, self._clock.monotonic_ns())

    def settled(self, changed_us: int) -> bool:
        """Whether no row write planned before a change of the catalogue can commit any more.

        `changed_us`: when the change was made, in microseconds since 1970; this process has read
        the catalogue since. False where that is not known, at most for `TRANSACTION_SECONDS_MAX`.
        Cost: one page, and nothing where transactions reach the catalogue.
        """
        can = self._store.capabilities
        if not can.shared or can.atomic_across_shards:
            return True
        if self._clock.now_us() >= changed_us + TRANSACTION_SECONDS_MAX * 1_000_000:
            return True
        epoch = self._catalog.state.epoch
        try:
            found = read_nodes(self._store.snapshot())
        except StorageFailure:
            return False
        is_node = any(record.id == self._id for record in found)
        return is_node and all(record.epoch >= epoch for record in found)

    def _is_acknowledged(self, epoch: int, since_ns: int) -> bool:
        now_ns = self._clock.monotonic_ns()
        if now_ns - since_ns >= _ENDED_NS:
            return True
        try:
            found = read_nodes(self._store.snapshot())
        except StorageFailure:
            return False
        for record in found:
            if record.id == self._id or record.epoch >= epoch:
                continue
            known = self._others.get(record.id)
            if known is None or known.record.beat != record.beat or known.may_hold_lease(now_ns):
                return False
        return True

    # --- clocks ------------------------------------------------------------------------------

    def joined(self) -> bool:
        """Whether every other living node was seen to beat, so that its clock is known."""
        return all(each.skew is not None for each in self.others())

    def check_writing(self) -> None:
        """Raise `StoreBusy` where this node must not write.

        Its clock was off those of most others at the last look, or it could not beat for so long
        that the others may soon take it for gone.
        """
        if self.clock_fault is not None:
            raise StoreBusy(self.clock_fault)
        beat_ns = self._beat_ns
        if beat_ns is not None and self._clock.monotonic_ns() - beat_ns >= _READ_LEASE_NS:
            raise StoreBusy(
                f"this server could not tell the others of itself for {READ_LEASE_SECONDS} s: "
                "it writes again as soon as it can"
            )

    def _compared(self) -> str | None:
        known = [(each.record, each.skew) for each in self.others() if each.skew is not None]
        bound_us = CLOCK_SKEW_SECONDS_MAX * 1_000_000
        far = [(record, skew) for record, skew in known if skew.least_us > bound_us]
        if 2 * len(far) <= len(known):
            return None
        if len(known) == 1 and known[0][0].id not in self._elders:
            return None  # of two nodes, the one that came later refuses to write
        shown = ", ".join(f"{record.name} ({skew.middle_us / 1e6:+.1f} s)" for record, skew in far)
        return (
            f"the clock of this server is more than {CLOCK_SKEW_SECONDS_MAX} s apart from those of "
            f"{shown}: set it by NTP"
        )


def _unmeasured() -> None:
    """None: nothing is known of this process."""


def _put(record: NodeRecord, txn: Transaction) -> None:
    txn.put(node_key(record.id), encode_node(record))


def _put_notes(node_id: bytes, number: int, notes: bytes, txn: Transaction) -> None:
    txn.put(node_notes_key(node_id, number), notes)
    prefix = node_notes_prefix(node_id)
    for key, _ in list(txn.scan(prefix, node_notes_key(node_id, max(0, number - NODE_NOTES_KEPT)))):
        txn.delete(key)


def _removal(node_id: bytes, beat: int) -> Iterator[Write[None]]:
    """Writes that remove a node's record and notes, unless it has beaten after `beat`."""

    def record(txn: Transaction) -> None:
        found = txn.get(node_key(node_id))
        if found is not None and decode_node(node_id, found).beat <= beat:
            txn.delete(node_key(node_id))

    def notes(txn: Transaction) -> None:
        prefix = node_notes_prefix(node_id)
        for key, _ in list(txn.scan(prefix, after_prefix(prefix))):
            txn.delete(key)

    yield Write((node_key(node_id),), record)
    yield Write((node_notes_prefix(node_id),), notes)
