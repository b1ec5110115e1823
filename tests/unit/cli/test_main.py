"""The table of commands: what is loaded for one, and what is said of those that are none."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from widerow.cli.command import CommandPlace
from widerow.cli.main import app

# What a start of the server must not load: the other commands, and what shows for people.
FOREIGN = {"rich", "readline", "urllib.request", "tablestore", "lark", "numpy"}
ALWAYS = {"main", "answers", "collector", "command", "connection", "shells", "standard_output"}
SERVE = {"serve", "process", "setting_flags"}
SERVING = SERVE | {"serving", "announcing", "console_pages", "systemd"}
PING = {"ping", "names", "profiles"}


@pytest.mark.parametrize(
    ("words", "runs", "later", "own"),
    [
        (["serve", "--memory"], "widerow.cli.serve.SERVE", "", SERVE),
        (["serve", "--memory"], "widerow.cli.serve.SERVE", "widerow.cli.serving", SERVING),
        (["ping", "--timeout", "1"], "widerow.cli.ping.PING", "", PING),
    ],
)
def test_a_start_loads_no_other_command_and_nothing_for_people(
    words: list[str], runs: str, later: str, own: set[str]
) -> None:
    """`later`: what the command imports when it runs."""
    module, _, name = runs.rpartition(".")
    script = (
        f"import sys, {module} as module\n"
        f"{later and f'import {later}'}\n"
        f"module.{name}.callback = lambda **_: print(*sys.modules)\n"
        "from widerow.cli.main import run_program\n"
        f"sys.argv = ['widerow', *{words!r}]\n"
        "run_program()\n"
    )
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & FOREIGN
    ours = {each for each in loaded if each.startswith("widerow.cli.")}
    assert ours == {f"widerow.cli.{each}" for each in ALWAYS | own}


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],  # so short that it is written only at the end
        ["env"],
        ["man"],
        ["ts", "help"],
        ["kv", "--create", "--path", "{path}", "help"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("place", ["/dev/full", "a closed pipe"])
def test_output_that_cannot_be_written_is_one_line_and_a_closed_pipe_none(
    words: list[str], place: str, tmp_path: Path
) -> None:
    script = [sys.executable, "-m", "widerow", *(w.format(path=tmp_path / "s") for w in words)]
    if place == "/dev/full":
        output = os.open(place, os.O_WRONLY)
    else:
        reading, output = os.pipe()
        os.close(reading)
    try:
        done = subprocess.run(script, stdout=output, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603  # our own words
    finally:
        os.close(output)
    said = [line for line in done.stderr.splitlines() if "made a new store" not in line]
    full = ["widerow: standard output: No space left on device"]
    assert said == (full if place == "/dev/full" else [])
    assert done.returncode == 1


def test_a_command_loads_itself_alone() -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from widerow.cli.main import app\n"
        "assert CliRunner().invoke(app, ['serve', '--help']).exit_code == 0\n"
        "print(*(name for name in sys.modules if name.startswith('widerow.cli.')))\n"
    )
    done = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    modules = {each.module for each in app.table.values() if isinstance(each, CommandPlace)}
    assert set(done.stdout.split()) & modules == {"widerow.cli.serve", "widerow.cli.shells"}


def test_help_lists_every_command_with_its_text() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    lines = [line.strip(" │").split(maxsplit=1) for line in shown.splitlines()]
    told = {each[0]: each[1] for each in lines if len(each) == 2 and each[0] in app.table}
    assert set(told) == set(app.table)
    assert all(len(text) > 10 for text in told.values())


def test_a_name_that_is_none_is_answered_with_one_that_is() -> None:
    done = CliRunner().invoke(app, ["searhc"])
    assert done.exit_code == 2
    assert "'search'" in done.output


def test_the_description_of_a_group_says_its_name() -> None:
    done = CliRunner().invoke(app, ["row", "--help"])
    assert "Usage: widerow row " in done.output


def test_a_mistake_is_told_with_the_usage_of_its_command() -> None:
    done = CliRunner().invoke(app, ["row", "scan", "t", "--limit", "few"])
    assert done.exit_code == 2
    assert "Usage: widerow row scan [OPTIONS] TABLE" in done.output
    assert "Try 'widerow row scan --help' for help." in done.output
    assert "'few' is not a valid integer" in done.output


def test_a_question_that_is_broken_off_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**_: object) -> None:
        raise KeyboardInterrupt

    version = app.get_command(click.Context(app), "version")
    monkeypatch.setattr(version, "callback", interrupt)
    assert CliRunner().invoke(app, ["version"]).exit_code == 130
