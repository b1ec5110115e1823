"""docs/guide/proxy.md and advisors.md: their commands work as they stand, in their order."""

import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from widerow.cli.main import app

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```sh\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
PORTS = ("8087", "8088", "8089")


def commands(page: str) -> list[str]:
    """The command lines of a page, each of its ports replaced by a free one."""
    text = "".join(found["text"] for found in BLOCK.finditer((ROOT / page).read_text()))
    with socket.socket() as first, socket.socket() as second, socket.socket() as third:
        for old, taken in zip(PORTS, (first, second, third), strict=True):
            taken.bind(("127.0.0.1", 0))
            text = text.replace(old, str(taken.getsockname()[1]))
    return text.splitlines()


@pytest.mark.parametrize("page", ["docs/guide/proxy.md", "docs/guide/advisors.md"])
def test_the_commands_of_a_guide_work(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    servers: list[subprocess.Popen[str]] = []
    output = ""
    try:
        for line in commands(page):
            assert line.startswith("widerow ")
            words = shlex.split(line.removesuffix("&"))[1:]
            if line.endswith("&"):
                command = [sys.executable, "-m", "widerow", *words]
                process = subprocess.Popen(  # noqa: S603  # our own
                    command, stdout=subprocess.PIPE, text=True
                )
                servers.append(process)
                assert process.stdout is not None
                assert "ready" in process.stdout.readline()
                continue
            run = CliRunner().invoke(app, words)
            assert run.exit_code == 0, f"{line}: {run.output} {run.exception!r}"
            output += run.stdout
    finally:
        for process in reversed(servers):
            process.send_signal(signal.SIGTERM)
            output += process.communicate(timeout=30)[0]
    assert [process.returncode for process in servers] == [0] * len(servers)
    if "proxy" in page:
        assert "0 of 5 answers differ" in output  # the replay
        assert "0 of 1 answers differ" in output  # the live comparison
        report = (tmp_path / "differences.md").read_text()
        assert report.startswith("# 0 of 5 answers differ")
    else:
        assert "column of times" in output
        assert "units in" in output
