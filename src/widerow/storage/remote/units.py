"""The writes of a group as a database across a network commits them.

A *unit* is what is committed or run again as a whole: the writes of one shard, which run one after
another on each other's results, or of several shards where writes of one chain are in them. A *run*
is a number of writes in which no two prefixes of different shards overlap, which read nothing alone
that one before them in the run may write, and of which those of one chain have one home, so that
they can be committed together (`driver.py`). So units of one run know nothing of each other, and
a group is one run after the other, in nearly every case a single one.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

from widerow.errors import StoreBusy
from widerow.keys.layout import revision_key, revisions_beside
from widerow.safepoint import safepoint
from widerow.storage.interface import Outcome, Reader, Write
from widerow.storage.pending import PendingTransaction, WriteSet
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.readers import Missing, WantedReads
from widerow.storage.remote.shard_cache import CacheReader

__all__ = ["Placed", "Unit", "placed_writes", "runs_of", "units_of"]

_NO_OUTCOME: Outcome[Any] = Outcome(None, None)


@final
class Placed:
    """A write of a group: its place there, and the key of the revision of its shard.

    `home`: that of its shard, where the write belongs to a chain.
    """

    __slots__ = ("home", "place", "revision", "write")

    def __init__(self, place: int, write: Write[Any], revision: bytes, home: bytes) -> None:
        """The write at `place`."""
        self.home = home
        self.place = place
        self.write = write
        self.revision = revision


def placed_writes(
    writes: Sequence[Write[Any]],
    outcomes: list[Outcome[Any] | None],
    home_of: Callable[[bytes], bytes],
) -> Iterator[Placed]:
    """The writes of exactly one shard each; the others are refused, in `outcomes`."""
    for place, write in enumerate(writes):
        revisions = {revision_key(shard) for shard in write.shards}
        if len(revisions) > 1:
            told = ", ".join(shard.hex() for shard in write.shards)
            outcomes[place] = Outcome(
                None, ValueError(f"this store commits one shard at a time; the write names {told}")
            )
            continue
        revision = revisions.pop() if revisions else b""
        home = home_of(revision) if revision and write.chain is not None else b""
        yield Placed(place, write, revision, home)


@final
class _Prefixes:
    """The prefixes of a run, each with its shard."""

    __slots__ = ("_by_prefix", "_lengths", "_ordered")

    def __init__(self) -> None:
        self._by_prefix: dict[bytes, bytes] = {}
        self._ordered: list[bytes] = []
        self._lengths: set[int] = set()

    def hold(self, key: bytes) -> bool:
        """Whether `key` begins with one of the prefixes."""
        return any(key[:length] in self._by_prefix for length in self._lengths)

    def overlap(self, prefix: bytes, revision: bytes) -> bool:
        """Whether keys with this prefix may be of another shard than that of `revision`."""
        if self._by_prefix.get(prefix) == revision:
            return False
        for length in self._lengths:
            if self._by_prefix.get(prefix[:length], revision) != revision:
                return True
        at = bisect_left(self._ordered, prefix)
        while at < len(self._ordered) and self._ordered[at].startswith(prefix):
            if self._by_prefix[self._ordered[at]] != revision:
                return True
            at += 1
        return False

    def add(self, prefix: bytes, revision: bytes) -> None:
        """Add a prefix, and the shard that it is of."""
        if prefix not in self._by_prefix:
            self._by_prefix[prefix] = revision
            self._lengths.add(len(prefix))
            insort(self._ordered, prefix)


def runs_of(placed: Sequence[Placed]) -> Iterator[list[Placed]]:
    """The writes in their order, cut into runs."""
    run: list[Placed] = []
    prefixes = _Prefixes()
    homes: dict[object, bytes] = {}  # of the chains in the run
    for each in placed:
        write = each.write
        if (
            any(prefixes.hold(key) for key in write.reads)
            or any(prefixes.overlap(shard, each.revision) for shard in write.shards)
            or (each.home and homes.get(write.chain, each.home) != each.home)
        ):
            yield run
            run, prefixes = [], _Prefixes()
            homes = {}
        if each.home:
            homes[write.chain] = each.home
        for shard in write.shards:
            prefixes.add(shard, each.revision)
        run.append(each)
    if run:
        yield run


@final
class Unit:
    """Writes that are committed together. See the module.

    `outcomes`: what their bodies gave when they ran last; `changes`: what these wrote, by shard.
    `wanted`: what they read, which the next attempt reads beforehand; `absent`: keys among it under
    which nothing stood, where the unit has one shard. `busy`: why the database did not take the
    last attempt's change, where it said so. `revisions`: those of the shards at the moment of what
    was read. `is_cached`: the bodies ran on cached values (`shard_cache.py`).
    """

    __slots__ = (
        "_key_bytes_max",
        "absent",
        "busy",
        "changes",
        "is_cached",
        "outcomes",
        "revisions",
        "wanted",
        "writes",
    )

    def __init__(self, key_bytes_max: int) -> None:
        """A unit without writes; `key_bytes_max`: of the store."""
        self._key_bytes_max = key_bytes_max
        self.writes: list[Placed] = []
        self.outcomes: list[Outcome[Any]] = []
        self.changes: dict[bytes, WriteSet] = {}
        self.revisions: dict[bytes, bytes | None] = {}
        self.wanted = WantedReads()
        self.busy: StoreBusy | None = None
        self.absent: list[bytes] = []
        self.is_cached = False

    def add(self, placed: Placed) -> None:
        """One more write, behind the others."""
        self.writes.append(placed)
        if placed.revision:
            self.revisions[placed.revision] = None

    def join(self, other: "Unit") -> None:
        """Take over the writes of another unit, in the order of the group."""
        self.writes = sorted(self.writes + other.writes, key=_place_of)
        self.revisions |= other.revisions

    def alone(self) -> set[bytes]:
        """The keys outside the unit's shards that its bodies may read."""
        return {key for each in self.writes for key in each.write.reads}

    def run(self, reader: Reader) -> bool:
        """Run the bodies in their order; False where one asked for what was not read yet."""
        self.changes = {each.revision: WriteSet() for each in self.writes}
        self.outcomes = []
        whole = True
        for each in self.writes:
            safepoint()
            write = each.write
            written = self.changes[each.revision]
            transaction = PendingTransaction(
                reader, written, write.shards, write.reads, self._key_bytes_max
            )
            try:
                self.outcomes.append(Outcome(write.run(transaction), None))
            except Missing:
                transaction.take_back()
                self.outcomes.append(_NO_OUTCOME)
                whole = False
            except Exception as error:  # noqa: BLE001  # whatever a body raises is its own outcome
                transaction.take_back()
                self.outcomes.append(Outcome(None, error))
            finally:
                transaction.finish()
        return whole

    def run_cached(self, values: Mapping[bytes, bytes | None]) -> bool:
        """Run the bodies on cached values; False where they have to read.

        What they answer is known to be right only where a commit finds the revisions of all shards
        that they may have read.
        """
        self.is_cached = self.run(CacheReader(values, self.wanted)) and all(self.changes.values())
        if self.is_cached:
            self.saw(values)
        return self.is_cached

    def saw(self, values: Mapping[bytes, bytes | None]) -> None:
        """Take from `values` the revisions of the unit's shards, as read with the bodies' keys."""
        self.revisions = {key: values[key] for key in self.revisions}
        self.absent = []
        if len(self.revisions) == 1:  # else a key does not say which shard it is of
            alone = self.alone()
            asked = [key for key in self.wanted.keys if key not in alone]
            self.absent = [key for key in asked if values.get(key, b"") is None]

    @property
    def writes_anything(self) -> bool:
        """Whether there is something to commit."""
        return any(self.changes.values())

    def shard_changes(self, tokens: Mapping[bytes, bytes]) -> Iterator[ShardChange]:
        """What is to be committed; `tokens`: the new revisions."""
        for revision, written in self.changes.items():
            if written:
                yield _shard_change(revision, self.revisions[revision], tokens[revision], written)

    def fail(self, error: Exception) -> None:
        """Give every write this error: none was made."""
        self.outcomes = [Outcome(None, error)] * len(self.writes)

    def refuse(self, error: StoreBusy) -> None:
        """Give every write this error: the database takes no changes now."""
        self.busy = error
        self.fail(error)

    def doubt(self, error: Exception) -> None:
        """Give this error to every write whose body did not raise: the outcome is unknown."""
        self.outcomes = [
            outcome if outcome.error is not None else Outcome(None, error)
            for outcome in self.outcomes
        ]


