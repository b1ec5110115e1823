# Issue "Performance", item 1: where wrk is not installed the same requests are sent all the same.

from collections.abc import Iterator

import pytest
from bench import builtin
from bench.load import Load, LoadFailed, prepared
from bench.measure import Case, Settings, measure_in_turns
from bench.servers import Place, echo_server, processor_seconds, resident_mebibytes
from bench.workloads import retarget
from tests.support.http import Wire, encode_request

REQUEST = encode_request("/GetRow", {}, b"body")


@pytest.fixture(scope="module")
def echo() -> Iterator[Place]:
    with echo_server() as place:
        yield place


def test_the_echo_answers_with_as_many_bytes_as_are_asked_for(echo: Place) -> None:
    with Wire(echo.endpoint) as wire:
        assert wire.ask(retarget(REQUEST, 1405)).body == bytes(1405)
        assert wire.ask(REQUEST).body == b"body"


def test_every_answer_is_counted_once(echo: Place) -> None:
    # An answer of a megabyte comes in pieces.
    for answer_bytes in (0, 10, 1_000_000):
        requests = [retarget(REQUEST, answer_bytes)] * 2
        took, elapsed = builtin.send(echo.endpoint, requests, 3, 0.02)
        assert len(took) >= 3, "each connection asks at least once"
        assert took == sorted(took)
        assert 0 < took[-1] <= elapsed


def test_the_generator_stands_in_for_wrk(echo: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    with prepared([REQUEST]) as file:
        load = Load(echo.endpoint, [REQUEST], file)
        outcome = load.run(2, 0.02)
        with pytest.raises(LoadFailed, match="needs wrk"), load.beside(1, 1):
            pass
    assert outcome.generator == "builtin"
    assert outcome.requests >= 2
    assert outcome.p50_us <= outcome.p99_us <= outcome.max_us


def test_an_answer_that_is_no_success_ends_the_run(
    echo: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    wrong = b"no request\r\n\r\n"
    with prepared([wrong]) as file, pytest.raises(LoadFailed):
        Load(echo.endpoint, [wrong], file).run(1, 0.02)


def test_cases_that_are_compared_take_turns(echo: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.load.shutil.which", lambda _: None)
    monkeypatch.setattr("bench.measure.WARM_UP_SECONDS", 0.02)
    sides = [(echo, Case("read", name, [REQUEST], 2)) for name in ("one", "other")]
    results = measure_in_turns(sides, Settings(seconds=0.02, repeats=1))
    assert [each.name for each in results] == ["one", "other"]
    assert [each.repeats for each in results] == [5, 5]
    assert [len(each.cpu_us_each) for each in results] == [5, 5]


def test_the_system_says_what_a_server_uses(echo: Place) -> None:
    before = processor_seconds(echo.process)
    while processor_seconds(echo.process) <= before:  # the kernel counts in hundredths of a second
        builtin.send(echo.endpoint, [retarget(REQUEST, 100)], 4, 0.02)
    assert resident_mebibytes(echo.process) > 1


def test_a_process_that_ended_has_used_nothing_more() -> None:
    assert processor_seconds(2**22 + 1) == 0  # above the kernel's highest process number
