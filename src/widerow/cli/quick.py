"""Command lines that need nothing but to be run: `serve` and `ping`, with flags and no mistakes.

Typer, and what it brings, takes as long to load as everything that serving needs below the store,
and a health check runs every few seconds. So the plain command lines of these two are read here,
and whatever else there is, help and mistakes too, is left to typer. What is read here is what typer
would have read.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

__all__ = ["plain_flags", "quick_run"]

_Run = Callable[[Mapping[str, Any]], int]


class _Quick(NamedTuple):
    run: _Run
    texts: frozenset[str]
    switches: frozenset[str]


def quick_run(words: Sequence[str]) -> Callable[[], int] | None:
    """What runs this command line and gives its exit code, or None for typer to read it."""
    if not words or words[0] not in _COMMANDS:
        return None
    command = _COMMANDS[words[0]]()
    flags = plain_flags(words[1:], command.texts, command.switches)
    return None if flags is None else lambda: command.run(flags)


def plain_flags(
    words: Sequence[str], texts: frozenset[str], switches: frozenset[str]
) -> dict[str, Any] | None:
    """The flags by name: `--name value`, `--name=value`, and switches, which are True.

    The last of several counts. None for anything else: an unknown flag, a word that is no flag, a
    value that is missing, empty or could be a flag.
    """
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        flag, is_joined, value = word.partition("=")
        name = flag[2:].replace("-", "_")
        if not flag.startswith("--") or flag != "--" + name.replace("_", "-"):
            return None
        if name in switches and not is_joined:
            found[name] = True
            continue
        if not is_joined:
            value = next(rest, "")
        if name not in texts or not value or value.startswith("-"):
            return None
        found[name] = value
    return found


def _serve() -> _Quick:
    from widerow.cli.setting_flags import METAVARS  # noqa: PLC0415  # only this command
    from widerow.server.settings import DESCRIPTIONS  # noqa: PLC0415  # same

    texts = frozenset(name for name in DESCRIPTIONS if name in METAVARS)
    run: _Run = import_module("widerow.cli.serve").run_server
    return _Quick(run, texts | {"config"}, frozenset(DESCRIPTIONS) - texts)


def _ping() -> _Quick:
    from widerow.cli.ping import (  # noqa: PLC0415  # only this command
        PING_SWITCHES,
        PING_TEXTS,
        ping_server,
    )

    return _Quick(ping_server, PING_TEXTS, PING_SWITCHES)


_COMMANDS: Final[Mapping[str, Callable[[], _Quick]]] = {"serve": _serve, "ping": _ping}
