"""Makes a store of a backup of records, in a store of any kind (docs/operating/backup.md).

The record of the store's format says until the end that a restore is under way, of which backup,
and how many parts are there: no server opens the store, and what was broken off is gone on with.

1. The catalogue is written. Indexes whose entries are not in the backup are still to be built.
2. Parts are written, each shard by transactions of that shard. Writing one again changes nothing.
3. The engine finishes what follows rows (`restored_store.py`): it builds indexes and works off
   every intent.
4. The whole store is checked, as by `widerow doctor`, and only then opened for servers.
"""

import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeVar

from widerow.backups.making import CATALOGUE_SHARD, ToldRecords
from widerow.backups.parts import ShardPiece, read_part
from widerow.backups.restored_store import RestoredStore
from widerow.clock import Clock, Entropy
from widerow.engine.catalog.catalog import STORE_FORMAT, UNRESTORED
from widerow.engine.catalog.draft import load_state
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.check import Finding, check_store
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine, catalog_models
from widerow.engine.shard_ranges import shard_ranges
from widerow.engine.table_models import TABLE_MODELS
from widerow.errors import OutcomeUnknown, StoreBusy, StoreDamaged
from widerow.keys.layout import CATALOG_SPACES, SPACE_STORE, STORE_FORMAT_KEY
from widerow.storage.backup import Backup, BackupFailed, RecordsFacts, opened_part
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["restore_records"]

T = TypeVar("T")

GROUP_BYTES: Final = 4 * 1024 * 1024  # of records that are committed together
GROUP_WRITES_MAX: Final = 1000
BUSY_SECONDS_MAX: Final = 120.0  # for which a database may be away
BUSY_PAUSE_SECONDS: Final = 0.5
_END: Final = b"\xff" * 8  # above every key
_CATALOG_SHARDS: Final = (SPACE_STORE, *CATALOG_SPACES)
_NUMBER_BYTES: Final = 4
_RUN_BYTES: Final = 8
_TAKEN: Final = (
    "another process has begun to use the store, or to restore into it; stop one of them"
)


def restore_records(
    store: Store,
    source: Path,
    backup: Backup,
    clock: Clock,
    entropy: Entropy,
    told: ToldRecords = lambda *_: None,
) -> list[Finding]:
    """Restore the backup in `source` into an empty store, or go on where that was broken off.

    What is wrong with the restored store; servers may open it if that is nothing. `told` is called
    with the records that were written.

    Raises: `BackupFailed` for a store with something else in it, a backup that is damaged, or one
    with keys that the store does not hold; `StorageFailure`.
    """
    facts = backup.facts
    assert facts is not None, "the backup is one of records"
    _check_keys(store, source, facts)
    restore = _Restore(store, source, backup, facts)
    restore.begin(entropy.token_bytes(_RUN_BYTES).hex())
    restore.write(told)
    finished = RestoredStore(store)
    _finish_engine_work(finished, clock, entropy)
    findings = check_store(finished)
    if not findings:
        restore.end()
    return findings


def _check_keys(store: Store, source: Path, facts: RecordsFacts) -> None:
    bound = store.capabilities.key_bytes_max
    if facts.longest_key > bound:
        raise BackupFailed(
            f"{source} has a key of {facts.longest_key} bytes, this kind of store holds keys of "
            f"{bound}; restore it into another one"
        )


