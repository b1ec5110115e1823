"""The help of every command has an example, and its examples are commands that exist."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from widerow.cli.main import app

Command = Any  # of click, or of typer's copy of it


def commands(
    found: Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Command]]:
    """All commands below this one, groups too, by what is typed."""
    for name in getattr(found, "commands", ()):
        below = found.commands[name]
        yield (*words, name), below
        yield from commands(below, (*words, name))


ROOT: Command = get_command(app)
ALL: dict[tuple[str, ...], Command] = dict(commands(ROOT))


def test_there_are_commands_to_look_at() -> None:
    assert len(ALL) > 50
    assert ("dev", "faults", "remove") in ALL


def test_the_help_of_a_command_has_an_example_of_it() -> None:
    for words, command in ALL.items():
        told = command.epilog or ""
        assert re.match(r"Examples?:", told), words
        typed = words[:1] if words == ("search", "query") else words  # `query` may be left out
        assert f"`widerow {' '.join(typed)}" in told


def test_the_flags_of_the_examples_exist() -> None:
    told = "".join(command.epilog or "" for command in ALL.values())
    for line in re.findall(r"`(widerow [^`]*)`", told):
        typed = shlex.split(line.replace("…", ""))[1:]
        found, depth = ROOT, 0
        while depth < len(typed) and typed[depth] in getattr(found, "commands", ()):
            found = found.commands[typed[depth]]
            depth += 1
        assert depth or typed[0].startswith("-"), line
        if found.context_settings.get("ignore_unknown_options"):
            continue  # what stands behind it is for itself to read
        known = {flag for each in found.params for flag in (*each.opts, *each.secondary_opts)}
        if hasattr(found, "commands"):  # `widerow search TABLE INDEX` is a query
            known |= {f for c in found.commands.values() for p in c.params for f in p.opts}
        flags = [word.partition("=")[0] for word in typed[depth:] if word.startswith("--")]
        assert [each for each in flags if each not in {*known, "--help", "--"}] == [], line
