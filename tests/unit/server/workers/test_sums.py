"""The pages of metrics of several processes as one (docs/operating/cluster.md, Workers)."""

import re

import pytest
from tests.unit.server.desk import Desk

from widerow.server.metrics import BUCKET_BOUNDS, DurationHistogram
from widerow.server.probes import Probes
from widerow.server.scrapes import NO_NAME
from widerow.server.search import metrics as search_metrics
from widerow.server.workers.sums import ADDED, LARGEST, add_pages, kept_counts, without_tables
from widerow.storage.memory import MemoryStore

HEAD = "# HELP widerow_{0} What.\n# TYPE widerow_{0} {1}\n"


def page(name: str, kind: str, *samples: str) -> str:
    return HEAD.format(name, kind) + "".join(f"widerow_{name}{each}\n" for each in samples)


@pytest.mark.parametrize(
    ("name", "kind", "values", "whole"),
    [
        ("commits_total", "counter", ("3", "4"), "7"),
        ("process_cpu_seconds_total", "counter", ("0.1", "0.2"), "0.3"),
        ("requests_seconds_sum", "counter", ("2e-05", "1e-05"), "3e-05"),  # as short sums are told
        ("connections", "gauge", ("3", "4"), "7"),
        ("process_resident_memory_bytes", "gauge", ("10", "20"), "30"),
        ("index_lag_seconds_max", "gauge", ("0.250", "1.500"), "1.5"),
        ("build_info", "gauge", ("1", "1"), "1"),
        ("table_bytes", "gauge", ("100", "90"), "100"),
        ("table_units_total", "counter", ("100", "90"), "100"),  # each knows those of all servers
    ],
)
def test_each_family_is_added_or_taken_once(
    name: str, kind: str, values: tuple[str, str], whole: str
) -> None:
    told = add_pages([page(name, kind, f" {value}") for value in values])
    assert told == page(name, kind, f" {whole}")


def test_samples_are_told_apart_by_their_labels_and_stay_in_their_family() -> None:
    first = page("requests_total", "counter", '{action="GetRow"} 1', '{action="PutRow"} 2')
    second = page("requests_total", "counter", '{action="GetRow"} 3', '{action="other"} 4')
    whole = add_pages([first + page("commits_total", "counter", " 1"), second])
    samples = ('{action="GetRow"} 4', '{action="PutRow"} 2', '{action="other"} 4')
    assert whole == page("requests_total", "counter", *samples) + page(
        "commits_total", "counter", " 1"
    )


def histogram(name: str, seconds: list[float]) -> str:
    """As `render_metrics` writes one."""
    found = DurationHistogram()
    for each in seconds:
        found.observe(int(each * 1e9))
    lines, total = [], 0
    for bound, count in zip((*BUCKET_BOUNDS, "+Inf"), found.buckets, strict=True):
        total += count
        lines.append(f'_bucket{{le="{bound}"}} {total}')
    lines += [f"_sum {found.sum_ns / 1e9}", f"_count {total}"]
    return page(name, "histogram", *lines)


def test_histograms_merge_to_that_of_all_durations() -> None:
    one, other = [0.0001, 0.003, 7.0], [0.0002, 0.003, 0.004, 100.0]
    whole = add_pages([histogram("commit_seconds", one), histogram("commit_seconds", other)])
    assert whole == histogram("commit_seconds", one + other)


def test_what_an_ended_worker_counted_stays_and_what_it_held_does_not() -> None:
    told = (
        page("commits_total", "counter", " 3")
        + histogram("commit_seconds", [0.1])
        + page("connections", "gauge", " 9")
        + page("table_units_total", "counter", '{table="shop/t"} 5')
        + page("throttled_total", "counter", " 2")
    )
    kept = kept_counts([told])
    assert kept == (
        page("commits_total", "counter", " 3")
        + histogram("commit_seconds", [0.1])
        + page("throttled_total", "counter", " 2")
    )
    assert kept_counts([kept, told]) == kept_counts([told, told])
    assert kept_counts(["", kept]) == kept


def test_names_of_tables_can_be_left_out() -> None:
    nameless = page("commits_total", "counter", " 3")
    assert without_tables(nameless + 'widerow_table_bytes{table="shop/t"} 5\n') == nameless


def test_it_is_decided_for_each_gauge_what_several_of_it_are() -> None:
    """A gauge that is new has to be in one of the two lists, and none is in both."""
    desk = Desk(MemoryStore())
    probes = Probes(desk.engine.core, desk.committer, desk.admission, desk.metrics)
    told = probes.figures(NO_NAME).decode()
    gauges = set(re.findall(r"^# TYPE widerow_(\w+) gauge$", told, re.MULTILINE))
    gauges |= {name for _, name, _ in search_metrics._GAUGES}
    assert {"connections", "search_rows"} < gauges
    embedded = {name for name in gauges if name.startswith("store_")}  # one process has those
    assert gauges - embedded <= ADDED | LARGEST
    assert not ADDED & LARGEST
