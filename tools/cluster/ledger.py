"""Clients of several servers that write numbers and read them back: what is lost, doubled, torn.

Each writer has a partition key value; the last key belongs to one writer of every server. A writer
does two things by turns:

* it counts up two rows of its key by one atomic BatchWriteRow: both must always be equal, and lie
  between the writes that were acknowledged and those that may have been made;
* it stores its next number in a row whose second key column the store draws (auto-increment): each
  acknowledged number must stand there once, in the order in which it was acknowledged.

Readers compare the two rows of a key all the time. A client whose server is lost goes to the next
one, as a proxy would lead it. When each write was acknowledged is kept, so that the longest time
without one can be told.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import pairwise
from random import Random  # noqa: TID251  # seeded: what is read must repeat
from time import monotonic, sleep
from typing import Final, NamedTuple, TypeVar

from google.protobuf.message import Message
from tests.support.answers import AnsweredRow, decode_answer_rows
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Sender, Wire
from tests.support.recording import NOTHING_DONE
from tests.support.requests import ANY

from widerow.model.tablestore.row import CellOperation
from widerow.model.values import KeyInput, KeyMarker, Value
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["Ledger", "Outage", "Wrongs"]

T = TypeVar("T")

_COUNTERS: Final = "ledger_counters"
_NUMBERS: Final = "ledger_numbers"
_COLUMN: Final = "v"
_STRING, _INTEGER = 2, 1
_AUTO_INCREMENT: Final = 1  # an option of a key column
_UPDATE: Final = 2  # a type of row change in a batch
_PAIR: Final = (0, 1)
_HEADER_BYTES: Final = 4  # of a PlainBuffer
_RETRY_SECONDS: Final = 0.05  # behind a failure, until the next attempt
_READ_BACK_SECONDS_MAX: Final = 120  # for a store that comes back from a fault
_READ_PAUSE_SECONDS: Final = 0.02


class _End(Enum):
    """How a request ended."""

    DONE = "done"
    NOT_SENT = "no server could be reached"
    NOTHING = "refused, and nothing was done"
    UNKNOWN = "nobody knows if it was done"


class Outage(NamedTuple):
    """What clients saw of a fault. Times are seconds without an acknowledged write.

    `any_key`: of all writers together; `slowest_key`: of the key that waited longest.
    """

    any_key: float
    slowest_key: float
    acknowledged: int
    failed: int
    unknown: int


@dataclass
class Wrongs:
    """What must be 0, and what was found, for people."""

    lost: int = 0
    doubled: int = 0
    torn: int = 0
    told: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All of it."""
        return self.lost + self.doubled + self.torn

    def note(self, kind: str, told: str, count: int = 1) -> None:
        """Count one kind of them."""
        setattr(self, kind, getattr(self, kind) + count)
        self.told.append(f"{kind}: {told}")


class _Client:
    """A connection to one server, and to the next one when that is lost."""

    def __init__(
        self, endpoints: Callable[[], Sequence[str]], first: int, patience_seconds: float
    ) -> None:
        self._endpoints = endpoints
        self._at = self._first = first
        self._patience = patience_seconds
        self._sender = Sender()
        self._wire: Wire | None = None

    def ask(self, action: str, message: Message) -> tuple[_End, bytes]:
        """How a request ended, and the body of its answer."""
        try:
            if self._wire is None:
                endpoints = self._endpoints()
                self._wire = Wire(endpoints[self._at % len(endpoints)], self._patience)
        except (OSError, AssertionError):  # it is away: it has no endpoint, or refuses
            self._at += 1
            return _End.NOT_SENT, b""
        try:
            answer = self._wire.ask(self._sender.request(action, message.SerializeToString()))
        except OSError:
            self.hang_up()
            self._at += 1
            return _End.UNKNOWN, b""
        if answer.status == 200:
            return _End.DONE, answer.body
        return (_End.NOTHING if answer.error[1] in NOTHING_DONE else _End.UNKNOWN), answer.body

    def hang_up(self) -> None:
        if self._wire is not None:
            self._wire.__exit__()
            self._wire = None

    def leave(self) -> None:
        """Hang up, and begin at the first server again: else all would gather on one."""
        self.hang_up()
        self._at = self._first


