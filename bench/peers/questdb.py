"""QuestDB: points by its line protocol over HTTP, queries over HTTP.

Its server comes from Maven: `mvn -f bench/series_peer dependency:copy-dependencies`. It answers
before what was put is on the disk (`cairo.commit.mode` is `nosync` by default), and moves it from
the log into tables behind the answer; a run counts that, too.
"""

import json
import shutil
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote
from urllib.request import urlopen

from bench.measure import Case, Result, Settings, measure
from bench.peers.dynamodb import running
from bench.points import BEGIN_US, POINTS, STEP_US, lines, source
from bench.series import (
    CONNECTIONS,
    DAY_STEPS,
    HOUR,
    HOUR_STEPS,
    INGEST_APART,
    INGEST_SERIES,
    LATEST,
    SERIES,
    each_once,
    filled_points,
    series_of,
    sizes,
    steps_of,
    whole,
)
from bench.servers import Place, processor_seconds
from tests.support.http import Wire, encode_request

__all__ = ["program", "results"]

_FOLDER: Final = Path(__file__).parent.parent / "series_peer" / "target" / "dependency"
_OPTIONS: Final = (
    "QDB_HTTP_BIND_TO=127.0.0.1:$0 QDB_HTTP_MIN_ENABLED=false QDB_PG_ENABLED=false "
    "QDB_LINE_TCP_ENABLED=false QDB_TELEMETRY_ENABLED=false"
)
_KEPT: Final = "ts TIMESTAMP) timestamp(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, source)"
_COLUMNS: Final = f"(source SYMBOL, hall SYMBOL, celsius DOUBLE, parts LONG, {_KEPT}"
_TABLE: Final = "machine"
_WAIT_SECONDS_MAX: Final = 120.0


def program() -> Path | None:
    """Its server; None where that, or Java, is not installed."""
    found = sorted(_FOLDER.glob("questdb-*.jar"))
    return found[-1] if found and shutil.which("java") else None


def results(server: Path, directory: Path, settings: Settings) -> Iterator[Result]:
    """The cases of `bench.series`."""
    home = directory / "questdb"
    home.mkdir()
    start = f"exec env {_OPTIONS} java -p {server} -m io.questdb/io.questdb.ServerMain -d {home}"
    with running(["sh", "-c", start]) as place:
        wanted = sizes(settings)
        for name, apart in ((INGEST_SERIES, False), (INGEST_APART, True)):
            ask(place, f"DROP TABLE IF EXISTS {_TABLE}")
            ask(place, f"CREATE TABLE {_TABLE} {_COLUMNS}")
            case = Case("series", f"QuestDB: {name}", (), CONNECTIONS, POINTS)
            put = partial(requests, apart=apart)
            yield each_once(place, case, wanted, put, lambda sent: applied(place, sent * POINTS))
        ask(place, f"DROP TABLE {_TABLE}")
        ask(place, f"CREATE TABLE {_TABLE} {_COLUMNS}")
        count = fill(place, filled_points(wanted))
        applied(place, count)
        hours = [query(hour(number)) for number in range(SERIES)]
        yield measure(place, Case("series", f"QuestDB: {HOUR}", hours, 1, HOUR_STEPS), settings)
        newest = f"SELECT * FROM {_TABLE} LATEST ON ts PARTITION BY source"  # noqa: S608  # our own text
        spent = partial(processor_seconds, place.process)
        read = partial(ask, place, newest)
        yield whole("series", f"QuestDB: {LATEST}", wanted.series, read, spent)


def requests(sent: Iterable[int], *, apart: bool) -> Iterator[bytes]:
    """Requests with such numbers."""
    for each in sent:
        steps = steps_of(each, apart=apart)
        yield written((n, step) for n in series_of(each, apart=apart) for step in steps)


def written(some: Iterable[tuple[int, int]]) -> bytes:
    """A request that puts points."""
    body = "".join(f"{line}\n" for line in lines(some)).encode()
    return encode_request("/write?precision=u", {}, body)


def fill(place: Place, parts: Iterable[list[tuple[int, int]]]) -> int:
    """Put points; how many."""
    count = 0
    with Wire(place.endpoint) as wire:
        for part in parts:
            answer = wire.ask(written(part))
            if answer.status // 100 != 2:
                raise ConnectionError(f"refused: {answer.body!r}")
            count += len(part)
    return count


def applied(place: Place, count: int) -> None:
    """Return when the table has so many points. Raises: `ConnectionError` if it never does."""
    ends = time.monotonic() + _WAIT_SECONDS_MAX
    counted = f"SELECT count() FROM {_TABLE}"  # noqa: S608  # our own text
    while json.loads(ask(place, counted))["dataset"][0][0] < count:
        if time.monotonic() > ends:
            raise ConnectionError("what was put does not come into the table")
        time.sleep(0.02)


def query(text: str) -> bytes:
    """A request for the rows of a query."""
    path = f"/exec?query={quote(text)}"
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()


def ask(place: Place, text: str) -> bytes:
    """The answer to a statement."""
    with urlopen(f"{place.endpoint}/exec?query={quote(text)}") as answer:  # noqa: S310  # our own server
        found: bytes = answer.read()
        return found


def hour(number: int) -> str:
    """The last hour of a series."""
    begin, end = BEGIN_US + (DAY_STEPS - HOUR_STEPS) * STEP_US, BEGIN_US + DAY_STEPS * STEP_US
    within = f"ts >= {begin} AND ts < {end}"
    return f"SELECT * FROM {_TABLE} WHERE source = '{source(number)}' AND {within}"  # noqa: S608  # our own text
