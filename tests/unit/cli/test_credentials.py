"""`widerow credentials`: keys made, shown once, and revoked (docs/operating/keys.md)."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.forked import ForkedServer
from tests.support.http import Sender, Wire, encode_request

from widerow.auth.keyring import CredentialsInvalid, Keyring, Permission, secret_digest
from widerow.cli.main import app
from widerow.errors import WiderowError
from widerow.system import SystemClock

OWNER = "# ours\n[[key]]\nid = 'owner'\nsecret = 'canary'\ninstances = ['shop']\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.toml"
    path.write_text(OWNER)
    path.chmod(0o640)
    return path


def run(*arguments: str) -> str:
    """What `widerow credentials` prints on stdout."""
    done = CliRunner().invoke(app, ["credentials", *arguments], env={"COLUMNS": "200"})
    if isinstance(done.exception, WiderowError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json"))
    return found


def states(file: Path) -> dict[str, str]:
    found = document("list", "--file", str(file))["keys"]
    return {each["name"]: each["state"] for each in found}


def test_an_api_key_is_shown_once_and_kept_as_its_digest(file: Path) -> None:
    rights = ("--instances", "shop,audit", "--permissions", "read,write")
    key = run("api-key", "notebook", "--file", str(file), *rights).strip()
    assert len(key) > 40
    assert key not in file.read_text()
    assert file.read_text().startswith(OWNER)
    (kept,) = Keyring.load(file.read_text()).api_keys
    assert kept.sha256 == secret_digest(key)
    assert kept.instances == frozenset({"shop", "audit"})
    assert kept.permissions == frozenset({Permission.READ, Permission.WRITE})
    assert kept.expires_us is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(file.parent.iterdir()) == [file]
    assert key not in run("list", "--file", str(file))


@pytest.mark.parametrize(
    ("lasting", "seconds"), [("15m", 900), ("12h", 43_200), ("3650d", 315_360_000)]
)
def test_keys_end_when_they_are_told_to(file: Path, lasting: str, seconds: int) -> None:
    begun = SystemClock().now_us() // 1_000_000
    run("api-key", "a", "--file", str(file), "--expires-in", lasting)
    (key,) = Keyring.load(file.read_text()).api_keys
    assert key.expires_us is not None
    assert begun <= key.expires_us // 1_000_000 - seconds <= SystemClock().now_us() // 1_000_000


@pytest.mark.parametrize("lasting", ["", "0m", "1", "1w", "-1d", "1.5h", "3651d", "999999d", "١d"])
def test_other_times_are_refused(file: Path, lasting: str) -> None:
    with pytest.raises(CredentialsInvalid, match="--expires-in"):
        run("api-key", "a", "--file", str(file), "--expires-in", lasting)
    assert file.read_text() == OWNER


def test_a_server_takes_a_key_as_soon_as_it_is_made_and_no_longer(file: Path) -> None:
    flags = ("--memory", "--credentials", str(file), "--api-keys-behind-proxy")
    with ForkedServer(*flags) as process, Wire(process.endpoint) as wire:
        made = document("temporary-key", "owner", "--file", str(file), "--permissions", "read")
        sender = Sender(made["access_key_id"], made["access_key_secret"], "shop")

        def signed() -> int:
            request = sender.request("ListTable", ststoken=made["security_token"])
            return wire.ask(request).status

        key = document("api-key", "page", "--file", str(file))["api_key"]
        headers = {"x-ots-instancename": "shop", "x-ots-apikey": key}

        def plain() -> int:
            return wire.ask(encode_request("/ListTable", headers)).status

        def until(status: int) -> None:
            while (signed(), plain()) != (status, status):
                pass  # the server looks at its file twice a second; the test's bound ends this

        until(200)
        run("revoke", "page", made["access_key_id"], "--file", str(file))
        until(403)
    assert file.read_text().startswith(OWNER)
    assert states(file) == {"owner": "in force"}


def test_a_temporary_key_needs_its_access_key(file: Path) -> None:
    with pytest.raises(CredentialsInvalid, match="no access key 'nobody'"):
        run("temporary-key", "nobody", "--file", str(file))
    assert file.read_text() == OWNER


def test_the_list_says_what_is_in_force(file: Path) -> None:
    digest = f"{1:064x}"
    file.write_text(
        OWNER + f"[[temporary_key]]\nid = 'lost'\nsecret = 's'\nparent = 'gone'\n"
        f"expires = 2100-01-01T00:00:00Z\ntoken_sha256 = '{digest}'\n"
        f"[[temporary_key]]\nid = 'old'\nsecret = 's'\nparent = 'owner'\n"
        f"expires = 2020-01-01T00:00:00Z\ntoken_sha256 = '{digest}'\n"
        f"[[api_key]]\nname = 'page'\nsha256 = '{digest}'\n"
    )
    assert states(file) == {
        "owner": "in force",
        "old": "ended",
        "lost": "its access key is gone",
        "page": "in force",
    }
    page = run("list", "--file", str(file))
    assert "2020-01-01T00:00:00Z" in page
    assert "canary" not in page
    revoked = document("revoke", "--expired", "--file", str(file))["revoked"]
    assert sorted(each["name"] for each in revoked) == ["lost", "old"]
    assert states(file) == {"owner": "in force", "page": "in force"}


@pytest.mark.parametrize("words", [(), ("a", "--expired")])
def test_revoke_is_told_what_to_revoke(file: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(CredentialsInvalid, match="give names of keys, or --expired"):
        run("revoke", *words, "--file", str(file))


@pytest.mark.parametrize("name", ["nobody", "owner"])
def test_only_what_is_there_is_revoked(file: Path, name: str) -> None:
    with pytest.raises(CredentialsInvalid, match=f"no API key '{name}'"):
        run("revoke", name, "--file", str(file))
    assert file.read_text() == OWNER


def test_a_second_command_is_kept_out(file: Path) -> None:
    beside = file.with_name("keys.toml.new")
    beside.touch()
    with pytest.raises(CredentialsInvalid, match="another command is writing"):
        run("api-key", "a", "--file", str(file))
    assert beside.exists()
    assert file.read_text() == OWNER


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    run("api-key", "a", "--file", str(link))
    assert link.is_symlink()
    assert "[[api_key]]" in file.read_text()


def test_a_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    made = tmp_path / "new.toml"
    run("api-key", "a", "--file", str(made))
    assert stat.S_IMODE(made.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"[[key]]\nid = 'a'\n", b"\xff"])
def test_a_file_that_does_not_do_stays_as_it_is(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    for words in (("api-key", "a"), ("revoke", "a"), ("list",)):
        with pytest.raises(CredentialsInvalid):
            run(*words, "--file", str(file))
    assert file.read_bytes() == content
    assert list(file.parent.iterdir()) == [file]


def test_what_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    for words in (("list",), ("api-key", "a"), ("revoke", "a")):
        with pytest.raises(CredentialsInvalid, match="cannot"):
            run(*words, "--file", str(tmp_path / "no" / "keys.toml"))