class _Writer:
    """One that writes, and what it knows of its writes."""

    def __init__(self, number: int, key: str, client: _Client) -> None:
        self.number = number
        self.key = key
        self.client = client
        self.asked = 0  # counts that may have been made, the one under way among them
        self.counted: Counter[_End] = Counter()
        self.ends: Counter[_End] = Counter()
        self.acknowledged: list[float] = []  # when, by `monotonic`
        self.numbers: dict[int, bool] = {}  # those asked for; whether acknowledged
        self._turn = 0

    def write(self) -> bool:
        """One write; whether it was acknowledged."""
        self._turn += 1
        end = self._count() if self._turn % 2 else self._store(self._turn)
        self.ends[end] += 1
        if end is _End.DONE:
            self.acknowledged.append(monotonic())
        return end is _End.DONE

    def _count(self) -> _End:
        self.asked += 1
        end, body = self.client.ask("BatchWriteRow", _count_up(self.key))
        if end is _End.DONE:
            (table,) = m.BatchWriteRowResponse.FromString(body).tables
            codes = [text(row.error.code) for row in table.rows if not row.is_ok]
            if codes:
                end = _End.NOTHING if codes[0] in NOTHING_DONE else _End.UNKNOWN
        self.counted[end] += 1
        if end in (_End.NOTHING, _End.NOT_SENT):
            self.asked -= 1
        return end

    def _store(self, turn: int) -> _End:
        self.numbers[turn] = False
        end, _ = self.client.ask("PutRow", _store_number(self.key, f"{self.number}-{turn}"))
        self.numbers[turn] = end is _End.DONE
        if end in (_End.NOTHING, _End.NOT_SENT):
            del self.numbers[turn]
        return end


