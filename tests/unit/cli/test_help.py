"""The help of every command has an example, and its examples are commands that exist."""

import re
import shlex
from collections.abc import Iterator

import click

from widerow.cli.command import CliGroup
from widerow.cli.main import app

Command = click.Command


def commands(
    found: Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Command]]:
    """All commands below this one, groups too, by what is typed."""
    if not isinstance(found, CliGroup):
        return
    for name in found.table:
        below = found.get_command(click.Context(found), name)
        assert below is not None
        yield (*words, name), below
        yield from commands(below, (*words, name))


ALL: dict[tuple[str, ...], Command] = dict(commands(app))


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
        depth = 0
        while depth < len(typed) and tuple(typed[: depth + 1]) in ALL:
            depth += 1
        found = ALL[tuple(typed[:depth])] if depth else app
        assert depth or typed[0].startswith("-"), line
        if found.context_settings.get("ignore_unknown_options"):
            continue  # what stands behind it is for itself to read
        below = [each for at, each in ALL.items() if at[:depth] == tuple(typed[:depth])]
        with_default = below if isinstance(found, CliGroup) and found.default else [found]
        known = {
            flag
            for command in with_default  # `widerow search TABLE INDEX` is a query
            for each in command.params
            for flag in (*each.opts, *each.secondary_opts)
        }
        flags = [word.partition("=")[0] for word in typed[depth:] if word.startswith("--")]
        assert [each for each in flags if each not in {*known, "--help", "--"}] == [], line
