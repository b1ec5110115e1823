"""`widerow completion`: the scripts that let shells complete commands and flags."""

import sys
from typing import Final

import click
from click.shell_completion import get_completion_class

from widerow.cli.command import Given, Positional, command

__all__ = ["COMPLETE_VARIABLE", "COMPLETION", "PROGRAM_NAME"]

PROGRAM_NAME: Final = "widerow"
COMPLETE_VARIABLE: Final = "_WIDEROW_COMPLETE"
"""Set by a shell that asks what may stand at its cursor; the command is then not run."""

_SHELLS: Final = ("bash", "zsh", "fish")


def _completion(shell: str, _: Given) -> None:
    if shell not in _SHELLS:
        raise click.BadParameter(f"{shell} is none of {', '.join(_SHELLS)}")
    root = click.get_current_context().find_root().command
    made = get_completion_class(shell)
    assert made is not None, "click knows these shells"
    sys.stdout.write(made(root, {}, PROGRAM_NAME, COMPLETE_VARIABLE).source() + "\n")


COMPLETION: Final = command(
    _completion,
    Positional(
        "shell",
        "SHELL",
        "bash, zsh or fish.",
        offered=lambda _, begun: [each for each in _SHELLS if each.startswith(begun)],
    ),
    examples="""
`source <(widerow completion bash)` — for this shell; put it into ~/.bashrc for all
`widerow completion zsh > ~/.zfunc/_widerow` — with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
`widerow completion fish > ~/.config/fish/completions/widerow.fish`
""",
)