class Ledger:
    """Writers and readers over all servers of one store."""

    def __init__(
        self,
        endpoints: Callable[[], Sequence[str]],
        *,
        writers: int,
        patience_seconds: float,
        rest_seconds: float = 0.0,
    ) -> None:
        """Start nothing yet.

        `endpoints`: where the servers are at the moment, always as many; of one that is away,
        anything. `writers`: with a key of their own, for each server. `rest_seconds`: of a writer
        behind each write.
        """
        self._rest = rest_seconds
        servers = len(endpoints())
        self._admin = _Client(endpoints, 0, patience_seconds)
        self._writers = []
        for number in range(servers * (writers + 1)):
            alone = number < servers * writers
            key = f"{number}-own" if alone else "x-shared"
            self._writers.append(_Writer(number, key, _Client(endpoints, number, patience_seconds)))
        self._readers = [_Client(endpoints, number, patience_seconds) for number in range(servers)]
        self.keys = sorted({writer.key for writer in self._writers})
        self.wrongs = Wrongs()
        self.reads = 0
        self._lock = threading.Lock()

    def create(self) -> None:
        """Make the tables, and the first rows of each key."""
        for name, option in ((_COUNTERS, None), (_NUMBERS, _AUTO_INCREMENT)):
            end, body = self._admin.ask("CreateTable", _create(name, option))
            assert end is _End.DONE, body
        deadline = monotonic() + _READ_BACK_SECONDS_MAX
        for writer in self._writers:
            for _ in range(2):
                while not writer.write():
                    assert monotonic() < deadline, f"{writer.key} cannot be written"
                    sleep(_RETRY_SECONDS)
            writer.client.hang_up()
        self._admin.hang_up()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write and read until the end of the block."""
        over = threading.Event()
        with ThreadPoolExecutor(len(self._writers) + len(self._readers)) as threads:
            work = [threads.submit(self._write, each, over) for each in self._writers]
            work += [
                threads.submit(self._read, number, each, over)
                for number, each in enumerate(self._readers)
            ]
            try:
                yield
            finally:
                over.set()
            for each in work:
                each.result()

    @contextmanager
    def observed(self) -> Iterator[Callable[[], Outage]]:
        """What happens within the block; a function that tells it, at its end or before."""
        begun = monotonic()
        before = [writer.ends.copy() for writer in self._writers]

        def outage() -> Outage:
            ended = monotonic()
            ends = sum((writer.ends for writer in self._writers), Counter[_End]())
            ends.subtract(sum(before, Counter[_End]()))
            times = {
                key: sorted(
                    moment
                    for writer in self._writers
                    if writer.key == key
                    for moment in writer.acknowledged
                    if begun < moment < ended
                )
                for key in self.keys
            }
            every = sorted(moment for moments in times.values() for moment in moments)
            return Outage(
                any_key=_longest(begun, every, ended),
                slowest_key=max(_longest(begun, moments, ended) for moments in times.values()),
                acknowledged=ends[_End.DONE],
                failed=ends[_End.NOTHING],
                unknown=ends[_End.UNKNOWN],
            )

        yield outage

    def totals(self) -> dict[str, int]:
        """How many writes were acknowledged, refused, are unknown; how many reads succeeded."""
        ends = sum((writer.ends for writer in self._writers), Counter[_End]())
        return {
            "acknowledged": ends[_End.DONE],
            "failed": ends[_End.NOTHING],
            "unknown": ends[_End.UNKNOWN],
            "reads": self.reads,
        }

    # --- threads -----------------------------------------------------------------------------

    def _write(self, writer: _Writer, over: threading.Event) -> None:
        while not over.is_set():
            over.wait(self._rest if writer.write() else _RETRY_SECONDS)
        writer.client.leave()

    def _read(self, number: int, client: _Client, over: threading.Event) -> None:
        random = Random(number)  # noqa: S311  # no secret
        while not over.is_set():
            key = random.choice(self.keys)
            least = self._known(key)
            found = self._pair(client, key)
            if found is not None:
                self.reads += 1
                self._judge(key, found, least, self._possible(key))
            over.wait(_READ_PAUSE_SECONDS if found is not None else _RETRY_SECONDS)
        client.leave()

    # --- what stands there -------------------------------------------------------------------

    def verify(self) -> None:
        """Read everything back and note what is wrong; nobody writes meanwhile.

        Raises: `TimeoutError` where the store does not answer for two minutes.
        """
        for key in self.keys:
            least = self._known(key)
            found = _until_read(partial(self._pair, self._admin, key))
            self._judge(key, found, least, self._possible(key))
            self._verify_numbers(key, _until_read(partial(self._numbers, key)))
        self._admin.hang_up()

    def _known(self, key: str) -> int:
        return sum(each.counted[_End.DONE] for each in self._writers if each.key == key)

    def _possible(self, key: str) -> int:
        return sum(each.asked for each in self._writers if each.key == key)

    def _judge(self, key: str, found: tuple[int, int], least: int, most: int) -> None:
        with self._lock:
            if found[0] != found[1]:
                self.wrongs.note("torn", f"{key} has the counts {found}")
            if min(found) < least:
                told = f"{key} counts {found}, of {least} acknowledged"
                self.wrongs.note("lost", told, least - min(found))
            if max(found) > most:
                told = f"{key} counts {found}, of {most} that were asked for"
                self.wrongs.note("doubled", told, max(found) - most)

    def _verify_numbers(self, key: str, found: list[str]) -> None:
        times = Counter(found)
        for writer in self._writers:
            if writer.key != key:
                continue
            names = {turn: f"{writer.number}-{turn}" for turn in writer.numbers}
            for turn, acknowledged in writer.numbers.items():
                seen = times.pop(names[turn], 0)
                if acknowledged and not seen:
                    self.wrongs.note("lost", f"the number {names[turn]} of {key}")
                if seen > 1:
                    self.wrongs.note("doubled", f"the number {names[turn]} of {key}", seen - 1)
            known = {names[turn] for turn, is_known in writer.numbers.items() if is_known}
            order = [int(each.partition("-")[2]) for each in found if each in known]
            if any(first > second for first, second in pairwise(order)):
                self.wrongs.note("torn", f"the numbers of {key} are not in their order")
        for name, count in times.items():
            self.wrongs.note("doubled", f"{key} has {name}, which did nothing", count)

    def _pair(self, client: _Client, key: str) -> tuple[int, int] | None:
        """The counts of both rows; None where they cannot be read now."""
        end, body = client.ask("GetRange", _range(_COUNTERS, key, KeyMarker.INF_MIN))
        if end is not _End.DONE:
            return None
        values = {row[0]["n"]: row[1][_COLUMN][0][1] for row in _rows(body)}
        first, second = (values.get(number, 0) for number in _PAIR)
        assert isinstance(first, int)
        assert isinstance(second, int)
        return first, second

    def _numbers(self, key: str) -> list[str] | None:
        """What is stored under a key, in the order of the column that the store draws."""
        found: list[str] = []
        begin: KeyInput = KeyMarker.INF_MIN
        while True:
            end, body = self._admin.ask("GetRange", _range(_NUMBERS, key, begin))
            if end is not _End.DONE:
                return None
            rows = _rows(body)
            found += [str(row[1][_COLUMN][0][1]) for row in rows]
            if not m.GetRangeResponse.FromString(body).next_start_primary_key:
                return found
            last: Value = rows[-1][0]["n"]
            assert isinstance(last, int)
            begin = last + 1


def _until_read(read: Callable[[], T | None]) -> T:
    deadline = monotonic() + _READ_BACK_SECONDS_MAX
    while monotonic() < deadline:
        found = read()
        if found is not None:
            return found
        sleep(_RETRY_SECONDS)
    raise TimeoutError(f"nothing can be read back for {_READ_BACK_SECONDS_MAX} s")


def _longest(begun: float, moments: Sequence[float], ended: float) -> float:
    return max(second - first for first, second in pairwise((begun, *moments, ended)))


# --- requests -------------------------------------------------------------------------------------


def _create(name: str, option: int | None) -> m.CreateTableRequest:
    keys = [m.PrimaryKeySchema(name="k", type=_STRING), m.PrimaryKeySchema(name="n", type=_INTEGER)]
    if option is not None:
        keys[1].option = option
    return m.CreateTableRequest(
        table_meta=m.TableMeta(table_name=name, primary_key=keys),
        reserved_throughput=m.ReservedThroughput(capacity_unit=m.CapacityUnit(read=0, write=0)),
        table_options=m.TableOptions(time_to_live=-1, max_versions=1),
    )


def _count_up(key: str) -> m.BatchWriteRowRequest:
    counted = cell(_COLUMN, 1, operation=CellOperation.INCREMENT.value)
    rows = [
        m.RowInBatchWriteRowRequest(
            type=_UPDATE,
            row_change=row_buffer((("k", key), ("n", number)), [counted]),
            condition=ANY,
        )
        for number in _PAIR
    ]
    table = m.TableInBatchWriteRowRequest(table_name=_COUNTERS, rows=rows)
    return m.BatchWriteRowRequest(tables=[table], is_atomic=True)


def _store_number(key: str, number: str) -> m.PutRowRequest:
    row = row_buffer((("k", key), ("n", KeyMarker.AUTO_INCREMENT)), [cell(_COLUMN, number)])
    return m.PutRowRequest(table_name=_NUMBERS, row=row, condition=ANY)


def _range(table: str, key: str, begin: KeyInput) -> m.GetRangeRequest:
    return m.GetRangeRequest(
        table_name=table,
        direction=0,
        max_versions=1,
        inclusive_start_primary_key=key_buffer((("k", key), ("n", begin))),
        exclusive_end_primary_key=key_buffer((("k", key), ("n", KeyMarker.INF_MAX))),
    )


def _rows(body: bytes) -> list[AnsweredRow]:
    rows = m.GetRangeResponse.FromString(body).rows
    return decode_answer_rows(rows[_HEADER_BYTES:])
