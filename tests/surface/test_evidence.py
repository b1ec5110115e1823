"""Lines of recorded runs, and the tables that are made of them (docs/internals/evidence.md)."""

import json
from pathlib import Path

import pytest
from tools import evidence


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    kept = tmp_path / "some.jsonl"
    monkeypatch.setenv(evidence.VARIABLE, str(kept))
    return kept


def test_a_record_is_printed_and_kept(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts: dict[str, evidence.Fact] = {"acks": 7}
    evidence.record("x", volume=4, unit="cuts", violations=0, seconds=1, seed=3, facts=facts)
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(lines.read_text())
    assert (told["check"], told["volume"], told["seed"], told["acks"]) == ("x", 4, 3, 7)
    assert {"commit", "dirty", "compiled", "recorded", "kernel", "python"} <= told.keys()


def told_of(lines: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = evidence.main([str(lines)])
    return code, capsys.readouterr().out


def test_runs_are_added_up_and_bounded(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for volume, slowest in ((100, 0.5), (200, 0.3)):
        facts: dict[str, evidence.Fact] = {"acks": 10, "restart_p99_seconds": slowest}
        evidence.record("x", volume=volume, unit="cuts", violations=0, seconds=1, facts=facts)
    code, page = told_of(lines, capsys)
    assert "| x | 300 | cuts | 0 | 1 % | acks 20, restart p99 seconds 0.5 |" in page
    assert code == 0


def test_a_violation_takes_the_bound_away(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence.record("x", volume=100, unit="cuts", violations=1, seconds=1)
    code, page = told_of(lines, capsys)
    assert "| x | 100 | cuts | 1 |  |  |" in page
    assert code == 1


def test_a_control_tells_how_often_it_was_caught(
    lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence.record("control: y", volume=3, unit="plantings", violations=1, seconds=1)
    code, page = told_of(lines, capsys)
    assert "| y | 3 | 2 |" in page
    assert "| control: y | 3 |" not in page
    assert code == 1


def test_what_was_skipped_is_shown_as_skipped_and_counts_nowhere(
    lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence.record_skipped("x", "needs root")
    code, page = told_of(lines, capsys)
    assert "| x | needs root |" in page
    assert "| x | 0 |" not in page
    assert code == 0
