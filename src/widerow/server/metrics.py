"""What the server counts, and how it is written for Prometheus (text format 0.0.4).

The counters are our own: a request costs one dictionary increment and a few comparisons, while a
metrics library takes locks and builds label keys for each request. Requests are counted on the
loop's thread only. Commits are counted by the thread that commits, one at a time. Any thread may
read the counters; each of them is a whole number at any moment.
"""

import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from mypy_extensions import i64

from widerow import __version__

if TYPE_CHECKING:
    from widerow.server.admission import Admission

__all__ = [
    "BUCKET_BOUNDS",
    "PAGES_ACTION",
    "STORE_STATES",
    "ActionCounts",
    "DurationHistogram",
    "LineCounts",
    "Metrics",
    "PacedCounts",
    "family",
    "latency_ms",
    "render_metrics",
    "resident_bytes",
]

# A read in memory takes 0.1 ms, a lone sync 0.3 ms, a full group 3 ms; beyond a second is trouble.
BUCKET_BOUNDS: Final = tuple(
    [base * 10**power for power in (-4, -3, -2, -1, 0) for base in (1.0, 2.0, 5.0)]
)
"""The upper ends of the buckets that durations are counted into, in seconds; above is one more."""
PAGES_ACTION: Final = "console"
"""The action as which requests for pages are counted."""
_BOUNDS_NS: Final = tuple(int(bound * 1e9) for bound in BUCKET_BOUNDS)
_PAGE_BYTES: Final = 4096
STORE_STATES: Final = frozenset(
    (
        *("bytes", "memtable_bytes", "cache_bytes", "compaction_pending_bytes", "free_bytes"),
        *("keys", "versions"),
    )
)
"""The names of a store's statistics that say how much there is now; the others count upwards."""


class DurationHistogram:
    """Durations, counted into buckets."""

    __slots__ = ("buckets", "sum_ns")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BUCKET_BOUNDS) + 1)
        self.sum_ns = 0

    def observe(self, nanoseconds: i64) -> None:
        """Count one duration."""
        bucket: i64 = 0
        for bound in _BOUNDS_NS:  # compiled, faster than a bisection: most are among the first
            limit: i64 = bound
            if nanoseconds <= limit:
                break
            bucket += 1
        self.buckets[bucket] += 1
        self.sum_ns += nanoseconds


def latency_ms(buckets: Sequence[int], part: float) -> float:
    """The duration that `part` of the requests did not exceed, in milliseconds; 0 of none.

    Interpolated in a bucket, so the error is at most the bucket's width.
    """
    wanted = sum(buckets) * part
    if not wanted:
        return 0.0
    below = 0.0
    lower = 0.0
    for bound, count in zip((*BUCKET_BOUNDS, BUCKET_BOUNDS[-1]), buckets, strict=True):
        if count and below + count >= wanted:
            return 1000 * (lower + (bound - lower) * (wanted - below) / count)
        below += count
        lower = bound
    return 1000 * BUCKET_BOUNDS[-1]


@final
class ActionCounts:
    """The counters of one action: status codes, durations and capacity units of its requests."""

    __slots__ = ("action", "codes", "read_units", "seconds", "write_units")

    def __init__(self, action: str) -> None:
        self.action = action
        self.codes: dict[str, int] = {}
        self.seconds = DurationHistogram()
        self.read_units = 0
        self.write_units = 0

    def answered(self, code: str, nanoseconds: int) -> None:
        """Count a request: its error code (`OK` if none), how long it took."""
        codes = self.codes
        codes[code] = codes.get(code, 0) + 1
        self.seconds.observe(nanoseconds)

    def consumed(self, read_units: int, write_units: int) -> None:
        """Count the capacity units that a request was told it consumed (semantics §9)."""
        self.read_units += read_units
        self.write_units += write_units


@final
class LineCounts:
    """Statements of SQL: how many run now, how many wait, how many ended without their client."""

    __slots__ = ("cancelled", "running", "waiting")

    def __init__(self) -> None:
        self.cancelled = 0
        self.running = 0
        self.waiting = 0


@final
class PacedCounts:
    """Answers to writers that wait for indexes of their tables: now, and all that have waited."""

    __slots__ = ("held", "held_total")

    def __init__(self) -> None:
        self.held = 0
        self.held_total = 0


@final
class Metrics:
    """All counters of the server."""

    __slots__ = (
        "actions",
        "commit_failures",
        "commit_seconds",
        "commits",
        "credentials_failures",
        "paced",
        "statements",
        "writes",
    )

    def __init__(self) -> None:
        self.actions: dict[str, ActionCounts] = {}
        self.commits = 0
        self.writes = 0
        self.commit_failures = 0
        self.credentials_failures = 0
        self.commit_seconds = DurationHistogram()
        self.statements = LineCounts()
        self.paced = PacedCounts()

    def of(self, action: str) -> ActionCounts:
        """The counts of `action`, which must come from a bounded set: clients choose no labels."""
        counts = self.actions.get(action)
        if counts is None:
            counts = self.actions[action] = ActionCounts(action)
        return counts

    def committed(self, writes: int, nanoseconds: int) -> None:
        """Count a group commit."""
        self.commits += 1
        self.writes += writes
        self.commit_seconds.observe(nanoseconds)

    def commit_failed(self) -> None:
        """Count a group that the store refused."""
        self.commit_failures += 1

    def answered(self) -> int:
        """The number of answered requests of all actions."""
        return sum([sum(each.codes.copy().values()) for each in self.actions.copy().values()])


