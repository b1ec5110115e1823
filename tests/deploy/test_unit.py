"""deploy/systemd: the unit, and what the server tells systemd (sd_notify(3))."""

import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from widerow.limits import DRAIN_SECONDS_MAX, FLUSH_SECONDS_MAX, WORKER_STOP_SECONDS_MAX
from widerow.testing.process import WiderowProcess

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "widerow@.service"
EXPOSURE_MAX = "15"  # of 100, and a service of systemd's own defaults has 96

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is not installed"
)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that is on this machine."""
    text = UNIT.read_text(encoding="utf-8")
    program = shutil.which("true")
    assert program is not None
    assert "ExecStart=/opt/widerow/bin/widerow serve\n" in text
    copy = tmp_path / "widerow@.service"
    copy.write_text(text.replace("/opt/widerow/bin/widerow serve", program), encoding="utf-8")
    return copy


def analyzed(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)  # noqa: S603, S607  # of the path


@needs_systemd
def test_systemd_takes_every_line_of_the_unit(unit: Path) -> None:
    done = analyzed("verify", "--man=no", str(unit))
    assert str(unit.name) not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


@needs_systemd
def test_the_unit_leaves_the_service_little(unit: Path) -> None:
    done = analyzed("security", "--offline=yes", f"--threshold={EXPOSURE_MAX}", str(unit))
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd looks at no unit that is not loaded")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stop_has_more_time_than_the_server_takes() -> None:
    given = re.search(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    assert given is not None
    assert int(given[1]) > DRAIN_SECONDS_MAX + FLUSH_SECONDS_MAX
    assert int(given[1]) > WORKER_STOP_SECONDS_MAX


@pytest.mark.parametrize("kind", ["file", "abstract"])
def test_the_server_says_that_it_is_ready_and_that_it_stops(kind: str, tmp_path: Path) -> None:
    """`Type=notify`: what is started after it finds it answering."""
    name = {"file": str(tmp_path / "notify"), "abstract": f"@widerow-{os.getpid()}"}[kind]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(name.replace("@", "\0"))
        channel.settimeout(30)
        server = WiderowProcess("--memory", environment={"NOTIFY_SOCKET": name})
        with server:
            assert channel.recv(100) == b"READY=1"
            host, _, port = server.endpoint.removeprefix("http://").partition(":")
            socket.create_connection((host, int(port)), timeout=5).close()
            os.kill(server.pid, signal.SIGTERM)
            assert channel.recv(100) == b"STOPPING=1"
            while server.running:
                pass  # the test's own bound ends this; no second signal meets it on its way out
            assert server.stop() == 0


@pytest.mark.parametrize("name", ["nowhere", "/no/such/socket", "@nobody"])
def test_a_socket_where_nobody_listens_is_no_reason_not_to_serve(name: str) -> None:
    server = WiderowProcess("--memory", environment={"NOTIFY_SOCKET": name})
    with server:
        assert server.running
