# Issue "Performance", items 1 and 3: goals, tables and charts made of a run's JSON alone.

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET  # noqa: TID251  # reads our own text only

import pytest
from bench.drawing import Bar, Series, bars, charts, lines, scale
from bench.goals import FLOORS, GOALS, Judged, judge
from bench.measure import Result
from bench.report import markdown, number
from bench.run import write_asked

from widerow.pictures.shapes import Box, Words
from widerow.pictures.svg import svg


def result(
    group: str,
    name: str,
    connections: int,
    cpu_us: float,
    *,
    p50_us: float = 200.0,
    rows: int = 1,
    **also: float,
) -> Result:
    return Result(
        *(group, name, connections, 1000.0, p50_us, 900.0, cpu_us),
        rows=rows,
        cpu_us_each=(cpu_us, cpu_us, cpu_us),
        p50_us_each=(p50_us, p50_us, p50_us),
        also=also,
    )


RESULTS = [
    result("disk", "append a row, sync", 1, 0.0),
    result("read", "GetRow", 32, 60.0),
    result("echo", "echo of GetRow", 32, 20.0),
    result("read", "GetRow, filter", 32, 150.0),
    result("write", "PutRow", 1, 300.0, p50_us=450.0),
    result("echo", "echo of PutRow", 1, 30.0, p50_us=80.0),
    result("echo", "echo of PutRow, appended and synced", 1, 60.0, p50_us=210.0),
    result("disk", "append a row, sync, in turns with PutRow", 1, 0.0, p50_us=150.0),
    result("write", "PutRow", 128, 90.0, writes_per_sync=41.5),
    result("echo", "echo of PutRow", 128, 18.0),
    result("write", "BatchWriteRow, 200 rows", 8, 5000.0, rows=200),
    result("echo", "echo of BatchWriteRow, 200 rows", 8, 400.0),
    result("disk", "write 200 rows, sync and hash them", 1, 1600.0, rows=200),
    result("size", "GetRow at 1,000 rows", 32, 50.0, table_rows=1e3),
    result("size", "GetRange, 100 rows, at 1,000 rows", 8, 500.0, table_rows=1e3),
    result("size", "GetRow at 9,000 rows", 32, 60.0, table_rows=9e3),
    result("size", "GetRange, 100 rows, at 9,000 rows", 8, 510.0, table_rows=9e3),
    result("curve", "GetRow", 1, 70.0),
    result("curve", "GetRow", 32, 60.0),
    result("fairness", "GetRow alone", 16, 60.0),
]


def document() -> dict[str, Any]:
    return {
        "commit": "abc1234567",
        "command": "python -m bench.run",
        "date": "2024-01-01",
        "generator": "wrk",
        "compiled": True,
        "load_average": "0.1",
        "machine": {
            "processor": "Some processor",
            "cores": 2,
            "memory_gib": 24,
            "system": "Linux",
            "python": "3.11.7",
        },
        "versions": {"rocksdict": "0.3.29"},
        "settings": {"seconds": 2.0, "repeats": 3},
        "skipped": [{"name": "moto", "why": "not installed"}],
        "results": [each.as_dict() for each in RESULTS],
    }


def judged(work: str, what: str) -> Judged:
    records = document()["results"]
    return next(each for each in judge(records) if (each.goal.work, each.goal.what) == (work, what))


@pytest.mark.parametrize(
    ("work", "what", "figure", "met"),
    [
        ("GetRow, 1 KB", "× CPU of the echo", 3.0, True),
        ("GetRow, filter", "× plain GetRow", 2.5, False),
        ("PutRow, 128 connections", "× CPU of the echo", 5.0, False),
        ("PutRow, 128 connections", "rows to a sync", 41.5, True),
        ("PutRow, 1 connection", "× one raw sync (median)", 3.0, False),
        ("BatchWriteRow, 200 rows", "rows a CPU second", 40_000, False),
        ("growth: point read", "× CPU, most rows to fewest", 1.2, True),
    ],
)
def test_a_goal_is_judged_by_its_ratio(work: str, what: str, figure: float, met: bool) -> None:  # noqa: FBT001  # a parameter of the test
    found = judged(work, what)
    assert found.figure == pytest.approx(figure)
    assert found.met is met


def test_what_is_left_without_a_database_is_held_against_the_same_goals() -> None:
    lone, batch = judge(document()["results"], FLOORS)
    assert lone.figure == pytest.approx(1.4)
    assert batch.figure == pytest.approx(100_000)
    assert lone.met
    assert batch.met
    bounds = {goal.work: goal.bound for goal in GOALS}
    assert all(bounds[goal.work] == goal.bound for goal in FLOORS)


