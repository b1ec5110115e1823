"""What the shell remembers between two commands."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from widerow.clock import Clock
from widerow.model.typed.table import TypedTable
from widerow.nosql import Store

__all__ = ["Mode", "Named", "Screen", "Session", "Staged"]

_HEIGHT: Final = 24  # where there is no terminal to ask


class Named(Protocol):
    """A command, of which this module knows no more (`command.understood` gives it whole)."""

    @property
    def name(self) -> str:
        """What is typed for it."""
        ...


class Screen(Protocol):
    """The terminal that long results are paged on."""

    @property
    def height(self) -> int:
        """How many lines it has."""
        ...

    def more(self, prompt: str) -> bool:
        """Show `prompt` and wait; False if the reader has seen enough."""
        ...


@dataclass(slots=True)
class Mode:
    """Which commands are understood, and what they work on.

    `prompt` is its part of the prompt; `level` what its commands make, None at the top. `after` is
    called with the mode when a command of it was done.
    """

    prompt: str
    commands: Sequence[Named]
    level: Any = None
    after: Callable[["Mode"], None] | None = None


@dataclass(frozen=True, slots=True)
class Staged:
    """A definition that was built and not yet added to the store (cli §2).

    `before` is the table it evolves, None for a new one.
    """

    table: TypedTable
    before: TypedTable | None = None


@dataclass(slots=True)
class Session:
    """The state of one shell. `write` prints a line."""

    store: Store
    clock: Clock
    write: Callable[[str], None]
    modes: list[Mode]
    reopen: Callable[[str], Store]
    screen: Screen | None = None
    staged: dict[str, Staged] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    namespace: str = ""
    verbose: bool = False
    timing: bool = False
    page: int | None = None
    paging: bool = True
    finished: bool = False
    depth: int = 0
    value: Any = None

    @property
    def mode(self) -> Mode:
        """The innermost mode."""
        return self.modes[-1]

    @property
    def prompt(self) -> str:
        """What is shown before a line."""
        inner = [mode.prompt for mode in self.modes[1:]]
        return f"{'.'.join(inner) if inner else self.modes[0].prompt}-> "

    @property
    def continuation(self) -> str:
        """What is shown before a line that goes on, as wide as the prompt."""
        return "-> ".rjust(len(self.prompt))

    @property
    def page_height(self) -> int:
        """How many lines of a result are shown at a time."""
        if self.page is not None:
            return self.page
        return self.screen.height if self.screen is not None else _HEIGHT

    def qualified(self, name: str, namespace: str | None = None) -> str:
        """The full name of a table: `[namespace:]name`, in the session's namespace by default."""
        space = self.namespace if namespace is None else namespace
        return name if ":" in name or not space else f"{space}:{name}"

    def show(self, lines: Iterable[str]) -> int:
        """Print many lines, a page at a time where someone watches; how many were printed."""
        height = self.page_height if self.screen is not None and self.paging else 0
        count = 0
        for line in lines:
            if self.screen is not None and height and count and count % height == 0:
                first = count - height + 1
                if not self.screen.more(f"--More--({first}~{count})"):
                    break
            self.write(line)
            count += 1
        return count