class _Restore:
    """One run of a restore: what is written into the store, and how far that has come."""

    def __init__(self, store: Store, source: Path, backup: Backup, facts: RecordsFacts) -> None:
        self._store = store
        self._source = source
        self._backup = backup
        self._facts = facts
        self._done = 0  # parts that are written, of the catalogue first
        self._run = ""
        self._record: bytes | None = None  # of the store's format, as this run left it

    def begin(self, run: str) -> None:
        """Take an empty store, or one into which this backup was being restored.

        `run` names this run: one that it takes over from writes no more.
        """
        snapshot = self._store.snapshot()
        found = self._record = snapshot.get(STORE_FORMAT_KEY)
        self._run = run
        if found is None and next(snapshot.scan(b"", _END), None) is None:
            self._note()
            return
        if found is None or not found.startswith(UNRESTORED):
            raise BackupFailed("the store is not empty; restore into an empty one")
        try:
            state = json.loads(found.removeprefix(UNRESTORED))
            digest, self._done = state["backup"], int(state["done"])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamaged("the record of an unfinished restore is not readable") from error
        if not hmac.compare_digest(str(digest), self._backup.digest):
            raise BackupFailed("another backup was being restored into the store; empty it first")
        self._note()

    def write(self, told: ToldRecords) -> None:
        """Write the catalogue and every part that is not written yet."""
        *parts, last = self._backup.files
        if not self._done:
            with opened_part(self._source, last) as file:
                for piece in read_part(file, last.name):
                    self._put_catalogue(piece)
            if not self._facts.one_moment:
                self._unbuild()
            self._done = 1
            self._note()
        wanted = self._wanted()
        for at, part in enumerate(parts):
            if at + 1 < self._done:
                continue
            with opened_part(self._source, part) as file:
                pieces = self._counted(read_part(file, part.name), wanted, at)
                for group in _groups(pieces):
                    if self._store.snapshot().get(STORE_FORMAT_KEY) != self._record:
                        raise BackupFailed(_TAKEN)
                    self._commit([_write_of(each) for each in group])
                    records = [pair for each in group for pair in each.records]
                    told(len(records), _size(records))
            self._done = at + 2
            self._note()

    def end(self) -> None:
        """Let servers open the store."""
        self._change_format(STORE_FORMAT)

    # --- what is written ---------------------------------------------------------------------

    def _put_catalogue(self, piece: ShardPiece) -> None:
        spaces = {each[:1] for each, _ in piece.records}
        if piece.shard != CATALOGUE_SHARD or not spaces <= set(_CATALOG_SHARDS):
            raise BackupFailed("the last part of the backup is not its catalogue; use another one")
        self._commit([Write(_CATALOG_SHARDS, partial(_put, piece.records))])

    def _unbuild(self) -> None:
        """Let the indexes be built whose entries are not of the moments of their rows."""
        records = []
        for model, table in self._tables():
            record = model.record_of(model.unbuilt(table))
            if record != model.record_of(table):
                records.append(record)
        if records:
            self._commit([Write(_CATALOG_SHARDS, partial(_put, records))])

    def _tables(self) -> Iterator[tuple[CatalogModel[Any], Any]]:
        met: dict[type[Any], CatalogModel[Any]] = {}
        state = load_state(self._store.snapshot(), catalog_models(TABLE_MODELS), met)
        return ((met[type(table)], table) for table in state.by_id.values())

    def _wanted(self) -> dict[tuple[int, bytes], int]:
        """Spaces and numbers whose records count, with the place of the part from which on."""
        since = self._facts.since
        return {
            (space[0], found.number.to_bytes(_NUMBER_BYTES, "big")): since.get(found.number, 0)
            for model, table in self._tables()
            for found in shard_ranges(model, table)
            for space in found.spaces
            if self._facts.one_moment or not found.is_derived
        }

    def _counted(
        self, pieces: Iterable[ShardPiece], wanted: dict[tuple[int, bytes], int], at: int
    ) -> Iterator[ShardPiece]:
        """The pieces with those records alone that count in the part at a place."""
        for shard, records in pieces:
            number, beyond = shard[:_NUMBER_BYTES], len(self._backup.files)
            kept = [pair for pair in records if wanted.get((pair[0][0], number), beyond) <= at]
            if kept:
                yield ShardPiece(shard, kept)

    def _note(self) -> None:
        state = {"backup": self._backup.digest, "done": self._done, "run": self._run}
        self._change_format(UNRESTORED + json.dumps(state).encode())

    def _change_format(self, record: bytes) -> None:
        """Replace the record of the format. Raises `BackupFailed` where others changed it."""
        self._commit([Write((SPACE_STORE,), partial(_change_format, self._record, record))])
        self._record = record

    def _commit(self, writes: Sequence[Write[None]]) -> None:
        """Make writes that may be made twice; waits for a database that is away."""
        until = monotonic() + BUSY_SECONDS_MAX
        left = list(writes)
        while left:
            try:
                outcomes = self._store.transact_group(left)
            except (StoreBusy, OutcomeUnknown) as error:
                outcomes = [Outcome(None, error)] * len(left)
            ends = list(zip(left, outcomes, strict=True))
            left = [write for write, outcome in ends if outcome.error is not None]
            for outcome in outcomes:
                passes = isinstance(outcome.error, StoreBusy | OutcomeUnknown)
                if outcome.error is not None and not (passes and monotonic() < until):
                    raise outcome.error
            if left:
                sleep(BUSY_PAUSE_SECONDS)


def _groups(pieces: Iterable[ShardPiece]) -> Iterator[list[ShardPiece]]:
    """Pieces in groups of about `GROUP_BYTES`."""
    group: list[ShardPiece] = []
    size = 0
    for piece in pieces:
        group.append(piece)
        size += _size(piece.records)
        if size >= GROUP_BYTES or len(group) >= GROUP_WRITES_MAX:
            yield group
            group, size = [], 0
    if group:
        yield group


def _write_of(piece: ShardPiece) -> Write[None]:
    end = 1 + len(piece.shard)
    return Write(tuple({key[:end] for key, _ in piece.records}), partial(_put, piece.records))


def _put(records: Sequence[tuple[bytes, bytes]], txn: Transaction) -> None:
    for key, value in records:
        txn.put(key, value)


def _change_format(before: bytes | None, record: bytes, txn: Transaction) -> None:
    if txn.get(STORE_FORMAT_KEY) not in {before, record}:  # a commit may be made twice
        raise BackupFailed(_TAKEN)
    txn.put(STORE_FORMAT_KEY, record)


def _size(records: Iterable[tuple[bytes, bytes]]) -> int:
    return sum([len(key) + len(value) for key, value in records])


def _finish_engine_work(store: Store, clock: Clock, entropy: Entropy) -> None:
    """Build indexes, and move what was left for entries and logs, until nothing of it is left."""
    engine = Engine(store, clock, entropy, TABLE_MODELS)
    steps = [
        step
        for model in engine.open_models()
        for line in ChoreLine
        for step in model.chores.get(line, ())
    ]
    idle = 0
    while idle < len(steps):
        plan = steps[0]()
        steps = [*steps[1:], steps[0]]
        if plan is None:
            idle += 1
            continue
        idle = 0
        engine.run(plan)
