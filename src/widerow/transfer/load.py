"""Import: the rows of a file into a table, on several connections, spread over its partitions.

    file -> windows of rows -> each window reordered -> batches -> workers -> journal

A file is often in the order of its keys, and rows with neighbouring keys all go to one partition.
So a window is sent in another order than it was read: row i stands at the fractional part of i·φ,
which puts rows next to each other that are far from each other in the file, evenly. The order
follows from the file alone, so a run that goes on after a kill cuts the same batches.

No two of the rows that are sent have the same key (repeats.py), so their order decides nothing.
Where the last row of a key is put aside, the row before it with that key counts, as if every row
had been sent in the order of the file; those few are sent when all else is stored.
"""

import queue
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Any, Final, NamedTuple

from widerow.client.connection import Client, Endpoint
from widerow.client.failures import Refused
from widerow.client.rows import PIECE_BYTES, pieces
from widerow.client.writing import PUT, UPDATE, Change, send
from widerow.limits import BATCH_WRITE_ROWS_MAX
from widerow.row_files.source import FileSource, Record
from widerow.transfer.failures import TransferFailed
from widerow.transfer.journal import Journal, Rejects
from widerow.transfer.layout import Reading, row_of_record
from widerow.transfer.repeats import Repeats, last_rows

__all__ = ["ImportOptions", "ImportProgress", "Loaded", "Loader", "spread"]

# Bytes of the file; rows in memory take several times as much.
_WINDOW_BYTES: Final = 32 * 1024 * 1024
_GOLDEN: Final = 0x9E3779B97F4A7C15  # 2^64/φ
_MASK: Final = (1 << 64) - 1
_WAITING: Final = 4  # batches for each worker that are ready while another window is read
_WAIT_SECONDS: Final = 0.1  # seconds between two checks whether a worker has failed


class ImportProgress(NamedTuple):
    """The progress of a run: bytes of the file that were read, rows stored, rows put aside."""

    behind: int
    rows: int
    rejected: int


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to import. `rate` in rows a second, 0 for no limit; `window` in rows."""

    workers: int = 4
    window: int = 50_000
    rate: float = 0.0
    in_order: bool = False
    max_rejected: int = 1000


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a run. `resumed_rows`: the number of rows that earlier runs have stored.

    `first_rejected`: place and reason of the first row of the file that was put aside.
    `replaced` rows were not sent, as a later row of the file has their key; `repeats` says which.
    """

    rows: int
    resumed_rows: int
    rejected: int
    seconds: float
    repeats: Repeats
    replaced: int
    first_rejected: str

    def document(self) -> dict[str, Any]:
        """The numbers of the result, for JSON."""
        return {
            "rows": self.rows,
            "resumed_rows": self.resumed_rows,
            "rejected": self.rejected,
            "replaced": self.replaced,
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(self.rows / self.seconds) if self.seconds else 0,
        }


class _Sending(NamedTuple):
    """A row to send: the record of the file, and the encoded changes that write it."""

    record: Record
    pieces: list[bytes]


class _Batch(NamedTuple):
    part: tuple[int, int]
    rows: list[_Sending]


def spread(count: int) -> list[int]:
    """The numbers below `count` in an order in which neighbours are far apart. n log n."""
    return sorted(range(count), key=lambda number: number * _GOLDEN & _MASK)


