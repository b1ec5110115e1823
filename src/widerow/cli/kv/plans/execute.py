"""`plan execute`: run a plan that was made with -noexecute, or was cut off (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.plans.choose import CHOICE, one_chosen
from widerow.cli.kv.plans.run import chosen, resume
from widerow.cli.kv.session import Session

__all__ = ["EXECUTE"]


def _execute(session: Session, given: Arguments) -> str:
    return resume(session, chosen(session, given), wait=given.has("-wait"))


EXECUTE: Final = Command(
    name="execute",
    shortest=4,
    description="Runs a plan that was not run yet, or was interrupted or failed.",
    run=_execute,
    flags=(*CHOICE, Flag("-wait")),
    check=one_chosen("execute"),
    strange="Invalid argument",
)
