"""The process that is counted does the server's work between `on` and `off`, and nothing else."""

import pytest
from bench import instructions


@pytest.mark.filterwarnings("ignore:numElems is deprecated:DeprecationWarning")  # in the SDK
@pytest.mark.parametrize("case", list(instructions.CASES))
def test_a_case_is_asked_between_the_switches(
    case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states: list[str] = []
    monkeypatch.setattr(instructions, "_switch", states.append)
    monkeypatch.setattr(instructions, "ROWS", 200)
    monkeypatch.setattr(instructions, "ASKED_ROWS", 200)
    assert instructions.main(["--work", case]) == 0
    assert states == ["on", "off"]
    assert capsys.readouterr().out == ""


def test_a_profile_is_read() -> None:
    assert (
        instructions.total_of("events: Ir\nsummary: 0\nfn=a\n1 2\ntotals: 93504000\n") == 93_504_000
    )
    with pytest.raises(SystemExit, match="counted nothing"):
        instructions.total_of("events: Ir\n")


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="apt-get install valgrind"):
        instructions.counted("get")


def test_unknown_cases_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        instructions.main(["scan"])
    assert "no such case: scan; there are get, put, batch" in capsys.readouterr().err


def test_a_goal_is_said_where_what_it_is_set_beside_was_counted() -> None:
    ratio = instructions.ratio_of
    assert ratio("nosql-get", {"get": 100_000, "nosql-get": 125_000}) == ("1.25", "1.3")
    assert ratio("nosql-query", {"range": 20_000, "nosql-query": 25_000}) == ("1.25", "1.5")
    assert ratio("nosql-get", {"put": 100_000, "nosql-get": 1}) == ("", "")
    assert ratio("get", {"get": 100_000}) == ("", "")
