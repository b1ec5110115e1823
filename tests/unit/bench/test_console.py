# Issue "For people", what it must show: what an open console takes from a load, and how it is told.

from collections.abc import Sequence

import pytest
from bench import console
from bench.console import PAGES, Turn, found_of, main, moments


def test_what_several_people_take_is_told_of_one() -> None:
    pairs = [
        (Turn(20_000, 40), Turn(18_000, 44)),
        (Turn(10_000, 50), Turn(9_000, 55)),  # the machine was slower, the pair is the same
        (Turn(20_000, 40), Turn(10_000, 80)),  # something else ran
    ]
    found = found_of(pairs, people=5)
    assert found.lost[1] == pytest.approx(0.02)
    assert found.processor_more[1] == pytest.approx(0.02)
    assert found.lost[2] > 0.05


def test_pages_are_asked_for_as_often_as_they_refresh() -> None:
    assert moments(4.0, 2.0, 0) == []
    assert moments(4.0, 2.0, 1) == [1.0, 3.0]
    assert moments(4.0, 2.0, 2) == [0.5, 1.5, 2.5, 3.5]
    for _, period in PAGES:
        asked = moments(40.0, period, 5)
        assert len(asked) == 40 * 5 / period
        assert 0 < asked[0] < asked[-1] < 40


@pytest.mark.parametrize(("rate", "code"), [(19_500, 0), (14_000, 1)])
def test_the_exit_code_says_whether_the_goal_is_met(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rate: int, code: int
) -> None:
    def measured(
        count: int, seconds: float, people: int
    ) -> tuple[Sequence[tuple[Turn, Turn]], dict[str, float]]:
        assert (count, seconds, people) == (2, 4.0, 5)
        pages = {path.partition("?")[0]: 4.0 for path, _ in PAGES}
        return [(Turn(20_000, 40), Turn(rate, 41))] * 2, pages

    monkeypatch.setattr(console, "measure", measured)
    assert main(["--pairs", "2"]) == code
    told = capsys.readouterr().out
    assert "goal 5%" in told
    assert "together 0.32% of a core" in told
