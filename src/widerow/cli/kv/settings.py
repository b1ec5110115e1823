"""Commands about the shell itself: store, namespace, paging, timing, history, exit (cli §6)."""

from collections.abc import Callable
from typing import Final

from widerow.cli.kv.command import Command, missing_argument, number_of, refuse_both
from widerow.cli.kv.faults import ArgumentFault, CommandFault
from widerow.cli.kv.session import Session
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.names import DEFAULT_NAMESPACE, same_name

__all__ = ["CONNECT", "EXIT", "HISTORY", "NAMESPACE", "PAGE", "QUIT", "TIMER", "VERBOSE"]

_SERVER_FLAGS: Final = ("-host", "-port")
_SWITCH_WORDS: Final = {"on": True, "off": False}
_PAGE_LIMIT: Final = 1_000_000  # lines; the height of a page is less


def _check_connect(_: Session, given: Arguments) -> None:
    if given.words and given.words[0].lower() != "store":
        raise ArgumentFault(given.words[0])
    if given.has("-path") or given.has("-endpoint"):
        refuse_both(given, "-path", "-endpoint")
        refuse_both(given, "-path" if given.has("-path") else "-endpoint", "-host")
    elif not all(given.has(flag) for flag in _SERVER_FLAGS):
        raise missing_argument("-path | -endpoint | -host and -port", "connect")


def _connect(session: Session, given: Arguments) -> str:
    path = given.get("-path") or given.get("-endpoint")
    if path is None:
        path = f"http://{given.need('-host')}:{given.need('-port')}"
    store = session.reopen(path)
    session.store.close()
    session.store = store
    session.namespace = ""
    return f"Connected to the {'store in' if given.has('-path') else 'server at'} {path}."


CONNECT: Final = Command(
    name="connect",
    shortest=4,
    description=(
        "Uses the store in another directory, or a server by its URL or its host and port, with\n"
        "the key of the environment. Tables that were built here are kept."
    ),
    run=_connect,
    flags=(
        ShellFlag("-path", "directory"),
        ShellFlag("-endpoint", "url"),
        ShellFlag("-host", "host"),
        ShellFlag("-port", "port"),
        ShellFlag("-name", "store"),
    ),
    takes=(0, 1),
    words="[store]",
    check=_check_connect,
)


def _namespace(session: Session, given: Arguments) -> str:
    if given.words:
        (wanted,) = given.words
        held = [DEFAULT_NAMESPACE, *session.store.namespaces()]
        found = next((name for name in held if same_name(name, wanted)), None)
        if found is None:
            raise CommandFault(f"Namespace does not exist: {wanted}")
        session.namespace = "" if found == DEFAULT_NAMESPACE else found
    return f"Namespace is {session.namespace or DEFAULT_NAMESPACE}"


NAMESPACE: Final = Command(
    name="namespace",
    shortest=4,
    description="Says which namespace is in use, or uses another one.",
    run=_namespace,
    takes=(0, 1),
    words="[name]",
)


def _page(session: Session, given: Arguments) -> str:
    word = given.words[0].lower() if given.words else "on"
    if word == "off":
        session.paging = False
        return "Paging mode is now off"
    if word == "on":
        session.page = None
    elif word.isascii() and word.isdigit() and 0 < int(word) < _PAGE_LIMIT:
        session.page = int(word)
    else:
        raise ArgumentFault(given.words[0])
    session.paging = True
    return f"Paging mode is now on, height: {session.page_height}"


PAGE: Final = Command(
    name="page",
    shortest=3,
    description=(
        "Shows long results a page at a time: as high as the terminal, or so many lines.\n"
        "Only where there is a terminal."
    ),
    run=_page,
    takes=(0, 1),
    words="[on | <lines> | off]",
)


def _switch(
    name: str, shortest: int, description: str, run: Callable[[Session, Arguments], str]
) -> Command:
    return Command(name, description, run, takes=(0, 1), shortest=shortest, words="[on | off]")


def _switched(given: Arguments, *, current: bool) -> bool:
    """The new state of a switch: the one that the word names, or without a word the other one."""
    if not given.words:
        return not current
    wanted = _SWITCH_WORDS.get(given.words[0].lower())
    if wanted is None:
        raise ArgumentFault(given.words[0])
    return wanted


def _timer(session: Session, given: Arguments) -> str:
    session.timing = _switched(given, current=session.timing)
    return f"Timer is now {'on' if session.timing else 'off'}"


def _verbose(session: Session, given: Arguments) -> str:
    session.verbose = _switched(given, current=session.verbose)
    return f"Verbose mode is now {'on' if session.verbose else 'off'}"


TIMER: Final = _switch("timer", 3, "Says after each command how long it took, or not.", _timer)
VERBOSE: Final = _switch(
    "verbose", 4, "Says more where there is more to say, or not; alone it changes over.", _verbose
)


def _history(session: Session, given: Arguments) -> str | None:
    first, last = number_of(given, "-from"), number_of(given, "-to")
    count = number_of(given, "-last")
    shown = list(enumerate(session.history, 1))
    if count is not None:
        shown = shown[max(0, len(shown) - count) :]
    lines = [
        f"{number} {line}"
        for number, line in shown
        if (first is None or number >= first) and (last is None or number <= last)
    ]
    return "\n".join(lines) or None


HISTORY: Final = Command(
    name="history",
    shortest=3,
    description="Shows the commands of this shell with their numbers.",
    run=_history,
    flags=(ShellFlag("-last", "count"), ShellFlag("-from", "number"), ShellFlag("-to", "number")),
)


def _exit(session: Session, _: Arguments) -> None:
    session.finished = True


EXIT: Final = Command(
    name="exit", shortest=2, description="Leaves the shell. So does Control-D.", run=_exit
)
QUIT: Final = Command(name="quit", shortest=2, description=EXIT.description, run=_exit)
