"""From lines to commands: continuation, `;`, and going on where a command is not whole (cli §1)."""

from collections.abc import Callable

from widerow.cli.kv.words import scan

__all__ = ["Lines"]


class Lines:
    """Collects lines until they make commands.

    `incomplete` says whether a command lacks an argument that may still follow. With `blank_ends` a
    blank line ends what was begun, as in scripts; a person at a terminal may leave lines blank.
    """

    def __init__(self, incomplete: Callable[[str], bool], *, blank_ends: bool) -> None:
        """Begin with nothing."""
        self._incomplete = incomplete
        self._blank_ends = blank_ends
        self._held: list[str] = []
        self._several = False

    @property
    def pending(self) -> bool:
        """Whether something was begun that a line must end."""
        return bool(self._held)

    def reset(self) -> None:
        """Forget what was begun."""
        self._held = []
        self._several = False

    def take(self, line: str) -> tuple[str, ...]:
        """The commands that this line completes, in order; none while more is needed."""
        stripped = line.strip()
        if stripped.startswith("#") and not scan(self._text()).open_quote:
            return ()
        if not stripped and (not self._held or self._blank_ends):
            return self.end()
        if self._continued(stripped):
            self._held.append(stripped[:-1])
            return ()
        self._held.append(stripped)
        return self._completed()

    def end(self) -> tuple[str, ...]:
        """The commands that were begun, as if a `;` ended them."""
        commands = scan(self._text()).commands
        self.reset()
        return commands

    def _text(self) -> str:
        return "\n".join(self._held)

    def _continued(self, line: str) -> bool:
        """Whether the line ends in a backslash that is no part of a comment."""
        if not line.endswith("\\"):
            return False
        found = scan("\n".join((*self._held, line)))
        return bool(found.commands) and found.commands[-1].endswith("\\")

    def _completed(self) -> tuple[str, ...]:
        found = scan(self._text())
        if not found.commands:
            self.reset()
            return ()
        if found.ended:
            self.reset()
            return found.commands
        if not self._several and not found.open_quote and len(found.commands) == 1:
            (command,) = found.commands
            if not self._incomplete(command):
                self.reset()
                return found.commands
        self._several = True
        return ()
