"""The flags that name a plan that was made before (cli §4)."""

from collections.abc import Callable
from typing import Final

from widerow.cli.kv.command import Arguments, Flag, missing
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Session

__all__ = ["CHOICE", "one_chosen"]

CHOICE: Final = (Flag("-id", "number"), Flag("-last"))


def one_chosen(command: str) -> Callable[[Session, Arguments], None]:
    """The check that exactly one of the two is there."""

    def check(_: Session, given: Arguments) -> None:
        if not given.has("-id") and not given.has("-last"):
            raise missing("-id|-last", command)
        if given.has("-id") and given.has("-last"):
            raise ArgumentFault("-id and -last cannot be used together")

    return check
