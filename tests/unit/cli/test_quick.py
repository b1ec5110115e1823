"""`widerow serve` and `widerow ping` without typer: what is read, and what is not loaded."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from widerow.cli import ping, serve
from widerow.cli.commands import TOP_COMMANDS
from widerow.cli.main import app
from widerow.cli.quick import plain_flags, quick_run
from widerow.cli.setting_flags import METAVARS
from widerow.server.settings import DESCRIPTIONS

# What a start of the server must not load: the other commands, and what reads and shows for people.
FOREIGN = {"typer", "click", "pydantic", "rich", "readline", "urllib.request", "tablestore", "lark"}
SERVES = {
    "serve",
    "console_pages",
    "systemd",
    "start",
    "quick",
    "ending",
    "setting_flags",
    "shells",
}

values = st.sampled_from(["8087", "a b", "x=y", "1", "keys.toml", "ä", "-1", "--memory", ""])
names = st.sampled_from([*DESCRIPTIONS, "config", "portt", "help", "no_memory"])


@st.composite
def words_of_serve(draw: st.DrawFn) -> list[str]:
    """Flags of `serve` with and without values, in both forms, some of them wrong."""
    found: list[str] = []
    for name in draw(st.lists(names, max_size=4)):
        flag = draw(st.sampled_from(["--", "--", "--", "-"])) + name.replace("_", "-")
        form = draw(st.sampled_from(["alone", "joined", "apart"]))
        value = draw(values)
        found += {"alone": [flag], "joined": [f"{flag}={value}"], "apart": [flag, value]}[form]
    return found


@given(words_of_serve())
@example(["--memory", "--port", "0"])
@example(["--path=data", "--log-level", "debug", "--path", "other"])
def test_what_is_read_is_what_typer_reads(words: list[str]) -> None:
    texts = frozenset(name for name in DESCRIPTIONS if name in METAVARS) | {"config"}
    quick = plain_flags(words, texts, frozenset(DESCRIPTIONS) - texts)
    if quick is None:
        return
    taken: list[dict[str, Any]] = []

    def take(flags: dict[str, Any]) -> int:
        taken.append(flags)
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "run_server", take)
        done = CliRunner().invoke(app, ["serve", *words])
    assert done.exit_code == 0, done.output
    assert {name: value for name, value in taken[0].items() if value is not None} == quick


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("version",),
        ("serve", "--help"),
        ("serve", "--prot", "1"),
        ("serve", "--port"),
        ("serve", "--port", "--memory"),
        ("serve", "--port="),
        ("serve", "--memory=yes"),
        ("serve", "--log_level", "debug"),
        ("serve", "data"),
        ("ping", "--wait"),
        ("servee",),
    ],
)
def test_help_and_mistakes_are_left_to_typer(words: tuple[str, ...]) -> None:
    assert quick_run(words) is None


def test_ping_is_run_with_its_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[dict[str, Any]] = []

    def take(flags: dict[str, Any]) -> int:
        taken.append(dict(flags))
        return 1

    monkeypatch.setattr(ping, "ping_server", take)
    run = quick_run(["ping", "--endpoint", "http://db:1", "--live", "--wait=3"])
    assert run is not None
    assert run() == 1
    assert CliRunner().invoke(app, ["ping", "--endpoint", "http://db:1"]).exit_code == 1
    assert taken[0] == {"endpoint": "http://db:1", "live": True, "wait": "3"}
    assert set(taken[1]) == ping.PING_TEXTS | ping.PING_SWITCHES


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["serve", "--memory"], "widerow.cli.serve.run_server"),
        (["ping", "--timeout", "1"], "widerow.cli.ping.ping_server"),
    ],
)
def test_a_start_loads_no_other_command_and_nothing_for_people(words: list[str], runs: str) -> None:
    module, _, name = runs.rpartition(".")
    script = (
        f"import sys, {module} as module\n"
        f"module.{name} = lambda flags: print(*sys.modules) or 0\n"
        "from widerow.cli.start import run_program\n"
        f"sys.argv = ['widerow', *{words!r}]\n"
        "run_program()\n"
    )
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & FOREIGN
    ours = {each for each in loaded if each.startswith("widerow.cli.")}
    asking = {"ping", "profiles", "connection"}
    assert ours <= {f"widerow.cli.{each}" for each in SERVES | asking}
    if words[0] == "serve":
        assert not ours & {f"widerow.cli.{each}" for each in asking}


def test_a_command_of_typer_loads_itself_alone() -> None:
    script = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from widerow.cli.main import app\n"
        "assert CliRunner().invoke(app, ['serve', '--help']).exit_code == 0\n"
        "print(*(name for name in sys.modules if name.startswith('widerow.cli.')))\n"
    )
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    modules = {place.module for place in TOP_COMMANDS.values()}
    assert set(done.stdout.split()) & modules == {"widerow.cli.serve_command"}


def test_help_lists_every_command_with_its_text() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    lines = [line.strip(" │").split(maxsplit=1) for line in shown.splitlines()]
    told = {each[0]: each[1] for each in lines if len(each) == 2 and each[0] in TOP_COMMANDS}
    assert set(told) == set(TOP_COMMANDS)
    assert all(len(text) > 10 for text in told.values())


def test_a_name_that_is_none_is_answered_with_one_that_is() -> None:
    done = CliRunner().invoke(app, ["searhc"])
    assert done.exit_code == 2
    assert "'search'" in done.output


def test_the_description_of_a_group_says_its_name() -> None:
    done = CliRunner().invoke(app, ["row", "--help"])
    assert "Usage: widerow row " in done.output
