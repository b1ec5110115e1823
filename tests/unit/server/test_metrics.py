"""What is counted, and that Prometheus can read it."""

import re
from pathlib import Path

from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow.server.admission import Admission
from widerow.server.metrics import DurationHistogram, Metrics, render_metrics, resident_bytes
from widerow.testing.server import WiderowServer

_LINE = re.compile(r'^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+$')


def page(metrics: Metrics) -> str:
    return render_metrics(metrics, Admission(), 3, {"bytes": 7}, {"passes": 1}).decode()


def test_requests_are_counted_by_action_and_code() -> None:
    metrics = Metrics()
    for action, code in (("GetRow", "OK"), ("GetRow", "OK"), ("GetRow", "OTSAuthFailed")):
        metrics.of(action).answered(code, 1000)
    lines = page(metrics).splitlines()
    assert 'widerow_requests_total{action="GetRow",code="OK"} 2' in lines
    assert 'widerow_requests_total{action="GetRow",code="OTSAuthFailed"} 1' in lines
    assert 'widerow_request_seconds_count{action="GetRow"} 3' in lines


def test_capacity_units_are_counted_by_action_and_kind() -> None:
    # semantics §9
    metrics = Metrics()
    for action, read, write in (("GetRange", 7, 0), ("PutRow", 1, 3), ("PutRow", 0, 3)):
        metrics.of(action).answered("OK", 1000)
        metrics.of(action).consumed(read, write)
    lines = [line for line in page(metrics).splitlines() if "capacity_units_total{" in line]
    assert lines == [
        'widerow_capacity_units_total{action="GetRange",kind="read"} 7',
        'widerow_capacity_units_total{action="PutRow",kind="read"} 1',
        'widerow_capacity_units_total{action="PutRow",kind="write"} 6',
    ]


def test_every_line_is_a_sample_or_a_comment_with_its_type_first() -> None:
    metrics = Metrics()
    metrics.of("PutRow").answered("OK", 300_000)
    metrics.committed(4, 1_000_000)
    metrics.commit_failed()
    metrics.of("PutRow").consumed(1, 1)
    typed = set()
    for line in page(metrics).splitlines():
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("# HELP "):
            assert _LINE.match(line), line
            name = re.sub("_(bucket|sum|count)$", "", re.split("[{ ]", line)[0])
            assert name in typed or re.split("[{ ]", line)[0] in typed


def test_buckets_add_up_and_hold_their_upper_bound() -> None:
    histogram = DurationHistogram()
    for nanoseconds in (0, 100_000, 100_001, 9_000_000_000):
        histogram.observe(nanoseconds)
    assert sum(histogram.buckets) == 4
    assert histogram.buckets[0] == 2
    assert histogram.buckets[1] == 1
    assert histogram.buckets[-1] == 1


def test_counts_of_a_histogram_grow_along_its_buckets() -> None:
    metrics = Metrics()
    for nanoseconds in (50_000, 1_500_000, 10**10):
        metrics.committed(1, nanoseconds)
    counts = [
        int(line.split()[-1]) for line in page(metrics).splitlines() if "commit_seconds_bu" in line
    ]
    assert counts == sorted(counts)
    assert counts[-1] == 3


def test_the_store_and_the_process_are_shown() -> None:
    text = page(Metrics())
    assert "widerow_store_bytes 7" in text
    assert "widerow_sweep_passes_total 1" in text
    assert "widerow_writes_waiting 3" in text
    assert "widerow_process_cpu_seconds_total " in text


def test_names_follow_the_conventions(tmp_path: Path) -> None:
    """Prometheus, "Metric and label naming", and "Writing client libraries", for every store.

    A counter ends in `_total`, nothing else does; a unit stands in the name, in its base; one name
    has one type, and sums over its labels mean something, so no label is called `name`.
    """
    for place in (None, tmp_path / "data"):
        server = WiderowServer(place, settings={"metrics_open": True})
        with server, Wire(server.endpoint) as wire:
            wire.ask(Sender().request("CreateTable", BODIES["CreateTable"]("T")))
            text = wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body.decode()
        declared = re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)
        kinds = dict(declared)
        assert len(kinds) == len(declared) > 30
        for name, kind in kinds.items():
            assert name.endswith("_total") == (kind == "counter"), name
            assert kind != "histogram" or name.endswith("_seconds")
            assert not re.search("_(ms|mb|kb|us|ns|minutes|percent|count|sum|bucket)(_|$)", name)
        assert 'name="' not in text
        current = ""
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                current = line.split()[2]
            elif not line.startswith("#"):
                assert re.split("[{ ]", line)[0].startswith(current), line
        assert re.search(r'\nwiderow_build_info\{version="[^"]+",python="[^"]+"\} 1\n', text)


def test_resident_memory_is_plausible() -> None:
    assert resident_bytes() == 0 or 1_000_000 < resident_bytes() < 10**10