def _place_of(placed: Placed) -> int:
    return placed.place


def _shard_change(
    revision_key: bytes, expected: bytes | None, revision: bytes, written: WriteSet
) -> ShardChange:
    puts: dict[bytes, bytes] = {}
    deletes: list[bytes] = []
    for key, value in written.entries.items():
        if value is None:
            deletes.append(key)
        else:
            puts[key] = value
    ranges = list(zip(written.starts, written.stops, strict=True))
    ranges += [beside for removed in ranges if (beside := revisions_beside(*removed)) is not None]
    return ShardChange(revision_key, expected, revision, puts, deletes, ranges)


def units_of(run: Sequence[Placed], key_bytes_max: int) -> list[Unit]:
    """The units of a run, in the order of their first writes; `key_bytes_max`: of the store."""
    owners: dict[object, Unit] = {}  # by shard and by chain
    units: list[Unit] = []
    for each in run:
        # A write without shards and without a chain has nothing to share with anybody.
        names = [each.revision] if each.revision else []
        chain = each.write.chain
        if chain is not None:
            names.append(chain)  # type: ignore[arg-type]  # names of both kinds
        unit = _joined((names, key_bytes_max), owners, units)
        unit.add(each)
    return units


def _joined(
    asked: tuple[Sequence[object], int], owners: dict[object, Unit], units: list[Unit]
) -> Unit:
    """The unit of all the names in `asked`; several units that share them become one.

    Behind the names: the `key_bytes_max` of a new unit.
    """
    names, key_bytes_max = asked
    found: list[Unit] = []
    for name in names:
        owner = owners.get(name)
        if owner is not None and owner not in found:
            found.append(owner)
    if not found:
        found.append(Unit(key_bytes_max))
        units.append(found[0])
    unit, *others = found
    for other in others:
        unit.join(other)
        units.remove(other)
        owners.update((name, unit) for name, owner in list(owners.items()) if owner is other)
    owners.update(dict.fromkeys(names, unit))
    return unit
