"""What a shell and the program know of each other when Tab is pressed."""

from typing import Final

__all__ = ["COMPLETE_VARIABLE", "PROGRAM", "SHELLS", "shown_script"]

PROGRAM: Final = "widerow"
SHELLS: Final = ("bash", "zsh", "fish")
COMPLETE_VARIABLE: Final = "_WIDEROW_COMPLETE"
"""Set by a shell that asks what may stand at its cursor; the command is then not run."""

_ZSH_END: Final = "compdef _widerow_completion widerow"
# A file of fpath is the body of a function until it has been called once: that call completes, too.
_ZSH_EITHER: Final = """if [[ "${funcstack[1]}" == "_widerow" ]]; then
  _widerow_completion "$@"
else
  compdef _widerow_completion widerow
fi"""


def shown_script(shell: str, script: str) -> str:
    """The script of typer as a shell may be given it: of zsh, by `source` and by `fpath`."""
    if shell == "zsh":
        return script.replace(_ZSH_END, _ZSH_EITHER)
    return script
