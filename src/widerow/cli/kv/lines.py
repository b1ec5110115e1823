"""From lines to commands: continuation, `;`, and going on where a command is not whole (cli §1)."""

from collections.abc import Callable

from widerow.cli.kv.words import Scanner

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
        self.reset()

    def reset(self) -> None:
        """Forget what was begun."""
        self._scanner = Scanner()
        self._waiting = False  # for a `;`
        self.pending = False  # something was begun that a line must end

    def take(self, line: str) -> tuple[str, ...]:
        """The commands that this line completes, in order; none while more is needed."""
        stripped = line.strip()
        scanner = self._scanner
        if stripped.startswith("#") and not scanner.open_quote:
            return ()
        if not stripped and (not self.pending or self._blank_ends):
            return self.end()
        scanner.feed(f"\n{stripped}" if self.pending else stripped)
        self.pending = True
        if scanner.drop_backslash():
            return ()
        return self.end() if self._complete() else ()

    def end(self) -> tuple[str, ...]:
        """The commands that were begun, as if a `;` ended them."""
        commands = self._scanner.commands
        self.reset()
        return commands

    def _complete(self) -> bool:
        scanner = self._scanner
        if scanner.ended or not scanner.count:
            return True
        if self._waiting or scanner.open_quote or scanner.count > 1:
            self._waiting = True
        else:
            self._waiting = self._incomplete(scanner.commands[0])
        return not self._waiting