def render_metrics(
    metrics: Metrics,
    admission: "Admission",
    waiting: int,
    store: Mapping[str, int],
    reclaimed: Mapping[str, int],
    partitions: Iterable[str] = (),
) -> bytes:
    """The page that Prometheus reads.

    `waiting`: plans in the writer's queue. `store`: counters and sizes of the store, by name;
    `reclaimed`: the counters of the engine's sweep, by name; `partitions`: their lines, finished.
    """
    facts = f'version="{__version__}",python="{platform.python_version()}"'
    lines = [
        *family("build_info", "gauge", "What runs, in its labels: 1."),
        f"widerow_build_info{{{facts}}} 1",
    ]
    actions = [counts for _, counts in sorted(metrics.actions.items()) if counts.codes]
    lines += [
        *family("requests_total", "counter", "Requests answered, by action and error code."),
        *[
            f'widerow_requests_total{{action="{each.action}",code="{code}"}} {count}'
            for each in actions
            for code, count in sorted(each.codes.items())
        ],
        *family("request_seconds", "histogram", "From the last byte read to the answer written."),
    ]
    for each in actions:
        lines += _histogram("request_seconds", each.seconds, f'action="{each.action}"')
    lines += family("capacity_units_total", "counter", "Capacity units consumed, by action.")
    for each in actions:
        lines += [
            f'widerow_capacity_units_total{{action="{each.action}",kind="{kind}"}} {units}'
            for kind, units in (("read", each.read_units), ("write", each.write_units))
            if units
        ]
    lines += family("commit_seconds", "histogram", "Group commits: bodies, batch and sync.")
    lines += _histogram("commit_seconds", metrics.commit_seconds, "")
    for name, kind, text, value in _singles(metrics, admission, waiting):
        lines += [*family(name, kind, text), f"widerow_{name} {value}"]
    for name, value in sorted(store.items()):
        kind, suffix = ("gauge", "") if name in STORE_STATES else ("counter", "_total")
        lines += family(f"store_{name}{suffix}", kind, "What the store says of itself.")
        lines.append(f"widerow_store_{name}{suffix} {value}")
    for name, value in sorted(reclaimed.items()):
        lines += family(f"sweep_{name}_total", "counter", "What the sweep has seen and given back.")
        lines.append(f"widerow_sweep_{name}_total {value}")
    lines += partitions
    return ("\n".join(lines) + "\n").encode()


def _singles(
    metrics: Metrics, admission: "Admission", waiting: int
) -> Iterable[tuple[str, str, str, int | float]]:
    return (
        ("commits_total", "counter", "Group commits.", metrics.commits),
        ("committed_writes_total", "counter", "Writes in them.", metrics.writes),
        ("commit_failures_total", "counter", "Groups the store refused.", metrics.commit_failures),
        (
            "credentials_failures_total",
            "counter",
            "Changes of the credentials file that could not be used.",
            metrics.credentials_failures,
        ),
        ("writes_waiting", "gauge", "Plans waiting for the writer.", waiting),
        ("statements_running", "gauge", "Statements of SQL.", metrics.statements.running),
        ("statements_waiting", "gauge", "Statements in their line.", metrics.statements.waiting),
        (
            "statements_cancelled_total",
            "counter",
            "Statements that ended because their client was gone.",
            metrics.statements.cancelled,
        ),
        (
            "answers_paced",
            "gauge",
            "Answers to writers that wait for indexes of their tables.",
            metrics.paced.held,
        ),
        ("answers_paced_total", "counter", "All that have waited.", metrics.paced.held_total),
        ("connections", "gauge", "Open connections.", admission.connections),
        ("requests_in_flight", "gauge", "Not yet answered.", admission.requests_in_flight),
        ("bytes_in_flight", "gauge", "Bytes of their bodies.", admission.bytes_in_flight),
        ("unsent_bytes", "gauge", "Answers that wait for slow readers.", admission.unsent_bytes),
        ("refused_total", "counter", "Refused for lack of room.", admission.refused),
        ("process_cpu_seconds_total", "counter", "CPU time used.", time.process_time()),
        ("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes()),
    )


def family(name: str, kind: str, text: str) -> tuple[str, str]:
    """The two lines in front of the values of one name."""
    return f"# HELP widerow_{name} {text}", f"# TYPE widerow_{name} {kind}"


def _histogram(name: str, histogram: DurationHistogram, label: str) -> Iterator[str]:
    comma = "," if label else ""
    count = 0
    for bound, bucket in zip((*BUCKET_BOUNDS, "+Inf"), histogram.buckets, strict=True):
        count += bucket
        yield f'widerow_{name}_bucket{{{label}{comma}le="{bound}"}} {count}'
    braces = f"{{{label}}}" if label else ""
    yield f"widerow_{name}_sum{braces} {histogram.sum_ns / 1e9}"
    yield f"widerow_{name}_count{braces} {count}"


def resident_bytes() -> int:
    """Resident memory of this process, in bytes; 0 where it is not known (not Linux)."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
