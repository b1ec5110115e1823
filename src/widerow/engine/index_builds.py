"""Builds of indexes as tasks of many steps, which continue by themselves after a crash.

For every table model: a `BuildSource` says which indexes of its tables are not ready and what a
step of a build writes. The creator of an index drives its build (`IndexBuild.step` until the answer
is true), or leaves it to housekeeping, which builds every index that is defined, not ready and not
driven, also after the store was opened again. A row that cannot be indexed ends a build: the index
is dropped, and the reason is kept while the store is open.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, final

from widerow.engine.plan import Plan
from widerow.errors import InvalidRequest, NotFound
from widerow.storage.interface import Outcome, Reader

__all__ = [
    "STEP_BYTES",
    "STEP_RECORDS",
    "BuildSource",
    "BuildStep",
    "IndexBuild",
    "IndexBuilds",
    "Unready",
    "next_rows",
]

STEP_ROWS: Final = 256  # that share one sync; a group of this size takes a few milliseconds
STEP_RECORDS: Final = 2000  # read in one step, where other records lie between
STEP_BYTES: Final = 1024 * 1024  # written in one step, for large rows

T = TypeVar("T")


class BuildStep(NamedTuple):
    """A step of a build: its writes, the number of rows, and where the next step starts.

    The plan answers the time of the newest intent that it has left for an entry, in microseconds
    since 1970; 0 without such an intent.
    """

    plan: Plan[int]
    rows: int
    following: bytes | None


class Unready(NamedTuple):
    """An index that does not answer yet: its number, its name, and the name of its table."""

    id: int
    name: str
    table: str


class BuildSource(Protocol[T]):
    """The indexes of one table model. `T`: its tables."""

    def epoch(self) -> int:
        """The epoch of the catalogue; `unready` is computed once for each epoch."""
        ...

    def unready(self) -> list[tuple[T, Unready]]:
        """Tables with each index that is not ready, in the order in which they are built."""
        ...

    def is_due(self, table: T, index: Unready) -> bool:
        """Whether a build that no creator drives may begin."""
        ...

    def index_id(self, table: T, name: str) -> int:
        """The number of an index by its name; 0 where the table has no such index."""
        ...

    def current(self, table: T) -> T:
        """The table as it is now. Raises `NotFound`."""
        ...

    def build_step(self, table: T, name: str, start: bytes) -> BuildStep:
        """The entries of the next rows from key `start` on (b"": all). Raises `NotFound`."""
        ...

    def unsettled(self, table: T, index: Unready, mark: int, start: bytes) -> bytes | None:
        """Where to look next for an entry that is still left to an intent of up to time `mark`.

        The search begins at `start` (b"": the first). None: all entries are written. A bounded
        number of reads.
        """
        ...

    def finish(self, table: T, name: str) -> Plan[Any]:
        """Let an index answer queries. Its plan raises `NotFound` if the index was dropped."""
        ...

    def drop(self, table: T, name: str) -> Plan[Any]:
        """Remove an index. Its plan raises `NotFound` if the index was dropped."""
        ...


def next_rows(
    reader: Reader, start: bytes, stop: bytes, is_row: Callable[[bytes], bool]
) -> tuple[list[bytes], bytes | None]:
    """The keys of the next rows, and where the next step begins; None after the last row.

    `is_row`: whether a record is one of the table's rows. The read is bounded in records and bytes,
    because other records may lie between.
    """
    rows: list[bytes] = []
    size = 0
    for count, (key, record) in enumerate(reader.scan(start, stop)):
        if len(rows) == STEP_ROWS or count == STEP_RECORDS or size >= STEP_BYTES:
            return rows, key
        size += len(key) + len(record)
        if is_row(record):
            rows.append(key)
    return rows, None


@final
class IndexBuild(Generic[T]):
    """The build of an index that is in its table's definition. `rows`: how many it has covered."""

    def __init__(self, source: BuildSource[T], table: T, name: str) -> None:
        """Build from the first row on: entries that already exist are written again."""
        self.rows = 0
        self._source = source
        self._table = table
        self._name = name
        self._start: bytes | None = b""
        self._mark = 0  # the time of the newest intent that steps have left
        # where to look whether these intents are applied; None: all are
        self._unsettled: bytes | None = b""

    @property
    def is_through(self) -> bool:
        """Whether every row is covered, so that the next step lets the index answer queries."""
        return self._start is None

    def is_settled(self, index: Unready) -> bool:
        """Whether every entry that steps left to intents is written.

        Each call continues where the last one stopped.
        """
        if not self._mark:
            return True
        if self._unsettled is not None:
            start = self._unsettled
            self._unsettled = self._source.unsettled(self._table, index, self._mark, start)
        return self._unsettled is None

    def step(self) -> Plan[bool]:
        """The next step; its answer is whether the index answers now.

        A step that was not committed may be planned again. Raises, or its plan does: `NotFound`
        when the index or its table was dropped, `InvalidRequest` for a row that cannot be indexed.
        """
        table = self._source.current(self._table)
        if self._start is None:
            return self._source.finish(table, self._name).answering(lambda _: True)
        made = self._source.build_step(table, self._name, self._start)

        def finish(outcomes: Sequence[Outcome[Any]]) -> bool:
            self._mark = max(self._mark, made.plan.finish(outcomes))
            self.rows += made.rows
            self._start = made.following
            return False

        return Plan(made.plan.writes, finish, again=lambda _: self.step())


