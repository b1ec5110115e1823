# Issue "Nodes", what it must show: the report of servers over databases, and what a ratio is.

from collections.abc import Sequence
from typing import Any

from bench.cluster import CPU_GOAL, Compared, Goal, Side, as_dict, markdown, ratio_of, runs_with
from bench.load import Outcome

SIDE = Side(1000.0, 1500.0, 9000.0, 60.0)
HEAD = {
    "machine": {"processor": "a processor", "cores": 2},
    "settings": {"repeats": 3, "seconds": 2},
    "commit": "0123456789",
    "date": "today",
    "load_average": 0.5,
    "compiled": True,
}


def run(command: str, stores: Sequence[str], ratio: float = 2.0) -> dict[str, Any]:
    found = [
        Compared(each, "GetRow", 32, "embedded", SIDE, SIDE, CPU_GOAL, ratio, (ratio,), {})
        for each in stores
    ]
    return {"command": command, "head": HEAD, "results": [as_dict(each) for each in found]}


def test_a_run_of_one_store_keeps_what_was_measured_of_the_others() -> None:
    runs = runs_with((), run("first", ["postgres"]))
    runs = runs_with(runs, run("second", ["hbase", "in memory"]))
    runs = runs_with(runs, run("third", ["postgres"]))
    assert [each["command"] for each in runs] == ["second", "third"]


def test_the_report_names_the_command_of_each_run_and_what_missed_its_goal() -> None:
    told = markdown([run("first", ["postgres"]), run("second", ["hbase"], ratio=2.6)])
    assert told.startswith("# A server over a database\n\nMade by `first` at commit")
    first, second = told.split("Made by `second`")
    assert "| 2.00 × CPU µs | ≤ 2.5: met |" in first
    assert "| 2.60 × CPU µs | ≤ 2.5: **missed** |" in second
    assert told.endswith("|\n")


def test_a_ratio_is_of_one_turn_each() -> None:
    own = [(Outcome(900, 3.0, 1, 1, 1, "wrk"), 50.0), (Outcome(100, 1.0, 1, 1, 1, "wrk"), 80.0)]
    other = [(Outcome(600, 2.0, 1, 1, 1, "wrk"), 25.0), (Outcome(200, 1.0, 1, 1, 1, "wrk"), 20.0)]
    assert ratio_of(own, other, "requests/s") == (1.0, 0.5)
    assert ratio_of(own, other, "CPU µs") == (2.0, 4.0)


def test_a_goal_is_met_from_one_side() -> None:
    assert Goal("requests/s", 0.7).met(0.7)
    assert not Goal("requests/s", 0.7).met(0.69)
    assert CPU_GOAL.met(2.5)
    assert not CPU_GOAL.met(2.51)
