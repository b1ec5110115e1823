"""`widerow ping`: ready, not ready, not there (docs/operating/configure.md)."""

import socket
import subprocess
from pathlib import Path
from threading import Thread

import pytest
from tools.cluster.ports import free_ports

from widerow.cli.ping import PingInvalid, ping_server
from widerow.errors import WiderowError
from widerow.testing import WiderowServer


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No profile, no file of settings, no variable of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("dev", "addition"), [(False, ""), (True, ", in dev mode")])
def test_a_server_that_is_ready_is_0(
    *, dev: bool, addition: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with WiderowServer(settings={"dev": dev}) as server:
        endpoint = server.endpoint
        assert ping_server({"endpoint": endpoint}) == 0
        assert ping_server({"endpoint": endpoint, "live": True}) == 0
    told = capsys.readouterr()
    assert told.out == f"{endpoint} is ready{addition}\n{endpoint} is alive\n"
    assert told.err == ""


def test_nobody_there_is_1_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    assert ping_server({"endpoint": endpoint}) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        f"widerow: {endpoint} is not ready: nothing listens there; is the server started?\n"
    )


def test_a_server_that_is_alive_and_not_ready_is_1(capsys: pytest.CaptureFixture[str]) -> None:
    def answer() -> None:
        asked, _ = listening.accept()
        with asked:
            asked.recv(1000)
            asked.sendall(b"HTTP/1.1 503 x\r\ncontent-length: 9\r\n\r\nstopping\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = Thread(target=answer)
        serving.start()
        endpoint = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert ping_server({"endpoint": endpoint}) == 1
        serving.join()
    assert capsys.readouterr().err == f"widerow: {endpoint} is not ready: stopping\n"


def test_silence_is_1_after_the_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        endpoint = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert ping_server({"endpoint": endpoint, "timeout": "0.05"}) == 1
    assert "no answer within 0.05 s" in capsys.readouterr().err


def test_waiting_ends_when_it_is_ready(
    widerow_server: WiderowServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ping_server({"endpoint": widerow_server.endpoint, "wait": "30"}) == 0
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    assert ping_server({"endpoint": endpoint, "wait": "0.15"}) == 1
    assert "is not ready after 0.15 s:" in capsys.readouterr().err


def test_without_an_endpoint_it_is_the_server_of_the_same_settings(
    widerow_server: WiderowServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    port = widerow_server.endpoint.rpartition(":")[2]
    monkeypatch.setenv("WIDEROW_PORT", port)
    monkeypatch.setenv("WIDEROW_HOST", "0.0.0.0")  # noqa: S104  # to be asked at 127.0.0.1
    assert ping_server({}) == 0
    monkeypatch.delenv("WIDEROW_PORT")
    (tmp_path / "widerow.toml").write_text(f"port = {port}\n")
    assert ping_server({}) == 0
    monkeypatch.setenv("WIDEROW_ENDPOINT", f"http://127.0.0.1:{free_ports(1)[0]}")
    assert ping_server({}) == 1


def test_a_server_with_a_certificate_of_its_own_is_asked_by_that_certificate(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=db.example -keyout k.pem -out c.pem"
    try:
        subprocess.run(["openssl", *made.split()], check=True, capture_output=True)  # noqa: S603, S607  # our own words
    except FileNotFoundError:
        pytest.skip("there is no openssl on this machine")
    with WiderowServer(settings={"tls_cert": "c.pem", "tls_key": "k.pem"}) as server:
        monkeypatch.setenv("WIDEROW_PORT", server.endpoint.rpartition(":")[2])
        monkeypatch.setenv("WIDEROW_TLS_CERT", str(tmp_path / "c.pem"))
        monkeypatch.setenv("WIDEROW_TLS_KEY", str(tmp_path / "k.pem"))
        assert ping_server({}) == 0
        assert ping_server({"endpoint": server.endpoint}) == 1  # the system does not know it


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"timeout": "0"}, "--timeout is a number of seconds"),
        ({"wait": "soon"}, "--wait is a number of seconds"),
        ({"wait": "nan"}, "--wait is a number of seconds"),
        ({"endpoint": "db:8087"}, "give http://HOST:PORT"),
        ({"endpoint": "http://db:port"}, "give http://HOST:PORT"),
        ({"endpoint": "http://db/x"}, "give http://HOST:PORT"),
    ],
)
def test_what_cannot_be_asked_says_what_to_give(given: dict[str, str], words: str) -> None:
    with pytest.raises(WiderowError) as refused:
        ping_server(given)
    assert words in str(refused.value)


def test_a_port_that_is_chosen_at_the_start_has_to_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WIDEROW_PORT", "0")
    with pytest.raises(PingInvalid, match="give --endpoint"):
        ping_server({})
