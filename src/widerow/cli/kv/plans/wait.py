"""`plan wait`: say how a plan ended (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.plans.choose import CHOICE, one_chosen
from widerow.cli.kv.plans.run import chosen, ended
from widerow.cli.kv.session import Session

__all__ = ["WAIT"]


def _wait(session: Session, given: Arguments) -> str:
    given.number("-seconds")
    return ended(chosen(session, given))


WAIT: Final = Command(
    name="wait",
    shortest=3,
    description=(
        "Says how a plan ended. Plans run in the shell that makes them, so that there is never\n"
        "anything left to wait for, however many -seconds are allowed."
    ),
    run=_wait,
    flags=(*CHOICE, Flag("-seconds", "seconds")),
    check=one_chosen("wait"),
    strange="Invalid argument",
)
