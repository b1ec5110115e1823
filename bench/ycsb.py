"""YCSB's core workloads A to F on Tablestore's actions.

read: GetRow. update: UpdateRow of one column. insert: PutRow of a new row. scan: GetRange of 1 to
100 rows. F's read-modify-write is a GetRow and an UpdateRow of one row, sent as two requests;
results count requests. Requests are prepared; should a run send them to the end it begins again,
and its inserts then replace what they inserted.
"""

from collections.abc import Iterator
from random import Random  # noqa: TID251  # with fixed seeds: every run asks the same
from typing import Final, NamedTuple

from bench import rows
from bench.choosers import Chooser, Latest, Zipfian
from bench.measure import Case

REQUESTS: Final = 10_000
CONNECTIONS: Final = 32
SCAN_ROWS_MAX: Final = 100


class Workload(NamedTuple):
    """Shares of the operations, in hundredths, and which rows they are about."""

    name: str
    what: str
    read: int = 0
    update: int = 0
    insert: int = 0
    scan: int = 0
    modify: int = 0
    latest: bool = False


WORKLOADS: Final = (
    Workload("A", "50 % read, 50 % update", read=50, update=50),
    Workload("B", "95 % read, 5 % update", read=95, update=5),
    Workload("C", "100 % read", read=100),
    Workload("D", "95 % read latest, 5 % insert", read=95, insert=5, latest=True),
    Workload("E", "95 % scan, 5 % insert", scan=95, insert=5),
    Workload("F", "50 % read, 50 % read-modify-write", read=50, modify=50),
)


def cases(table_rows: int, count: int = REQUESTS) -> Iterator[Case]:
    """The six workloads on a table of rows 0 to `table_rows` - 1."""
    for workload in WORKLOADS:
        requests = mix(workload, table_rows, count)
        yield Case("ycsb", f"{workload.name}: {workload.what}", requests, CONNECTIONS)


def mix(workload: Workload, table_rows: int, count: int) -> list[bytes]:
    """At least `count` requests in the workload's shares, in random order."""
    numbers = rows.source()
    kind = Latest if workload.latest else Zipfian
    chooser: Chooser = kind(numbers, table_rows)
    requests: list[bytes] = []
    there = table_rows
    while len(requests) < count:
        operation = draw(workload, numbers)
        if operation == "insert":
            requests.append(rows.put(there))
            there += 1
        else:
            requests += operate(operation, chooser.choose(there), numbers)
    return requests


def draw(workload: Workload, numbers: Random) -> str:
    """The next operation."""
    at = numbers.randrange(100)
    for name in ("read", "update", "insert", "scan"):
        at -= getattr(workload, name)
        if at < 0:
            return name
    return "modify"


def operate(operation: str, number: int, numbers: Random) -> list[bytes]:
    """The requests of an operation on a row that is there."""
    if operation == "read":
        return [rows.get(number)]
    if operation == "scan":
        return [rows.page(number, numbers.randint(1, SCAN_ROWS_MAX))]
    if operation == "update":
        return [rows.update(number)]
    return [rows.get(number), rows.update(number)]
