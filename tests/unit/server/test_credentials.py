"""The access keys in force follow their file (server/credentials.py)."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from tests.support.http import Sender, Wire

from widerow.auth.keyring import AccessKey
from widerow.auth.policy import AccessRules
from widerow.errors import NotPermitted
from widerow.limits import CREDENTIALS_BYTES_MAX
from widerow.server.credentials import CredentialsFile
from widerow.server.metrics import Metrics
from widerow.server.settings import Settings, SettingsInvalid

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]

ANNA: Final = "[[key]]\nid = 'anna'\nsecret = 'canary-1'\n"
BOB: Final = "[[key]]\nid = 'bob'\nsecret = 'canary-2'\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.toml"
    path.write_text(ANNA + BOB)
    return path


class Looking:
    """A file that is in force, what it was replaced by, and the metrics."""

    def __init__(self, path: Path) -> None:
        self.metrics = Metrics()
        self.file = CredentialsFile(Settings(credentials=str(path)), self.metrics)
        self.identity = self.file.load()
        self.replaced = 0

    def look(self) -> None:
        asyncio.run(self.file.look(self.replace))

    def replace(self, identity: AccessRules) -> None:
        self.identity = identity
        self.replaced += 1

    def knows(self, name: str) -> AccessKey | None:
        try:
            return self.identity.keyring.find(name)
        except NotPermitted:
            return None


def test_a_changed_file_replaces_the_keys(file: Path) -> None:
    looking = Looking(file)
    looking.look()
    assert looking.replaced == 0
    file.write_text(BOB)
    looking.look()
    assert looking.knows("anna") is None
    assert looking.knows("bob") is not None
    looking.look()
    assert looking.replaced == 1


def test_a_file_of_the_same_size_and_date_is_seen_to_have_changed(file: Path) -> None:
    looking = Looking(file)
    file.write_text((ANNA + BOB).replace("canary-2", "canary-3"))
    looking.look()
    bob = looking.knows("bob")
    assert bob is not None
    assert bob.secret == "canary-3"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[[key]]\nid = 'a'\n", "secret"),
        (b"[[key]]\nid = 'a'\nsecret = 'canary-1", "not TOML"),
        (b"\xff", "not UTF-8"),
        (b"", "no [[key]]"),
        (b"#" * (CREDENTIALS_BYTES_MAX + 1), "more than"),
        (None, "cannot read"),
    ],
)
def test_a_file_that_does_not_work_changes_nothing_and_is_told_once(
    file: Path, content: bytes | None, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    looking = Looking(file)
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    for _ in range(3):
        looking.look()
    assert looking.replaced == 0
    assert looking.knows("anna") is not None
    (told,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    reason = str(told.__dict__["facts"]["reason"])
    assert words in reason
    assert str(file) in reason
    assert "canary" not in reason
    assert looking.metrics.credentials_failures == 1
    file.write_text(BOB)
    looking.look()
    assert looking.knows("anna") is None


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"[[key]]\nid = 'a'\n", "secret"), (b"not toml", "not TOML"), (b"\xff", "not UTF-8")],
)
def test_at_the_start_a_file_that_does_not_work_is_named(
    file: Path, content: bytes, words: str
) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingsInvalid, match=words) as raised:
        Looking(file)
    assert str(file) in str(raised.value)


def test_a_key_that_is_taken_out_is_refused_while_its_connection_stays(
    serve: Serve, file: Path
) -> None:
    running = serve(credentials=str(file))
    request = Sender("anna", "canary-1").request("ListTable")
    with Wire(running.endpoint) as wire:
        assert wire.ask(request).status == 200
        file.write_text(BOB)
        while wire.ask(request).status == 200:
            pass  # the connection's timeout and the test's bound this
        assert wire.ask(request).error[:2] == (403, "OTSAuthFailed")
        assert wire.ask(Sender("bob", "canary-2").request("ListTable")).status == 200


def test_whoever_asks_for_a_look_gets_one_at_once(
    serve: Serve, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.server.credentials.CREDENTIALS_LOOK_SECONDS", 3600)
    running = serve(credentials=str(file))
    request = Sender("anna", "canary-1").request("ListTable")
    with Wire(running.endpoint) as wire:
        assert wire.ask(request).status == 200
        file.write_text(BOB)
        running.loop.call_soon_threadsafe(running.server.reload)
        while wire.ask(request).status == 200:
            pass  # the connection's timeout and the test's bound this
        assert wire.ask(request).status == 403
