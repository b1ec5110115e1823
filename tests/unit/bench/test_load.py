# Issue "Performance", item 1: what the load generators say is read rightly or refused.

import struct

import pytest
from bench import load
from bench.builtin import content_length
from bench.load import Load, LoadFailed, NothingAnswered, parse, prepared
from bench.peers.postgres import log_times
from bench.peers.redis import parse as parse_redis
from bench.workloads import retarget

SAID = """Running 2s test @ http://127.0.0.1:1
  1 threads and 32 connections
  12388 requests in 2.10s, 20.1MB read
measured {"requests":12388,"seconds":2.102152,"p50_us":4769,"p99_us":28944,"max_us":37826,%s}
"""


def test_the_scripts_line_is_found_in_what_wrk_prints() -> None:
    outcome = parse(SAID % '"refused":0,"failed":0')
    assert outcome == (12388, 2.102152, 4769, 28944, 37826, "wrk")


@pytest.mark.parametrize("errors", ['"refused":3,"failed":0', '"refused":0,"failed":1'])
def test_a_run_with_refused_or_broken_requests_is_no_result(errors: str) -> None:
    with pytest.raises(LoadFailed, match="not every request"):
        parse(SAID % errors)


def test_a_run_without_requests_is_no_result() -> None:
    with pytest.raises(NothingAnswered):
        parse((SAID % '"refused":0,"failed":0').replace('"requests":12388', '"requests":0'))


def test_wrk_that_could_not_connect_is_quoted() -> None:
    with pytest.raises(LoadFailed, match="unable to connect"):
        parse("unable to connect to 127.0.0.1:1 Connection refused\n")


def test_prepared_requests_stand_in_the_file_behind_their_lengths() -> None:
    requests = [b"POST / HTTP/1.1\r\n\r\n", b"", bytes(range(256)) * 300]
    with prepared(requests) as path:
        data = path.read_bytes()
    read = []
    while data:
        (size,) = struct.unpack_from("<I", data)
        read.append(data[4 : 4 + size])
        data = data[4 + size :]
    assert read == requests
    assert not path.exists()


def test_without_wrk_the_built_in_generator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    assert load.generator() == "builtin"


@pytest.mark.parametrize("silent", [0, 1, 9])
def test_a_warm_up_without_an_answer_is_made_again(
    monkeypatch: pytest.MonkeyPatch, silent: int
) -> None:
    """One sync of a disk can take longer than the second that a warm-up lasts."""
    asked: list[tuple[int, float]] = []

    def send(_url: str, _requests: object, connections: int, seconds: float) -> object:
        asked.append((connections, seconds))
        return [0.5] * (len(asked) > silent), seconds

    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    monkeypatch.setattr("bench.builtin.send", send)
    with prepared([b"one"]) as file:
        Load("http://127.0.0.1:1", [b"one"], file).warm_up(7, 1.0)
    assert asked == [(7, 1.0)] * (silent + 1)


def test_a_server_that_answers_nothing_fails_the_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    monkeypatch.setattr("bench.builtin.send", lambda *_: ([], 1.0))
    with prepared([b"one"]) as file, pytest.raises(NothingAnswered, match="nothing was answered"):
        Load("http://127.0.0.1:1", [b"one"], file).warm_up(7, 1.0)


def test_an_answers_length_is_read_in_any_spelling() -> None:
    assert content_length(b"HTTP/1.1 200 OK\r\nContent-Length: 17\r\nX: 3") == 17
    assert content_length(b"HTTP/1.1 200 OK\r\ndate: now") == 0


def test_an_echo_request_differs_in_its_target_only() -> None:
    request = b"POST /GetRow HTTP/1.1\r\nhost: a\r\n\r\nbody HTTP/1.1\r\n"
    assert retarget(request, 1405) == request.replace(b"/GetRow", b"/1405")


def test_pgbenchs_log_gives_a_time_for_each_transaction() -> None:
    assert list(log_times("0 1 1200 0 1700000000 5\n3 2 850 0 1700000000 9\n")) == [1200.0, 850.0]


def test_redis_benchmarks_csv_is_read_by_its_head_line() -> None:
    said = (
        '"test","rps","avg_latency_ms","p50_latency_ms"\n"HGETALL user:1","2000.5","0.2","0.191"\n'
    )
    assert parse_redis(said) == {"rps": 2000.5, "avg_latency_ms": 0.2, "p50_latency_ms": 0.191}
