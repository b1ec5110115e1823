"""`widerow man`: whole, and what man(1) reads."""

import re
import shutil
import subprocess
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from widerow.cli.main import app
from widerow.server.settings import DESCRIPTIONS


@pytest.fixture(scope="module")
def page() -> str:
    done = CliRunner().invoke(app, ["man"])
    assert done.exit_code == 0
    return done.stdout


def plain(page: str) -> str:
    return re.sub(r"\\f[BRI]|\\&", "", page).replace(r"\-", "-")


def paths(group: click.Group, front: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        yield f"{front} {name}"
        if isinstance(found, click.Group):
            yield from paths(found, f"{front} {name}")


def test_every_command_and_setting_is_on_the_page_once(page: str) -> None:
    lines = plain(page).splitlines()
    for path in paths(app, "widerow"):
        assert [each for each in lines if f"{each} ".startswith(f"{path} ")], path
    for name in DESCRIPTIONS:
        term = f"--{name.replace('_', '-')}, WIDEROW_{name.upper()}"
        assert lines.count(term) == 1, term


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_nothing_to_say_about_it(page: str) -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-P-c"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)  # noqa: S603  # of the path
    assert done.stderr == ""
    shown = re.sub(r".\x08", "", done.stdout)
    assert "widerow serve" in shown
    assert "--credentials" in shown
    assert "`" not in shown
