"""What the shell remembers between two commands, and which store it works on."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from widerow import nosql
from widerow.cli.kv.server import open_server
from widerow.cli.places import require_parent, require_store
from widerow.cli.progress import row_bar
from widerow.clock import Clock
from widerow.errors import StoreLocked
from widerow.model.typed.table import TypedTable
from widerow.server.settings import SettingsInvalid
from widerow.storage.opener import store_directory

if TYPE_CHECKING:
    from widerow.client.nosql_store import ServerStore, ServerTable
    from widerow.nosql import TableHandle, TypedStore

__all__ = [
    "Level",
    "Mode",
    "Named",
    "Screen",
    "Session",
    "ShellStore",
    "ShellTable",
    "Staged",
    "counting",
    "open_target",
]

ShellStore: TypeAlias = "TypedStore | ServerStore"
"""A store of this process, or the tables of a server."""

ShellTable: TypeAlias = "TableHandle | ServerTable"
"""A table of either."""

_MAKE_NEW: Final = "widerow kv --create --path DIR makes a new one"
_DEFAULT_PAGE_HEIGHT: Final = 24  # lines, where no terminal can be asked


class Named(Protocol):
    """A command. This module needs its name only; `command.understood` returns whole commands."""

    @property
    def name(self) -> str:
        """The word that is typed to call the command."""
        ...


class Screen(Protocol):
    """The terminal on which long results are shown page by page."""

    @property
    def height(self) -> int:
        """The number of lines that fit on a page."""
        ...

    def more(self, prompt: str) -> bool:
        """Show `prompt` and wait for an answer; False if the reader wants no further page."""
        ...


class Level(ABC):
    """The thing that the commands of a mode put together: a table, a row, or a part of one."""

    @abstractmethod
    def finish(self, session: "Session") -> str | None:
        """Check the thing and hand it over; returns the text to print.

        Raises a fault or an error of the store if the thing is not valid; then nothing was handed
        over.
        """


@dataclass(slots=True)
class Mode:
    """The commands that are understood, and the thing that they work on.

    `prompt` is the part of the prompt that stands for this mode. `level` is None outside of the
    modes that put something together. `after` is called after each command that succeeded.
    """

    prompt: str
    commands: Sequence[Named]
    level: Level | None = None
    after: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Staged:
    """A table definition that was built in the shell and that no plan has carried out yet (cli §2).

    `before` is the definition that `table` changes; None for a new table.
    """

    table: TypedTable
    before: TypedTable | None = None


@dataclass(slots=True)
class Session:
    """The state of one shell.

    `write` prints a line. `modes` holds the top mode first and the innermost mode last. `reopen`
    opens another store, or a server by its URL, for `connect`. `page` is the height of a page in
    lines, None for the height of the screen. `depth` counts the scripts that load each other.
    `value` is the result of the command for the `-json` switch; None stands for the printed text.
    `result_form` and `pretty`: how rows of queries are shown (`results.RESULT_FORMS`); `collects`:
    they are the `value` instead.
    """

    store: ShellStore
    clock: Clock
    write: Callable[[str], None]
    modes: list[Mode]
    reopen: Callable[[str], ShellStore]
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
    result_form: str = "JSON"
    pretty: bool = False
    collects: bool = False
    value: Any = None

    @property
    def mode(self) -> Mode:
        """The innermost mode."""
        return self.modes[-1]

    def finish_mode(self) -> str | None:
        """Finish the level of the innermost mode and leave the mode; returns the text to print."""
        level = self.mode.level
        assert level is not None
        answer = level.finish(self)
        self.modes.pop()
        return answer

    @property
    def prompt(self) -> str:
        """The text before a line that is typed: the names of the modes that were entered."""
        inner = [mode.prompt for mode in self.modes[1:]]
        return f"{'.'.join(inner) if inner else self.modes[0].prompt}-> "

    @property
    def page_height(self) -> int:
        """The number of lines of a result on one page."""
        if self.page is not None:
            return self.page
        return self.screen.height if self.screen is not None else _DEFAULT_PAGE_HEIGHT

    def qualified(self, name: str, namespace: str | None = None) -> str:
        """The full name of a table: `[namespace:]name`, in the session's namespace by default."""
        space = self.namespace if namespace is None else namespace
        return name if ":" in name or not space else f"{space}:{name}"

    def show(self, lines: Iterable[str]) -> int:
        """Print lines, page by page where there is a screen; returns the number printed."""
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


def open_target(path: str, *, create: bool = False) -> ShellStore:
    """Open the store in a directory, or work through the server of a URL.

    With `create` the directory is made, its parent directory is not.

    Raises: `StoreLocked`, without waiting, if another process has the store open;
    `SettingsInvalid` if `path` is not the name of a directory, or there is no store in it; the
    errors of opening a store, those of `open_server`.
    """
    if path.startswith(("http:", "https:")):
        return open_server(path, {})
    try:
        if path != "memory:":
            directory = store_directory(path)
            if create:
                require_parent(directory)
            else:
                require_store(directory, new=_MAKE_NEW)
        return nosql.open(path)
    except StoreLocked as error:
        raise StoreLocked(
            f"{error.__cause__ or error}. The shell has a store to itself: if a server (widerow "
            "serve) holds this one, work through it, by --endpoint http://HOST:PORT, or stop it "
            "first, and so with another shell; nothing was opened or changed"
        ) from error
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error


@contextmanager
def counting(session: Session, what: str) -> Iterator[Callable[[int], None]]:
    """Show a counter on the terminal during a long command: the caller passes it each new count.

    Nothing is shown where no person watches.
    """
    if session.screen is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with row_bar(what) as tell:
        yield lambda count: tell(0, count)
