"""`timer` and `verbose`: what is said beside the answers (cli §6)."""

from collections.abc import Callable
from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Session

__all__ = ["TIMER", "VERBOSE"]

_WORDS: Final = {"on": True, "off": False}


def _wanted(given: Arguments, *, now: bool) -> bool:
    """On or off; without a word the other one."""
    if not given.words:
        return not now
    wanted = _WORDS.get(given.words[0].lower())
    if wanted is None:
        raise ArgumentFault(given.words[0])
    return wanted


def _timer(session: Session, given: Arguments) -> str:
    session.timing = _wanted(given, now=session.timing)
    return f"Timer is now {'on' if session.timing else 'off'}"


def _verbose(session: Session, given: Arguments) -> str:
    session.verbose = _wanted(given, now=session.verbose)
    return f"Verbose mode is now {'on' if session.verbose else 'off'}"


def _command(
    name: str, shortest: int, description: str, run: Callable[[Session, Arguments], str]
) -> Command:
    return Command(name, shortest, description, run, takes=(0, 1), words="[on | off]")


TIMER: Final = _command("timer", 3, "Says after each command how long it took, or not.", _timer)
VERBOSE: Final = _command(
    "verbose", 4, "Says more where there is more to say, or not; alone it changes over.", _verbose
)
