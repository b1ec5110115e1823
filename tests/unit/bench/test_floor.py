# Issue "Performance": what an operation costs at least, with no database around it.

from pathlib import Path

import pytest
from bench import floor, rows
from bench.disk import appended
from bench.echo import ROW_BYTES
from bench.measure import Case, Settings
from bench.servers import Place, echo_server
from bench.workloads import ask, fill, retarget
from tests.support.http import Wire

from widerow.testing.process import WiderowProcess


def requests() -> list[bytes]:
    """Signed now: a server refuses what is older than a quarter of an hour."""
    return [rows.put(number) for number in range(20)]


def test_an_echo_with_a_log_appends_and_syncs_before_it_answers(tmp_path: Path) -> None:
    log, (put, *_) = tmp_path / "log", requests()
    with echo_server(log) as echo, Wire(echo.endpoint) as wire:
        for number in range(3):
            answer = wire.ask(retarget(put, 77, b"/synced/"))
            assert (answer.status, len(answer.body)) == (200, 77)
            assert log.stat().st_size == (number + 1) * ROW_BYTES
        assert len(wire.ask(retarget(put, 77)).body) == 77
        assert log.stat().st_size == 3 * ROW_BYTES


def test_an_echo_without_a_log_refuses_to_sync() -> None:
    with echo_server() as echo, Wire(echo.endpoint) as wire:
        answer = wire.ask(retarget(requests()[0], 77, b"/synced/"))
    assert answer.status == 400
    assert b"log" in answer.body


def test_appending_is_timed_and_leaves_nothing(tmp_path: Path) -> None:
    seen = appended(tmp_path, 1536, 0.05)
    assert seen.requests > 0
    assert 0 < seen.p50_us <= seen.p99_us <= seen.max_us
    assert list(tmp_path.iterdir()) == []


def test_a_lone_put_and_its_parts_are_measured_and_so_is_the_engine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    monkeypatch.setattr("bench.measure.WARM_UP_SECONDS", 0.02)
    monkeypatch.setattr("bench.disk.SCAN_SECONDS", 0.02)
    monkeypatch.setattr(floor, "_ENGINE_SECONDS", 0.05)
    settings = Settings(seconds=0.02, repeats=2, quick=True)
    store = tmp_path / "store"
    with WiderowProcess("--path", str(store)) as server, echo_server(tmp_path / "log") as echo:
        with Wire(server.endpoint) as wire:
            ask(wire, rows.table())
        fill(server.endpoint, 0, 1000)
        place, case = Place(server.endpoint, server.pid), Case("write", "PutRow", requests(), 1)
        put, bare, synced, sync = floor.lone_results(place, case, echo, tmp_path, settings)
    assert [each.name for each in (put, bare, synced, sync)] == [
        "PutRow",
        "echo of PutRow",
        "echo of PutRow, appended and synced",
        floor.SYNC_IN_TURNS,
    ]
    assert {len(each.p50_us_each) for each in (put, bare, synced, sync)} == {2}
    assert synced.p50_us > bare.p50_us
    alone = floor.engine_result(store, 1000, tmp_path / "alone", 100_000)
    assert alone.rows == 200
    assert alone.cpu_us == alone.also["engine_us"] + alone.also["hash_us"]
    assert min(alone.also.values()) > 0


def test_requests_below_another_path_keep_their_bodies() -> None:
    put = requests()[0]
    changed = retarget(put, 12, b"/synced/")
    assert changed.startswith(b"POST /synced/12 HTTP/1.1\r\n")
    assert changed.endswith(put.partition(b" HTTP/1.1\r\n")[2])
