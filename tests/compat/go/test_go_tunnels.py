"""The vendor's Go worker and the calls of its tunnel client (change §C2)."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.conftest import STORES
from tests.compat.consumers import (
    INSTANCE,
    check_a_worker_takes_points,
    check_tunnels_are_described,
    check_workers_lose_nothing,
    serving,
)
from tests.compat.go.conftest import fetch_modules, run

pytestmark = pytest.mark.timeout(600)
SOURCES: Final = Path(__file__).parent / "consumer"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("the Go tunnel client is not tested: go is not installed")
    fetch_modules(go, SOURCES)
    made = tmp_path_factory.mktemp("consumer") / "consumer"
    run(go, "build", "-buildvcs=false", "-o", str(made), ".", place=SOURCES)
    return made


@pytest.mark.night
def test_workers_that_die_and_servers_that_restart_lose_nothing(
    program: Path, store: str, tmp_path: Path
) -> None:
    with serving(*STORES[store](tmp_path)) as table:
        check_workers_lose_nothing(table, [str(program), "consume"], tmp_path)


def test_a_worker_takes_the_points_of_a_timeseries_table(
    program: Path, store: str, tmp_path: Path
) -> None:
    with serving(*STORES[store](tmp_path)) as table:
        check_a_worker_takes_points(table, [str(program), "points"], tmp_path)


@pytest.fixture(scope="module")
def managed(program: Path, store: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program saw that makes all calls but those of a worker."""
    place = tmp_path_factory.mktemp("managed")
    with serving(*STORES[store](place)) as table:
        table.put()
        said = run(str(program), "manage", table.server.endpoint, INSTANCE, place=place)
    told: dict[str, Any] = json.loads(said)
    return told


def test_tunnels_are_made_listed_described_and_deleted(managed: dict[str, Any]) -> None:
    check_tunnels_are_described(managed, "T", INSTANCE)
    assert all(managed[name]["recent"] for name in ("base", "stream", "both"))
    # `stream_id` is there for tunnels that read one (change §C2.2)
    has_stream = [managed[name]["has stream"] for name in ("base", "stream", "both")]
    assert has_stream == [False, True, True]
    assert managed["twice"] == ["OTSTunnelExist", "Requested tunnel already exists."]
    assert managed["deleted again"] == ["OTSParameterInvalid", "tunnel id not exist"]


def test_the_sdk_reads_how_far_a_tunnel_is(managed: dict[str, Any]) -> None:
    """It takes both answers apart as JSON, and the id of the second one unseen (change §0)."""
    assert managed["rpo"] == [True] * 5


def test_a_free_channel_is_stopped_resumed_and_ended(managed: dict[str, Any]) -> None:
    """Nobody has to give it back, so it waits as soon as it is stopped (change §C2.5)."""
    assert managed["schedule"] == ["WAIT", "WAIT", "TERMINATED"]