@final
class IndexBuilds(Generic[T]):
    """The builds of one table model. `step` is for one caller at a time, the rest for any thread.

    `failures`: the latest reason for which an undriven build of an index ended, by table and index.
    """

    def __init__(self, source: BuildSource[T]) -> None:
        self.failures: dict[tuple[str, str], InvalidRequest] = {}
        self._source = source
        self._driven: list[int] = []  # indexes whose creators drive their builds
        self._builds: dict[int, IndexBuild[T]] = {}
        self._ended: set[int] = set()  # indexes that must be dropped
        self._unready: tuple[int, list[tuple[T, Unready]]] = (-1, [])
        self._last = 0  # the index of the last step

    @contextmanager
    def driving(self, table: T, name: str) -> Iterator[IndexBuild[T]]:
        """A build that the caller drives; housekeeping leaves the index alone meanwhile."""
        current = self._source.current(table)
        number = self._source.index_id(current, name)
        self._driven.append(number)
        try:
            yield IndexBuild(self._source, current, name)
        finally:
            self._driven.remove(number)

    def step(self) -> Plan[None] | None:
        """The next step of the undriven builds, which take turns; None without such a build."""
        waiting = self._waiting()
        first = 1 + next((at for at, (_, each) in enumerate(waiting) if each.id == self._last), -1)
        for table, index in (*waiting[first:], *waiting[:first]):
            if index.id in self._driven:
                self._builds.pop(index.id, None)  # a creator who drives it begins anew
                continue
            self._last = index.id
            if not self._source.is_due(table, index):
                continue
            build = self._builds.get(index.id)
            if build is None:
                build = self._builds[index.id] = IndexBuild(self._source, table, index.name)
            if not build.is_through or build.is_settled(index):
                return self._go_on(table, index, build)
        return None

    def rows_of(self, index_id: int) -> int:
        """How many rows the build of an index has covered here since the store was opened."""
        build = self._builds.get(index_id)
        return 0 if build is None else build.rows

    def _waiting(self) -> list[tuple[T, Unready]]:
        """Indexes that are not ready, computed once for each epoch of the catalogue."""
        epoch = self._source.epoch()
        if self._unready[0] != epoch:
            self._unready = epoch, self._source.unready()
        return self._unready[1]

    def _go_on(self, table: T, index: Unready, build: IndexBuild[T]) -> Plan[None]:
        """A step of a build; if it fails, the build ends and the next step drops the index."""
        if index.id in self._ended:
            return self._end(table, index)
        plan = build.step()

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            try:
                plan.finish(outcomes)
            except InvalidRequest as error:
                self.failures[index.table, index.name] = error
                self._ended.add(index.id)
            except NotFound:
                self._builds.pop(index.id, None)  # the index was dropped meanwhile

        return Plan(plan.writes, finish, again=lambda _: self._go_on(table, index, build))

    def _end(self, table: T, index: Unready) -> Plan[None]:
        plan = self._source.drop(table, index.name)

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            self._ended.discard(index.id)
            self._builds.pop(index.id, None)
            try:
                plan.finish(outcomes)
            except NotFound:
                return  # another process has dropped the index

        return Plan(plan.writes, finish)
