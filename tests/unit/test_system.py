"""The real clock, entropy and processors do what their protocols promise."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from widerow.system import SystemClock, SystemEntropy, processors, processors_granted

if TYPE_CHECKING:
    from widerow.clock import Clock, Entropy


def test_the_clock_counts_microseconds_since_1970() -> None:
    clock: Clock = SystemClock()
    assert 1_700_000_000_000_000 < clock.now_us() < 4_000_000_000_000_000


def test_the_monotonic_clock_goes_on() -> None:
    clock: Clock = SystemClock()
    readings = [clock.monotonic_ns() for _ in range(100)]
    assert readings == sorted(readings)


def test_entropy_has_the_size_asked_for_and_does_not_repeat() -> None:
    entropy: Entropy = SystemEntropy()
    drawn = {entropy.token_bytes(16) for _ in range(100)}
    assert len(drawn) == 100
    assert {len(each) for each in drawn} == {16}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process")
def test_a_process_counts_the_processors_that_it_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    assert processors() == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize(
    ("lines", "files", "granted"),
    [
        ("0::/a/b\n", {}, 64),  # no quota anywhere
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n"}, 64),
        ("0::/a/b\n", {"a/b/cpu.max": "250000 100000\n"}, 3),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "100000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),  # as a container sees its own group
        (
            "4:memory:/x\n3:cpu,cpuacct:/x\n",
            {"cpu/x/cpu.cfs_quota_us": "400000\n", "cpu/x/cpu.cfs_period_us": "100000\n"},
            4,
        ),
        ("3:cpu:/x\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ("3:cpuset:/x\n", {}, 64),
    ],
)
def test_quotas_of_cgroups_bound_the_processors_of_a_process(
    lines: str,
    files: dict[str, str],
    granted: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """cgroups(7); Documentation/admin-guide/cgroup-v2.rst, "cpu.max", of Linux."""
    monkeypatch.setattr("widerow.system.processors", lambda: 64)
    quotas = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    for name, text in {"proc/self/cgroup": lines, **quotas}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert processors_granted(tmp_path) == granted


def test_without_cgroups_a_process_has_the_processors_that_it_may_use(tmp_path: Path) -> None:
    assert processors_granted(tmp_path) == processors()
    assert 1 <= processors_granted() <= processors()