class Loader:
    """One run: reads on the caller's thread, sends on others."""

    def __init__(
        self,
        endpoint: Endpoint,
        table: str,
        how: ImportOptions,
        journal: Journal,
        rejects: Rejects,
        repeats: Repeats,
    ) -> None:
        """`run` sends the rows, without those in `repeats`."""
        self._repeats = repeats
        self._endpoint = endpoint
        self._table = table
        self._how = how
        self._journal = journal
        self._rejects = rejects
        self._lock = Lock()  # guards the journal, the rejects and the counters
        self._stop = Event()
        self._failed: list[BaseException] = []
        # For each window, the number of parts that are not finished.
        self._open: dict[int, int] = {}
        self._behind = 0
        self._given = 0

    def run(
        self, source: FileSource, reading: Reading, told: Callable[[ImportProgress], None]
    ) -> Loaded:
        """Import the file; return when every row is stored or put aside.

        Raises: `TransferFailed`; the journal then says what was finished.
        """
        before, began = self._journal.rows, time.monotonic()
        workers = 1 if self._how.in_order else self._how.workers
        batches: queue.Queue[_Batch | None] = queue.Queue(_WAITING * workers)
        threads = [Thread(target=self._work, args=(batches,)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            for batch in self._batches(source, reading):
                self._pace(batch, began)
                self._give(batches, batch)
                told(self._step())
            for _ in threads:
                self._give(batches, None)
        except BaseException:
            self._stop.set()
            raise
        finally:
            self._join(threads, batches, told)
        if self._failed:
            raise self._failed[0]
        sent = self._send_replaced(source, reading)
        aside = sum(place in self._repeats for place in self._rejects.places)
        return Loaded(
            rows=self._journal.rows - before + sent,
            resumed_rows=before,
            rejected=len(self._rejects.places),
            seconds=time.monotonic() - began,
            repeats=self._repeats,
            replaced=self._repeats.count - sent - aside,
            first_rejected=self._rejects.first,
        )

    def _step(self) -> ImportProgress:
        return ImportProgress(self._behind, self._journal.rows, len(self._rejects.places))

    # --- the caller's thread -------------------------------------------------------------------

    def _batches(self, source: FileSource, reading: Reading) -> Iterator[_Batch]:
        """The batches that are not finished yet, in the order in which they are sent."""
        for window, records in enumerate(self._windows(source)):
            if self._journal.has_window(window):
                continue
            order = range(len(records)) if self._how.in_order else spread(len(records))
            self._hold(window)  # until all of its batches are known
            rows = self._encoded((records[number] for number in order), reading)
            for number, cut in enumerate(_cut(rows)):
                if not self._journal.has((window, number)):
                    self._hold(window)
                    yield _Batch((window, number), cut)
            with self._lock:
                self._release(window)

    def _windows(self, source: FileSource) -> Iterator[list[Record]]:
        records: list[Record] = []
        size = 0
        for record in source.records(progress=self._read, rejected=self._reject):
            if record.place in self._repeats:
                continue
            records.append(record)
            size += record.size
            if len(records) == self._how.window or size >= _WINDOW_BYTES:
                yield records
                records, size = [], 0
        if records:
            yield records

    def _encoded(self, records: Iterable[Record], reading: Reading) -> Iterator[_Sending]:
        for record in records:
            try:
                yield _Sending(record, pieces(row_of_record(record.fields, reading)))
            except ValueError as error:
                self._reject(record.place, str(error), record.fields)

    def _send_replaced(self, source: FileSource, reading: Reading) -> int:
        """Store the rows that count because the last row of their key was put aside.

        They are in no note: a run that goes on after a kill sends them again, which changes
        nothing. How many were stored.
        """
        sent: set[int] = set()
        with Client(self._endpoint, stop=self._stop) as client:
            while self._repeats.count and self._rejects.places:
                rows = last_rows(source, reading.key, self._rejects.places)
                rows = [record for record in rows if record.place not in sent]
                if not rows:
                    # No row that was put aside now has another row of its key before it.
                    break
                for batch in _cut(self._encoded(rows, reading)):
                    refused = self._put(client, batch)
                    sent |= {
                        row.record.place
                        for number, row in enumerate(batch)
                        if number not in refused
                    }
        return len(sent)

    def _hold(self, window: int) -> None:
        with self._lock:
            self._open[window] = self._open.get(window, 0) + 1

    def _release(self, window: int) -> None:
        """Note that a part is finished; the last one ends its window. The caller has the lock."""
        self._open[window] -= 1
        if not self._open[window]:
            del self._open[window]
            self._journal.note_window(window)

    def _read(self, behind: int) -> None:
        self._behind = behind

    def _reject(self, place: int, reason: str, row: object) -> None:
        with self._lock:
            self._rejects.add(place, reason, row)

    def _pace(self, batch: _Batch, began: float) -> None:
        if self._how.rate > 0:
            due = began + self._given / self._how.rate
            self._stop.wait(max(0.0, due - time.monotonic()))
        self._given += len(batch.rows)

    def _give(self, batches: "queue.Queue[_Batch | None]", batch: _Batch | None) -> None:
        while not self._stop.is_set():
            try:
                return batches.put(batch, timeout=_WAIT_SECONDS)
            except queue.Full:
                continue
        if self._failed:
            raise self._failed[0]
        raise TransferFailed("the import was stopped")

    def _join(
        self,
        threads: Sequence[Thread],
        batches: "queue.Queue[_Batch | None]",
        told: Callable[[ImportProgress], None],
    ) -> None:
        for thread in threads:
            while thread.is_alive():
                if self._stop.is_set():
                    _drain(batches, len(threads))
                thread.join(_WAIT_SECONDS)
                told(self._step())

    # --- the workers ---------------------------------------------------------------------------

    def _work(self, batches: "queue.Queue[_Batch | None]") -> None:
        try:
            with Client(self._endpoint, stop=self._stop) as client:
                while (batch := batches.get()) is not None:
                    self._store(client, batch)
        except BaseException as error:  # noqa: BLE001  # it is raised on the caller's thread
            self._failed.append(error)
            self._stop.set()

    def _store(self, client: Client, batch: _Batch) -> None:
        """Store a batch and note it in the journal."""
        refused = self._put(client, batch.rows)
        with self._lock:
            self._journal.note(batch.part, len(batch.rows) - len(refused))
            self._release(batch.part[0])

    def _put(self, client: Client, rows: Sequence[_Sending]) -> dict[int, Refused]:
        """Store rows and put those aside that are refused. Returns the positions of these."""
        refused = send(client, self._table, [Change(PUT, row.pieces[0]) for row in rows])
        for number, row in enumerate(rows):
            for piece in row.pieces[1:]:
                if number not in refused:
                    found = send(client, self._table, [Change(UPDATE, piece)])
                    refused |= dict.fromkeys([number], found[0]) if found else {}
        for number, error in refused.items():
            record = rows[number].record
            self._reject(record.place, str(error), record.fields)
        return refused


def _drain(batches: "queue.Queue[_Batch | None]", workers: int) -> None:
    """Empty the queue and end every worker."""
    while True:
        try:
            batches.get_nowait()
        except queue.Empty:
            break
    for _ in range(workers):
        batches.put_nowait(None)


def _cut(rows: Iterable[_Sending]) -> Iterator[list[_Sending]]:
    """Batches of 200 rows or 3 MB at most."""
    batch: list[_Sending] = []
    size = 0
    for row in rows:
        if batch and (
            len(batch) == BATCH_WRITE_ROWS_MAX or size + len(row.pieces[0]) > PIECE_BYTES
        ):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += len(row.pieces[0])
    if batch:
        yield batch
