"""`widerow nodes`: what is printed of the servers of a shared store (cluster.md, "Nodes")."""

from typing import Any

import pytest

from widerow.cli.nodes import _print

Json = dict[str, Any]
FIGURES = {"p99_ms": 12.34, "commit_p99_ms": 1.0, "cores": 0.5, "in_flight": 3}


def node(name: str, **changes: Any) -> Json:  # noqa: ANN401  # fields of a node
    """A node as the server tells it."""
    return {
        "id": name,
        "name": name,
        "server": name.partition("/")[0],
        "worker": int(name.partition("/")[2] or 0) or None,
        "version": "0.1.0",
        "state": "serves",
        "beat_age_seconds": 1.1,
        "up_seconds": 123_456.0,
        "skew": [-0.1, 0.3],
        "keeper": False,
        "requests_per_second": 123.4,
        "load": FIGURES,
        "slowest": None,
    } | changes


def printed(capsys: pytest.CaptureFixture[str], *nodes: Json, **changes: Any) -> str:  # noqa: ANN401  # fields of the document
    """What is printed of these nodes, of which the first is asked."""
    by_server: dict[str, list[Json]] = {}
    for each in nodes:
        by_server.setdefault(each["server"], []).append(each)
    servers = [
        {"server": name, "nodes": [each["id"] for each in members], **FIGURES}
        | {"requests_per_second": sum(each["requests_per_second"] for each in members)}
        for name, members in by_server.items()
    ]
    told = {"shared": True, "asked": nodes[0]["id"], "clock": None, "lease": None, "lags": []}
    _print({**told, "nodes": list(nodes), "servers": servers} | changes)
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of eighty columns."""
    monkeypatch.setenv("COLUMNS", "80")


def test_workers_stand_under_their_server_with_sums_and_nothing_is_cut(
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = "tables-1.here:8087"
    told = printed(capsys, node(f"{place}/1"), node(f"{place}/2", keeper=True), node("other"))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines()]
    load = [row for row in rows if len(row) == 7]
    assert load == [
        [place, "2 workers", "247", "12.3 ms", "0.50", "3", ""],
        ["/1", "serves", "123", "12.3 ms", "0.50", "3", ""],
        ["/2", "serves", "123", "12.3 ms", "0.50", "3", "yes"],
        ["other", "serves", "123", "12.3 ms", "0.50", "3", ""],
    ]
    clocks = [row for row in rows if len(row) == 5]
    assert clocks[0] == [f"{place}/1", "asked", "", "1 day, 10:17:36", "0.1.0"]
    assert clocks[2] == ["other", "1.1 s ago", "+0.1±0.2 s", "1 day, 10:17:36", "0.1.0"]


def test_what_is_not_known_is_told_as_unknown_and_of_the_silent_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = printed(capsys, node("a", load=None), node("b", state="silent", skew=None))
    rows = [line.split("│") for line in told.splitlines() if "│" in line]
    assert [cell.strip() for cell in rows[0][3:7]] == ["123", "?", "?", "?"]
    assert [cell.strip() for cell in rows[1][2:7]] == ["silent", "", "", "", ""]
    assert "not known yet" in told


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "No server has the lease now"),
        (
            {"lease": {"name": "a", "held_seconds": 99.0, "expires_seconds": 20.0}},
            "a has had the lease for 0:01:39; it ends in 20 s unless renewed.",
        ),
        (
            {"lease": {"name": "a", "held_seconds": 99.0, "expires_seconds": -1.0}},
            "a has had the lease for 0:01:39; it has run out.",
        ),
        ({"clock": "it is late"}, "Takes no writes: it is late"),
    ],
)
def test_lease_and_clock_are_told_below(
    capsys: pytest.CaptureFixture[str], changes: Json, line: str
) -> None:
    assert line in printed(capsys, node("a"), **changes)


def test_what_is_behind_is_told_with_who_works_on_it_and_the_slowest_with_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lag = {"kind": "global index", "table": "i/t", "name": "x", "seconds": 3.25, "node": "a"}
    hidden = lag | {"table": None, "name": None}
    rows = lag | {"kind": "search index", "seconds": None, "rows": 7}
    done = lag | {"kind": "stream", "seconds": 0.0}
    lags = [each | {"rows": each.get("rows")} for each in (lag, hidden, rows, done)]
    told = " ".join(printed(capsys, node("a", slowest="it is busy"), lags=lags).split())
    assert "Slowest is a: it is busy." in told
    assert "Furthest behind as global index: x of i/t, 3.2 s; a works on it." in told
    assert "Furthest behind as global index: of another instance, 3.2 s" in told
    assert "Furthest behind as search index: x of i/t, 7 rows; a works on it." in told
    assert "stream" not in told  # it is not behind
