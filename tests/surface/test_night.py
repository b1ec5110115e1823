"""The long run's table is one of programs that exist, and scales."""

import subprocess
from pathlib import Path

import pytest
from tools import night

EVERY = (*night.LANES, night.ALONE, night.CLUSTERS)


@pytest.mark.parametrize("step", [step for lane in EVERY for step in lane])
def test_every_step_is_a_command_that_takes_its_arguments(step: night.Step) -> None:
    words = [word for word in step.command(1) if not word.isdigit()]
    begin = words[:3]
    known = subprocess.run(  # noqa: S603  # our own program
        [*begin, *(word for word in step.arguments[:1] if word[0] != "-"), "--help"],
        cwd=night.ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    options = {word for word in words if word.startswith("--")}
    assert {option for option in options if option not in known} == set()


def test_the_scale_reaches_the_volume_and_leaves_at_least_one() -> None:
    step = night.Step("x", ("a",), ("--cycles", 30))
    assert step.command(0.1)[3:] == ["a", "--cycles", "3"]
    assert step.command(0.001)[3:] == ["a", "--cycles", "1"]
    sparse = night.Step("x", ("a",), ("--every", 1), sparse=True)
    assert sparse.command(0.1)[3:] == ["a", "--every", "10"]


def test_a_failing_step_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = night.Step("widerow", ("no-such-command",))
    monkeypatch.setattr(night, "LANES", ((wrong,), ()))
    monkeypatch.setattr(night, "ALONE", ())
    monkeypatch.setattr(night, "CLUSTERS", ())
    monkeypatch.setattr(night, "KEPT", tmp_path)
    monkeypatch.setattr(night, "ROOT", tmp_path)
    assert night.main([]) == 1
    assert "exit code 2" in capsys.readouterr().out
