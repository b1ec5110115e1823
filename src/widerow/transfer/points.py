"""Import of points into a timeseries table: a file in line protocol, or rows with a time.

Points are sent in the order of the file, on several connections. A point that is sent twice changes
nothing, so a run that was broken off is begun anew. Names of fields are written as such tables take
them: in lower case, other characters than letters, digits and _ as _.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

from widerow.client.connection import FIRST_PATIENCE_SECONDS, Client, Endpoint
from widerow.client.series import check_series_table, make_series_table, put_points
from widerow.client.tables import TableFacts
from widerow.limits import SERIES_POINTS_MAX
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.series import SeriesKey
from widerow.row_files.line_protocol import LinePoint, line_points
from widerow.row_files.source import UTF_8, FileInvalid, FileSource, Record, Rejected
from widerow.row_files.values import seconds
from widerow.system import SystemClock
from widerow.transfer.columns import kinds_of
from widerow.transfer.failures import TransferFailed
from widerow.transfer.journal import Rejects
from widerow.transfer.layout import Reading, plain_cells
from widerow.transfer.load import ImportProgress

__all__ = ["LINE_SUFFIXES", "PointColumns", "PointImport", "PointsLoaded", "import_points"]

LINE_SUFFIXES: Final = frozenset((".lp", ".line", ".influx"))
"""What names of files in line protocol end with."""

_REQUEST_BYTES: Final = 2 * 1024 * 1024  # of the file; a request has at most 4 MB
_WAITING: Final = 4  # requests for each connection that are ready
_NO_LETTER: Final = re.compile(r"[^a-z0-9_]")


class PointColumns(NamedTuple):
    """Which columns of a file of rows are what of a point; all others are fields.

    `time`: a time in any usual form, or seconds since 1970. `source`: empty where there is none.
    """

    measurement: str
    time: str
    tags: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class PointImport:
    """What to import, and how.

    `columns`: of a file of rows; None: the file is in line protocol, with times of `precision` and
    the data source in the tag `source`, if that is not empty. `kinds`: types of fields, as with
    rows. `create`: the table is made unless it is there. `limit`: points of the file at most, from
    its beginning; None: all.
    """

    path: Path
    table: str
    columns: PointColumns | None = None
    precision: str = "ns"
    source: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    create: bool = False
    workers: int = 4
    max_rejected: int = 1000
    encoding: str = UTF_8
    limit: int | None = None

    @property
    def rejected(self) -> Path:
        """The path of the points that are put aside."""
        return self.path.with_name(f"{self.path.name}.rejected")


class PointsLoaded(NamedTuple):
    """The result: points stored and put aside, the first of these, and how long it took."""

    points: int
    rejected: int
    first_rejected: str
    seconds: float

    def document(self) -> dict[str, Any]:
        """The numbers of the result, for JSON."""
        rate = round(self.points / self.seconds) if self.seconds else 0
        return {
            "points": self.points,
            "rejected": self.rejected,
            "seconds": round(self.seconds, 3),
            "points_per_second": rate,
        }


def import_points(
    endpoint: Endpoint, wish: PointImport, told: Callable[[ImportProgress], None]
) -> PointsLoaded:
    """Import a file, from its beginning. Memory: some requests.

    Raises: `TransferFailed`, `FileInvalid`, `RequestFailed`.
    """
    if wish.workers < 1:
        raise TransferFailed(f"--workers is 1 or more, not {wish.workers}")
    with Client(endpoint, patience=FIRST_PATIENCE_SECONDS) as client:
        prepare = make_series_table if wish.create else check_series_table
        prepare(client, wish.table)
    began = time.monotonic()
    rejects = Rejects(wish.rejected, wish.max_rejected, resumed=False)
    loader = _Loader(endpoint, wish, rejects, told)
    loader.run(_requests(islice(_points(wish, rejects.add), wish.limit)))
    return PointsLoaded(loader.stored, len(rejects.places), rejects.first, time.monotonic() - began)


# --- the points of a file ----------------------------------------------------------------------


def _points(wish: PointImport, rejected: Rejected) -> Iterator[LinePoint]:
    found = _of_lines(wish, rejected) if wish.columns is None else _of_rows(wish, rejected)
    for each in found:
        named = {_field_name(name): value for name, value in each.point.fields.items()}
        if len(named) < len(each.point.fields):
            rejected(each.line, "two fields have one name in a timeseries table", each.point)
            continue
        yield each._replace(point=each.point._replace(fields=named))


def _field_name(name: str) -> str:
    return _NO_LETTER.sub("_", name.lower())


def _of_lines(wish: PointImport, rejected: Rejected) -> Iterator[LinePoint]:
    now_us = SystemClock().now_us()
    try:
        with wish.path.open("rb") as lines:
            yield from line_points(lines, wish.precision, now_us, wish.source, rejected)
    except OSError as error:
        raise FileInvalid(f"cannot read {wish.path}: {error.strerror}") from error


def _of_rows(wish: PointImport, rejected: Rejected) -> Iterator[LinePoint]:
    columns = wish.columns
    assert columns is not None, "a file of rows has columns"
    source = FileSource(wish.path, wish.encoding)
    nothing = TableFacts(wish.table, (), {}, 1, 0, 0)
    kinds = kinds_of(source, nothing, wish.kinds)
    aside = {columns.time, columns.source, *columns.tags}
    reading = Reading((), kinds, 0, texts=not source.typed)
    for record in source.records(rejected=rejected):
        try:
            yield _of_record(record, columns, aside, reading)
        except ValueError as error:
            rejected(record.place, str(error), record.fields)


def _of_record(
    record: Record, columns: PointColumns, aside: set[str], reading: Reading
) -> LinePoint:
    fields = record.fields
    told = fields.get(columns.time)
    if told in (None, ""):
        raise ValueError(f"no time in the column {columns.time}")
    time_us = round(seconds(columns.time, told) * 1_000_000)
    tags = [
        (name, str(fields[name])) for name in columns.tags if fields.get(name) not in (None, "")
    ]
    origin = str(fields.get(columns.source) or "") if columns.source else ""
    rest = {name: value for name, value in fields.items() if name not in aside}
    values = {cell.column: cell.value for cell in plain_cells(rest, reading)}
    series = SeriesKey(columns.measurement, origin, tuple(sorted(tags)))
    return LinePoint(record.place, Point(series, time_us, values), record.size)


def _requests(points: Iterable[LinePoint]) -> Iterator[list[LinePoint]]:
    """Points in the groups that requests carry."""
    group: list[LinePoint] = []
    size = 0
    for each in points:
        if group and (len(group) == SERIES_POINTS_MAX or size + each.size > _REQUEST_BYTES):
            yield group
            group, size = [], 0
        group.append(each)
        size += each.size
    if group:
        yield group


# --- sending -----------------------------------------------------------------------------------


class _Loader:
    """One run. Requests are sent on threads of their own; all else is on the caller's."""

    def __init__(
        self,
        endpoint: Endpoint,
        wish: PointImport,
        rejects: Rejects,
        told: Callable[[ImportProgress], None],
    ) -> None:
        """`run` sends."""
        self.stored = 0
        self._endpoint = endpoint
        self._wish = wish
        self._rejects = rejects
        self._told = told
        self._behind = 0
        self._clients: SimpleQueue[Client] = SimpleQueue()

    def run(self, requests: Iterator[list[LinePoint]]) -> None:
        """Send every request; the first error ends the run, behind those under way."""
        workers = self._wish.workers
        clients = [Client(self._endpoint) for _ in range(workers)]
        for client in clients:
            self._clients.put(client)
        under_way: dict[Future[dict[int, str]], list[LinePoint]] = {}
        try:
            with ThreadPoolExecutor(workers, "widerow-import") as threads:
                for request in requests:
                    under_way[threads.submit(self._send, request)] = request
                    if len(under_way) >= _WAITING * workers:
                        self._take(under_way)
                while under_way:
                    self._take(under_way)
        finally:
            for client in clients:
                client.close()

    def _send(self, request: Sequence[LinePoint]) -> dict[int, str]:
        client = self._clients.get()
        try:
            return put_points(client, self._wish.table, [each.point for each in request])
        finally:
            self._clients.put(client)

    def _take(self, under_way: dict[Future[dict[int, str]], list[LinePoint]]) -> None:
        """Count what has ended, and wait for one that has not where nothing has."""
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for future in done:
            request = under_way.pop(future)
            refused = future.result()
            for position in sorted(refused):
                each = request[position]
                self._rejects.add(each.line, refused[position], each.point)
            self.stored += len(request) - len(refused)
            self._behind += sum(each.size for each in request)
        self._told(ImportProgress(self._behind, self.stored, len(self._rejects.places)))
