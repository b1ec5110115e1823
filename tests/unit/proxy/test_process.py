"""`widerow proxy` as a process: its commands, kills, TLS, large bodies."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import tablestore as ts
from click.testing import CliRunner
from tablestore.retry import NoRetryPolicy
from tests.support.forked import ForkedCommand, ForkedServer
from tests.unit.proxy.sessions import TABLE, make_table, put

from widerow.cli.main import app
from widerow.errors import WiderowError
from widerow.proxy.recording import read_exchanges
from widerow.testing.server import WiderowServer


class ProxyProcess:
    """`widerow proxy` from the top of a `with` block to its end, which kills what still runs."""

    def __init__(self, *flags: str, environment: dict[str, str] | None = None) -> None:
        self._process = ForkedCommand(
            *("proxy", "--port", "0", *flags), environment={**os.environ, **(environment or {})}
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("widerow proxy ready"), self._process.communicate()
        self.endpoint = line.split("endpoint=")[1].split()[0]
        self.client: Any = ts.OTSClient(self.endpoint, "widerow", "widerow", "test")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.connection.pool.clear()
        self._process.kill()
        self._process.communicate()

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """The exit code after a signal, and what was printed."""
        os.kill(self._process.pid, number)
        output, self.said = self._process.communicate(timeout=30)
        return self._process.wait(), output


@pytest.fixture
def upstream() -> Iterator[WiderowServer]:
    with WiderowServer() as server:
        yield server


def test_a_killed_proxy_leaves_a_recording_that_can_be_replayed(
    upstream: WiderowServer, tmp_path: Path
) -> None:
    place = tmp_path / "monday"
    flags = ("--upstream", upstream.endpoint, "--mode", "record", "--recording", str(place))
    with ProxyProcess(*flags) as proxy:
        make_table(proxy.client)
        for number in range(30):
            put(proxy.client, "mon", number, size=number)
        proxy.end(signal.SIGKILL)
    # The answer of the last may have been on its way before its line was.
    assert len(list(read_exchanges(place))) >= 30
    report = tmp_path / "report.md"
    command = ["proxy", "replay", str(place), "--memory", "--report", str(report), "--speed", "100"]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    assert report.read_text().startswith("# 0 of 3")


def test_a_comparison_ends_with_a_report_and_an_exit_code(
    upstream: WiderowServer, tmp_path: Path
) -> None:
    report = tmp_path / "r.json"
    make_table(upstream.client())  # the other one has none
    with ProxyProcess("--upstream", upstream.endpoint, "--report", str(report)) as proxy:
        put(proxy.client, "mon", 1)
        code, output = proxy.end(signal.SIGTERM)
    assert code == 1
    assert "1 of 1 answers differ" in output
    found = json.loads(report.read_text())
    assert found["actions"][0]["classes"] == {"status": 1}
    assert found["examples"][0]["request"]["table_name"] == TABLE


def key_file(*pairs: tuple[str, str]) -> str:
    return "".join(f'[[key]]\nid = "{name}"\nsecret = "{secret}"\n\n' for name, secret in pairs)


def profile_file(endpoint: str, name: str, secret: str) -> str:
    fields = {"endpoint": endpoint, "access_key_id": name, "access_key_secret": secret}
    lines = "".join(f'{field} = "{value}"\n' for field, value in fields.items())
    return f'current = "up"\n\n[profile.up]\ninstance = "test"\n{lines}'


def test_keys_are_read_again_and_never_written_down(tmp_path: Path) -> None:
    """Both pairs change under way: the clients', and the one that the proxy signs with."""
    clients, servers = tmp_path / "clients.toml", tmp_path / "servers.toml"
    profiles, place = tmp_path / "widerow" / "profiles.toml", tmp_path / "recording"
    profiles.parent.mkdir()
    secrets = [f"secret-{number}-{'x' * 20}" for number in range(4)]
    clients.write_text(key_file(("client", secrets[0])))
    servers.write_text(key_file(("first", secrets[1]), ("second", secrets[2])))
    with ForkedServer("--memory", "--credentials", str(servers)) as server:
        profiles.write_text(profile_file(server.endpoint, "first", secrets[1]))
        profiles.chmod(0o600)
        flags = ("--upstream", server.endpoint, "--mode", "record", "--recording", str(place))
        asking = ("--profile-for-upstream", "up", "--credentials", str(clients))
        environment = {"XDG_CONFIG_HOME": str(tmp_path)}
        with ProxyProcess(*flags, *asking, environment=environment) as proxy:
            old, new = (
                ts.OTSClient(proxy.endpoint, "client", secret, "test", retry_policy=NoRetryPolicy())
                for secret in (secrets[0], secrets[3])
            )
            make_table(old)
            profiles.write_text(profile_file(server.endpoint, "second", secrets[2]))
            clients.write_text(key_file(("client", secrets[3])))
            until(lambda: put(new, "mon", 1))
            servers.write_text(key_file(("second", secrets[2])))  # the first key is worth nothing
            until(lambda: _refused(server.endpoint, "first", secrets[1]))
            put(new, "mon", 2)
            with pytest.raises(ts.OTSServiceError, match="OTSAuthFailed"):
                put(old, "mon", 3)
            for each in (old, new):
                each.connection.pool.clear()
            proxy.end(signal.SIGTERM)
        assert not proxy.said.count("Traceback")
    written = b"".join(file.read_bytes() for file in place.iterdir())
    told = [*written.splitlines(), proxy.said.encode()]
    for secret in (*secrets, "client", "first", "second"):
        for form in (secret.encode(), b64encode(secret.encode()).rstrip(b"=")):
            assert not any(form in line for line in told[:-1]), secret
    assert not any(secret in proxy.said for secret in secrets)
    assert len(list(read_exchanges(place))) == 3


