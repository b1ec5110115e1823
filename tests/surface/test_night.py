"""The long run's table is one of programs that exist, and scales."""

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from tools import night

EVERY = (*night.LANES, night.ALONE, night.CLUSTERS)


@pytest.mark.night  # it starts twenty programs that only the night needs
def test_every_step_is_a_command_that_takes_its_arguments() -> None:
    taken = defaultdict[tuple[str, ...], set[str]](set)
    for step in (step for lane in EVERY for step in lane):
        words = step.command(1)
        suite = [word for word in step.arguments[:1] if word[0] != "-"]
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        taken[*words[:3], *suite] |= options
    for command, options in taken.items():
        known = subprocess.run(  # noqa: S603  # our own program
            [*command, "--help"], cwd=night.ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert [option for option in options if option not in known] == [], command


def test_every_test_is_run_by_some_step() -> None:
    """Whole, whatever is drawn and marked: by its folder, or by a step that leaves others out."""
    steps = [step.arguments for lane in EVERY for step in lane if step.program == "pytest"]
    whole = [each for each in steps if "night or not night" in each]
    named = {word for each in whole for word in each if word.startswith("tests/")}
    left = {
        word.removeprefix("--ignore=")
        for each in whole
        for word in each
        if word.startswith("--ignore=")
    }
    assert left
    assert left <= named


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
    monkeypatch.setattr(night, "LANES", ((wrong,), (), ()))
    monkeypatch.setattr(night, "ALONE", ())
    monkeypatch.setattr(night, "CLUSTERS", ())
    monkeypatch.setattr(night, "KEPT", tmp_path)
    monkeypatch.setattr(night, "ROOT", tmp_path)
    assert night.main([]) == 1
    assert "exit code 2" in capsys.readouterr().out
