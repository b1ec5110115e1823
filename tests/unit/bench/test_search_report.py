"""The arithmetic of the benches of search: recall, worst latencies, goals and the page."""

import numpy as np
import pytest
from bench.load import Outcome
from bench.search import Taken, figures
from bench.search_beside import worst
from bench.search_corpus import Article, Scores, articles, word
from bench.search_million import recall
from bench.search_report import GOALS, Goal, markdown

_MACHINE = {"processor": "P", "cores": 2, "python": "3"}


def part(*rows: dict[str, object]) -> dict[str, object]:
    return {"commit": "c", "machine": _MACHINE, "load_average": "0.1", "rows": list(rows)}


def test_recall_is_the_share_of_the_nearest_that_was_found() -> None:
    vectors = np.array([[1, 0], [0, 1], [1, 0.1], [-1, 0]], np.float32)
    asked = np.array([1, 0], np.float32)
    assert recall(vectors, asked, [0, 2]) == 1.0
    assert recall(vectors, asked, [2, 3]) == 0.5
    assert recall(vectors, asked, []) == 0.0


def test_the_slowest_request_of_all_runs_counts() -> None:
    runs = [Outcome(10, 2.0, p50, 2 * p50, 3 * p50, "wrk") for p50 in (1000.0, 9000.0, 2000.0)]
    assert worst(runs) == {"per_second": 5.0, "p50_ms": 2.0, "p99_ms": 4.0, "max_ms": 27.0}


def test_figures_are_the_median_and_the_last_hundredth() -> None:
    found = figures("x", [Taken(float(each), 2.0 * each) for each in range(1, 101)])
    assert found["x_cpu_ms"] == pytest.approx(101)
    assert found["x_p50_ms"] == pytest.approx(50, abs=1)
    assert found["x_p99_ms"] == pytest.approx(99, abs=1)


def test_a_goal_says_whether_it_was_met() -> None:
    assert Goal("g", "a", most=2).said({"a": 2.0}) == "g: 2, met"
    assert Goal("g", "a", most=2).said({"a": 2.1}) == "g: 2.1, **missed**"
    assert Goal("r", "a", exactly=1.0).said({"a": 0.99}) == "r: 0.99, **missed**"


def test_the_page_has_the_command_the_figures_and_the_goals() -> None:
    row: dict[str, object] = dict.fromkeys([goal.figure for goal in GOALS["documents"]], 1234.0)
    page = markdown({"documents": part({"documents": 1e6, **row})})
    assert "`python -m bench.search_million documents` at commit `c`, on P, 2 cores" in page
    assert "|groups average p50, ms|1,234|" in page
    assert page.count("**missed**") == len(GOALS["documents"])


def test_what_an_engine_does_not_say_stays_empty() -> None:
    page = markdown({"engines": part({"engine": "a", "order": 5.0}, {"engine": "b"})})
    assert "|engine|a|b|\n|---|---|---|\n|order|5||" in page


def test_documents_are_always_the_same_and_their_words_distinct() -> None:
    assert list(articles(3)) == list(articles(5))[:3]
    assert len({word(rank) for rank in range(50_000)}) == 50_000


def test_scores_are_those_of_bm25() -> None:
    """Of one word in one of two documents of one length: ln 2 times 1 (search §4.3)."""
    scores = Scores(["a"])
    for number, body in enumerate(("a", "b")):
        scores.count(
            Article(number, body, "", "", "", 0.0, 0, 0, visible=True, rating=0, weight=0.0)
        )
    assert scores.all(["a"]) == {0: pytest.approx(0.6931471805599453)}