def until(action: Callable[[], object]) -> None:
    """Again until the server grants it."""
    deadline = time.monotonic() + 20
    while True:
        try:
            action()
        except ts.OTSServiceError:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)
        else:
            return


def _refused(endpoint: str, name: str, secret: str) -> None:
    """Returns where the server does not know the key. Raises where it does."""
    client = ts.OTSClient(endpoint, name, secret, "test", retry_policy=NoRetryPolicy())
    try:
        client.list_table()
    except ts.OTSServiceError:
        return
    finally:
        client.connection.pool.clear()
    raise ts.OTSServiceError(200, "known", "the key is known still", "")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")
def test_an_upstream_may_speak_tls_and_bodies_may_be_large(tmp_path: Path) -> None:
    certificate, key = tmp_path / "one.pem", tmp_path / "one.key"
    command = (
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", "/CN=one", "-addext", "subjectAltName=IP:127.0.0.1"),
        *("-keyout", str(key), "-out", str(certificate)),
    )
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # openssl of the path
    tls = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with ForkedServer("--memory", *tls) as server:
        flags = ("--upstream", server.endpoint, "--authorities", str(certificate))
        with ProxyProcess(*flags) as proxy:
            make_table(proxy.client)
            for number in range(3):
                put(proxy.client, "mon", number, text="x" * 2_000_000)
                key_ = [("day", "mon"), ("id", number)]
                _, row, _ = proxy.client.get_row(TABLE, key_, max_version=1)
                assert len(row.attribute_columns[0][1]) == 2_000_000
            assert proxy.end(signal.SIGINT)[0] == 0
        with (
            ProxyProcess("--upstream", server.endpoint) as proxy,  # whose authority is unknown
            pytest.raises(ts.OTSServiceError, match="certificate"),
        ):
            put(proxy.client, "mon", 1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "--upstream"),
        (["--upstream", "http://h", "--mode", "both"], "diff or record"),
        (["--upstream", "here"], "not an endpoint"),
        (["--upstream", "http://h", "--mode", "record", "--report", "x.md"], "--mode diff"),
        (["--upstream", "http://h", "--report", "x.txt"], ".md or .json"),
        (["--upstream", "http://h", "--ignore", "colour"], "the classes are"),
        (["--upstream", "http://h", "--profile-for-upstream", "none such"], "no profile"),
        (["--upstream", "http://h", "--mode", "record", "--parts", "1"], "--parts is 2"),
        (["replay", "nowhere"], "one of them"),
        (["replay", "nowhere", "--memory"], "is not a recording"),
        (["replay", "nowhere", "--memory", "--speed", "0"], "above 0"),
        (["replay", "nowhere", "--memory", "--concurrency", "0"], "--concurrency is 1"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], reason: str) -> None:
    run = CliRunner().invoke(app, ["proxy", *words])
    assert isinstance(run.exception, WiderowError), run.output
    assert reason in str(run.exception)


def test_help_has_examples() -> None:
    for words in (["proxy"], ["proxy", "replay"], ["advise", "ttl"], ["advise", "cost"]):
        run = CliRunner().invoke(app, [*words, "--help"])
        assert run.exit_code == 0
        assert "Examples" in run.stdout
