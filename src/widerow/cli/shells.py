"""What a shell and the program know of each other when Tab is pressed."""

from typing import Final

__all__ = ["COMPLETE_VARIABLE", "PROGRAM", "SHELLS"]

PROGRAM: Final = "widerow"
SHELLS: Final = ("bash", "zsh", "fish")
COMPLETE_VARIABLE: Final = "_WIDEROW_COMPLETE"
"""Set by a shell that asks what may stand at its cursor; the command is then not run."""
