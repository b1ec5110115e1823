"""The basic operations: what is sent, on how many connections, and what it is compared with."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bench import rows
from bench.measure import Case, Result, Settings, measure_in_turns
from bench.servers import Place, counters
from tests.support.http import Wire

from widerow.rows.cells import encode_variant

REQUESTS: Final = 2000  # prepared for a case, sent over and over
BATCHES: Final = 50
VERSIONED_ROWS: Final = 2000
CURVE: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_COMMITS_MIN: Final = 50  # fewer are what the server does by itself
_SCATTER: Final = 1_000_003


def scattered(count: int, table_rows: int) -> list[int]:
    """Numbers of rows, all over the table."""
    return [index * _SCATTER % table_rows for index in range(count)]


def cases(table_rows: int) -> Iterator[Case]:
    """The operations of the goals."""
    numbers = scattered(REQUESTS, table_rows)
    gets = [rows.get(number) for number in numbers]
    yield Case("read", "GetRow", gets, 32)
    keep = rows.column_filter("field0", encode_variant(""))
    yield Case("read", "GetRow, filter", [rows.get(each, sieve=keep) for each in numbers], 32)
    columns = ("field1", "field5", "field8")
    some = [rows.get(each, columns=columns) for each in numbers]
    yield Case("read", "GetRow, 3 columns of 10", some, 32)
    many = [rows.get(at % VERSIONED_ROWS, table=rows.VERSIONED) for at in range(REQUESTS)]
    yield Case("read", f"GetRow, 1 of {rows.VERSIONS} versions", many, 32)
    pages = [rows.page(number - number % rows.PARTITION_ROWS) for number in numbers[:1000]]
    yield Case("read", "GetRange, 100 rows", pages, 8, rows.PARTITION_ROWS)
    reads = [rows.batch_get(part) for part in parts(numbers, rows.BATCH_GET_ROWS)]
    yield Case("read", "BatchGetRow, 100 rows", reads, 8, rows.BATCH_GET_ROWS)
    yield from write_cases(numbers)


def write_cases(numbers: Sequence[int]) -> Iterator[Case]:
    """The operations that end in a sync."""
    puts = [rows.put(number) for number in numbers]
    for connections in (1, 32, 128):
        yield Case("write", "PutRow", puts, connections)
    yield Case("write", "UpdateRow, 1 column", [rows.update(each) for each in numbers], 32)
    size = rows.BATCH_WRITE_ROWS
    whole = [number - number % size for number in numbers[:BATCHES]]
    writes = [rows.batch_write(range(first, first + size), 2) for first in whole]
    yield Case("write", "BatchWriteRow, 200 rows", writes, 8, size)
    apart = [rows.batch_write(part, 2) for part in parts(numbers, size)]
    yield Case("write", "BatchWriteRow, 200 rows in as many partitions", apart, 8, size)


def parts(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Runs of `size` numbers."""
    for first in range(0, len(numbers), size):
        yield numbers[first : first + size]


def measure_case(place: Place, case: Case, settings: Settings) -> Result:
    """One case on widerow; writes say how many rows shared a sync, reads how long an answer is."""
    return measure_beside(place, case, [], settings)[0]


def measure_together(
    place: Place, made: Sequence[Case], echo: Place | None, settings: Settings
) -> list[Result]:
    """`measure_case` of several, in turns, and of the first one's echo of as many bytes."""
    case, *others = made
    sides = [(place, other) for other in others]
    if echo is not None:
        sides.append((echo, echo_case(case, answer_bytes(place, case))))
    return measure_beside(place, case, sides, settings)


def answer_bytes(place: Place, case: Case) -> int:
    """How long the answer to a case's first request is."""
    with Wire(place.endpoint) as wire:
        return len(wire.ask(case.requests[0]).body)


def measure_beside(
    place: Place, case: Case, others: Sequence[tuple[Place, Case]], settings: Settings
) -> list[Result]:
    """`measure_case`, in turns with cases of other servers."""
    before = counters(place.endpoint)
    result, *compared = measure_in_turns([(place, case), *others], settings)
    after = counters(place.endpoint)
    commits = after["commits_total"] - before["commits_total"]
    writes = after["committed_writes_total"] - before["committed_writes_total"]
    if commits >= _COMMITS_MIN:
        result.also["writes_per_sync"] = writes / commits
    result.also["answer_bytes"] = float(answer_bytes(place, case))
    result.also["request_bytes"] = float(len(case.requests[0].partition(b"\r\n\r\n")[2]))
    return [result, *compared]


def echo_case(case: Case, answer_bytes: int) -> Case:
    """The same requests, for the echo server to answer with as many bytes."""
    requests = [retarget(request, answer_bytes) for request in case.requests[:200]]
    return Case("echo", f"echo of {case.name}", requests, case.connections, case.rows)


def retarget(request: bytes, answer_bytes: int, path: bytes = b"/") -> bytes:
    """A request with the same headers and body for `/answer_bytes`, or below another path."""
    _, _, rest = request.partition(b" HTTP/1.1\r\n")
    return b"POST %s%d HTTP/1.1\r\n" % (path, answer_bytes) + rest


def fill(endpoint: str, first: int, stop: int) -> None:
    """Write the rows from `first` to `stop`. Raises: `SystemExit` where one is refused."""
    with Wire(endpoint) as wire:
        for start in range(first, stop, rows.BATCH_WRITE_ROWS):
            numbers = range(start, min(stop, start + rows.BATCH_WRITE_ROWS))
            ask(wire, rows.batch_write(numbers))


def fill_versions(endpoint: str) -> None:
    """Write rows with several versions of each column."""
    with Wire(endpoint) as wire:
        for at in range(VERSIONED_ROWS * rows.VERSIONS):
            ask(wire, rows.update(at % VERSIONED_ROWS, rows.cells(at), rows.VERSIONED))


def ask(wire: Wire, request: bytes) -> bytes:
    """The body of the answer to a request that must succeed."""
    answer = wire.ask(request)
    if answer.status != 200:
        raise SystemExit(f"refused: {answer.error}")
    return answer.body


def curve_cases(table_rows: int, connections: Iterable[int] = CURVE) -> Iterator[Case]:
    """Reads and writes of one row on more and more connections."""
    numbers = scattered(REQUESTS, table_rows)
    made = {
        "GetRow": [rows.get(number) for number in numbers],
        "PutRow": [rows.put(number) for number in numbers],
    }
    for name, requests in made.items():
        for each in connections:
            yield Case("curve", name, requests, each)
