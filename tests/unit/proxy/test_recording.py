"""Recordings: what is written is read again, whatever ends the writer, and nothing secret is in it.

The format is docs/formats/recording.md.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.http import Wire
from tests.unit.proxy.conftest import RunningProxy
from tests.unit.proxy.sessions import TABLE, Step, do, make_table, put, scan, steps

from widerow.cli.proxy import run_replay
from widerow.client.http import HttpAnswer
from widerow.proxy.exchange import Exchange, ProxiedRequest
from widerow.proxy.recording import (
    RecordingInvalid,
    RecordingWriter,
    decode_exchange,
    encode_exchange,
    read_exchanges,
    recording_bytes,
)
from widerow.proxy.service import ProxyService, ServerChoice
from widerow.testing.server import WiderowServer

Servers = Callable[..., WiderowServer]
REPLAY: dict[str, Any] = {
    "against": None,
    "memory": True,
    "profile": None,
    "instance": None,
    "speed": None,
    "concurrency": 8,
    "authorities": None,
    "report": [],
    "ignore": None,
    "as_json": True,
}


def exchange(body: bytes = b"body", headers: dict[str, str] | None = None) -> Exchange:
    request = ProxiedRequest("PutRow", "test", headers or {}, body)
    return Exchange(request, HttpAnswer(200, {"x-ots-requestid": "1"}, body), 1, 2)


def texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=("C", "Z")), max_size=10)


@given(
    st.binary(max_size=200),
    st.dictionaries(texts().map("x-ots-{}".format), texts(), max_size=3),
    st.integers(0, 2**53),
)
def test_what_is_written_is_what_is_read(body: bytes, headers: dict[str, str], at: int) -> None:
    headers = {name: each for name, each in headers.items() if name != "x-ots-instancename"}
    request = ProxiedRequest("GetRow", "test", headers, body)
    line = encode_exchange(Exchange(request, HttpAnswer(403, {}, body), at, 7))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found = decode_exchange(line[:-1])
    assert (found.at_us, found.took_us, found.answer) == (at, 7, HttpAnswer(403, {}, body))
    assert found.request.body == body
    assert {**headers, "x-ots-instancename": "test"}.items() >= found.request.headers.items()


@given(st.integers(0, 400), st.integers(1, 255))
def test_a_changed_byte_is_seen(at: int, change: int) -> None:
    line = bytearray(encode_exchange(exchange())[:-1])
    line[at % len(line)] ^= change
    with pytest.raises(ValueError, match=r"checksum|digit|part|number"):
        decode_exchange(bytes(line))


@given(st.binary(max_size=100))
def test_no_line_does_more_than_be_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="checksum"):
        decode_exchange(line)


def test_nothing_that_signs_is_written(servers: Servers, tmp_path: Path) -> None:
    upstream = servers()
    with RecordingWriter(tmp_path, upstream.endpoint) as recording:
        with RunningProxy(
            ProxyService(ServerChoice(upstream.endpoint), recording=recording)
        ) as proxy:
            make_table(proxy.client())
            put(proxy.client(), "mon", 1, name="kept")
        assert recording.written == 2
    text = (tmp_path / "part-00000001.jsonl").read_text()
    for secret in ("signature", "accesskeyid", "ststoken", "apikey", "Authorization", "widerow/"):
        assert secret.lower() not in text.lower()
    assert (tmp_path / "part-00000001.jsonl").stat().st_mode & 0o077 == 0


def test_whom_the_upstream_does_not_know_is_not_recorded(servers: Servers, tmp_path: Path) -> None:
    upstream = servers()
    with RecordingWriter(tmp_path, upstream.endpoint) as recording:
        service = ProxyService(ServerChoice(upstream.endpoint), recording=recording)
        with RunningProxy(service) as proxy:
            client = proxy.client(secret="wrong")
            do(client, Step("put", "mon", 1, 1))
            with Wire(proxy.endpoint) as wire:
                wire.ask(b"POST /ListTable HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
        assert recording.written == 0


def test_parts_are_bounded_and_the_oldest_goes(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path, "up", part_bytes=2000, parts=3) as recording:
        for number in range(40):
            recording.add(exchange(b"%d" % number * 100))
        assert recording.dropped > 0
    assert len(list(tmp_path.iterdir())) == 3
    kept = [int(each.exchange.request.body[:2]) for each in read_exchanges(tmp_path)]
    assert kept == list(range(kept[0], 40))
    assert max(each.stat().st_size for each in tmp_path.iterdir()) < 3000


def test_two_do_not_record_into_one_directory(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path, "up"), pytest.raises(RecordingInvalid, match="another process"):
        RecordingWriter(tmp_path, "up")
    with RecordingWriter(tmp_path, "up") as recording:  # a second session has a part of its own
        recording.add(exchange())
    assert [each.exchange.request.action for each in read_exchanges(tmp_path)] == ["PutRow"]


def test_a_kill_costs_at_most_the_last_line(tmp_path: Path) -> None:
    """A process that records without end is killed: every whole line is there, and nothing else."""
    program = (
        "import sys; from pathlib import Path\n"
        "from widerow.proxy.recording import *\n"
        "from widerow.proxy.exchange import *\n"
        "from widerow.client.http import HttpAnswer\n"
        "w = RecordingWriter(Path(sys.argv[1]), 'up')\n"
        "for n in range(10**9):\n"
        "    r = ProxiedRequest('PutRow', 'test', {}, str(n).encode() * 50)\n"
        "    w.add(Exchange(r, HttpAnswer(200, {}, b''), n, 0))\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen(  # noqa: S603  # our own
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(50):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    told = process.stdout.read().split("\n")
    process.wait()
    process.stdout.close()
    last = max([49, *(int(each) for each in told[:-1])])
    found = [each.exchange.at_us for each in read_exchanges(tmp_path)]
    assert found[: last + 1] == list(range(last + 1))
    assert len(found) - (last + 1) <= 1


def test_a_torn_last_line_is_left_out_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path, "up") as recording:
        for _ in range(3):
            recording.add(exchange())
    part = tmp_path / "part-00000001.jsonl"
    whole = part.read_bytes()
    for cut in range(1, len(encode_exchange(exchange()))):
        part.write_bytes(whole[:-cut])
        assert len(list(read_exchanges(tmp_path))) == 2
    lines = whole.split(b"\n")
    part.write_bytes(b"\n".join([lines[0], lines[1][:-5], *lines[2:]]))
    with pytest.raises(RecordingInvalid, match="line 2 is damaged"):
        list(read_exchanges(tmp_path))


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingInvalid, match="is not a recording"):
        recording_bytes(tmp_path)
    part = tmp_path / "part-00000001.jsonl"
    for text, why in ((b"hello\n", "not a part"), (b'{"widerow_recording": 9}\n', "format 9")):
        part.write_bytes(text)
        with pytest.raises(RecordingInvalid, match=why):
            list(read_exchanges(tmp_path))


@settings(max_examples=8)
@given(sessions=st.lists(steps(), min_size=1, max_size=3))
def test_a_replay_of_any_session_finds_no_difference(
    sessions: list[list[Step]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("recording")
    with WiderowServer() as upstream, RecordingWriter(place, "up") as recording:
        service = ProxyService(ServerChoice(upstream.endpoint), recording=recording)
        with RunningProxy(service) as proxy:
            client = proxy.client()
            make_table(client)
            for session in sessions:
                for step in session:
                    do(client, step)
        written = recording.written
    report = place / "report.json"
    assert run_replay(place, {**REPLAY, "report": [str(report)]}) == 0
    document = json.loads(report.read_text())
    assert (document["compared"], document["differing"]) == (written, 0)
    assert all(not each["classes"] for each in document["actions"])


def test_what_many_clients_did_at_once_is_replayed_without_a_difference(
    servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Requests that conflict never overlap, so the recorded order is one in which they happened."""
    upstream = servers()
    verbs = ("put", "update", "get", "scan", "delete", "expect", "batch")
    with RecordingWriter(tmp_path, "up") as recording:
        service = ProxyService(ServerChoice(upstream.endpoint), recording=recording)
        with RunningProxy(service) as proxy:
            make_table(proxy.client())

            def work(client: int) -> None:
                own = proxy.client()
                for turn in range(25):
                    verb = verbs[(turn * 5 + client) % len(verbs)]
                    do(own, Step(verb, "mon", turn % 3, f"{client} {turn}"))

            threads = [threading.Thread(target=work, args=(client,)) for client in range(6)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        assert recording.written == 1 + 6 * 25
    assert run_replay(tmp_path, REPLAY) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["compared"], found["examples"]) == (1 + 6 * 25, [])


def test_a_replay_finds_what_a_server_answers_otherwise(
    servers: Servers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    upstream, other = servers(), servers()
    make_table(other.client())  # is there already
    with RecordingWriter(tmp_path, "up") as recording:
        service = ProxyService(ServerChoice(upstream.endpoint), recording=recording)
        with RunningProxy(service) as proxy:
            make_table(proxy.client())
            put(proxy.client(), "mon", 1, name="a")
            scan(proxy.client())
            assert proxy.client().describe_table(TABLE).table_meta.table_name == TABLE
    given_ = {**REPLAY, "memory": False, "against": other.endpoint, "speed": 1000.0}
    assert run_replay(tmp_path, given_) == 1
    found = json.loads(capsys.readouterr().out)
    classes = {each["action"]: each["classes"] for each in found["actions"]}
    assert classes == {
        "CreateTable": {"status": 1},
        "PutRow": {},
        "GetRange": {},
        "DescribeTable": {},
    }
    assert "200" in found["examples"][0]["upstream"]
    other.stop()
    assert run_replay(tmp_path, {**given_, "ignore": "status"}) == 1  # nobody answered