def test_what_was_not_measured_is_not_judged() -> None:
    assert judged("GetRow, 1 KB", "× CPU of PostgreSQL's select")[1:] == (None, None)
    assert all(each.met is None for each in judge([]))


def test_a_bound_that_is_reached_exactly_is_met() -> None:
    records = [
        result("read", "GetRow", 32, 70.0).as_dict(),
        result("echo", "echo of GetRow", 32, 20.0).as_dict(),
    ]
    assert judge(records)[0].met is True


def test_no_two_goals_have_one_name() -> None:
    assert len({(goal.work, goal.what) for goal in GOALS}) == len(GOALS)


def test_the_report_says_where_its_numbers_come_from_and_what_is_missing() -> None:
    text = markdown(document())
    for words in ("`abc1234567`", "Some processor", "`python -m bench.run`", "compiled"):
        assert words in text
    assert "* moto: not installed" in text
    assert "| GetRow, filter | × plain GetRow | ≤ 2 | 2.5 | **no** |" in text
    assert "| GetRow, 1 KB | × CPU of PostgreSQL's select | ≤ 1 | – | not judged |" in text
    assert "41.5 writes/sync" in text


def test_every_case_of_a_run_stands_in_the_report() -> None:
    text = markdown(document())
    for each in RESULTS:
        assert f"| {each.name} | {each.connections} |" in text


@pytest.mark.parametrize(
    ("value", "text"), [(1234567.8, "1,234,568"), (0.1234, "0.123"), (4.0, "4"), (99.95, "100")]
)
def test_numbers_have_three_figures_that_mean_something(value: float, text: str) -> None:
    assert number(value) == text


def test_charts_are_svg_with_their_own_background_in_both_themes() -> None:
    made = charts(document()["results"])
    assert set(made) == {"speed.svg", "getrow.svg", "size.svg"}
    for chart in made.values():
        assert ET.fromstring(chart).tag.endswith("svg")  # noqa: S314  # our own text
        assert "prefers-color-scheme:dark" in chart


def test_a_run_without_cases_to_draw_draws_nothing() -> None:
    assert charts([]) == {}


def test_a_bar_is_as_long_as_its_value_and_names_are_escaped() -> None:
    chart = bars("A & B", "µs", [("panel", [Bar("one <x>", 10.0), Bar("two", 20.0, own=True)])])
    one, two = (each.width for each in chart.shapes if isinstance(each, Box))
    assert two == pytest.approx(2 * one, rel=0.01)
    root = ET.fromstring(svg(chart))  # noqa: S314  # our own text
    assert "one <x>" in {each.text for each in root.iter()}


def test_a_logarithmic_scale_keeps_ratios_and_has_ticks_inside() -> None:
    found = scale([1.0, 10.0, 100.0], 0, 300)
    assert found.at(10) - found.at(1) == pytest.approx(found.at(100) - found.at(10), abs=1)
    assert {1, 2, 5, 10, 20, 50, 100} <= set(found.ticks())
    assert all(0 <= found.at(tick) <= 300 for tick in found.ticks())


def test_points_of_a_line_are_labelled() -> None:
    chart = lines("t", "x", "y", [Series("p50", [(1.0, 1.0), (10.0, 2.0)], ["one", "ten"])])
    assert {"one", "ten"} <= {each.text for each in chart.shapes if isinstance(each, Words)}


@pytest.mark.parametrize(
    ("json_name", "report", "names"),
    [
        (None, False, set()),
        ("mine.json", False, {"mine.json"}),
        (None, True, {"results.json", "RESULTS.md", "charts"}),
        ("mine.json", True, {"mine.json", "RESULTS.md", "charts"}),
    ],
)
def test_nothing_is_written_that_was_not_asked_for(
    tmp_path: Path, json_name: str | None, *, report: bool, names: set[str]
) -> None:
    """docs/internals/performance.md: files come of `--json` and `--report` alone."""
    folder = Path(__file__).parents[3] / "bench"
    document = json.loads((folder / "results.json").read_text())
    target = tmp_path / json_name if json_name else None
    made = list(write_asked(document, target, tmp_path, report=report))
    assert {each.name for each in tmp_path.iterdir()} == names
    assert {each.relative_to(tmp_path).parts[0] for each in made} == names


def test_the_report_in_the_repository_is_the_one_of_its_results() -> None:
    folder = Path(__file__).parents[3] / "bench"
    written = json.loads((folder / "results.json").read_text())
    assert (folder / "RESULTS.md").read_text() == markdown(written)
    for name, chart in charts(written["results"]).items():
        assert (folder / "charts" / name).read_text() == chart
