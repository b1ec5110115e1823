"""`widerow serve` as a process of a test."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from widerow.testing.process import ServeFailed, WiderowProcess


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def process(tmp_path: Path) -> Iterator[WiderowProcess]:
    made = WiderowProcess("--path", str(tmp_path))
    yield made
    made.stop()  # also where a test failed in the middle


def test_it_answers_from_start_to_stop(process: WiderowProcess) -> None:
    process.start()
    pid = process.pid
    assert alive(pid)
    with urlopen(f"{process.endpoint}/readyz") as answer:  # noqa: S310  # our own server
        assert answer.status == 200
    assert process.stop() == 0
    assert not alive(pid)
    assert process.stop() == 0
    assert process.endpoint == ""


def test_it_can_be_killed_and_started_again(process: WiderowProcess) -> None:
    process.start()
    first = process.pid
    process.kill()
    assert not alive(first)
    with process:
        assert process.pid != first
        assert alive(process.pid)


def test_what_went_wrong_is_told() -> None:
    process = WiderowProcess("--memory", "--instances", "not a name")
    with pytest.raises(ServeFailed, match="not a name"):
        process.start()
    assert process.pid == 0


def test_settings_of_the_environment_do_not_leak_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIDEROW_NONSENSE", "1")
    with WiderowProcess("--memory") as process:
        assert process.ready_line.startswith("widerow ready endpoint=http://127.0.0.1:")


def test_a_launcher_and_variables_are_handed_on(tmp_path: Path) -> None:
    script = 'test "$SEEN" = yes && exec "$@"'
    process = WiderowProcess(
        "--memory", launcher=("sh", "-c", script, "sh"), environment={"SEEN": "yes"}
    )
    with process:
        assert alive(process.pid)
    told = WiderowProcess("--path", str(tmp_path), launcher=("sh", "-c", script, "sh"))
    with pytest.raises(ServeFailed):
        told.start()
