"""The long run of the model tells a disagreement and stops there."""

import json

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule
from tools import model_steps


class _Wrong(RuleBasedStateMachine):
    @rule()
    def disagree(self) -> None:
        raise AssertionError("the engine refused what the model accepts")


def test_steps_are_counted_and_agree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_steps, "_ROUND_LIVES", 10)
    assert model_steps.main(["--steps", "40"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["violations"] == 0
    assert line["volume"] >= 40


def test_a_disagreement_is_a_violation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_steps, "EngineAgainstModel", _Wrong)
    assert model_steps.main(["--steps", "40"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["violations"] == 1
    assert "the engine refused what the model accepts" in told.err
