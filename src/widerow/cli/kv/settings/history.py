"""`history`: the commands of this shell (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session

__all__ = ["HISTORY"]


def _history(session: Session, given: Arguments) -> str | None:
    first, last = given.number("-from"), given.number("-to")
    count = given.number("-last")
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
    flags=(Flag("-last", "count"), Flag("-from", "number"), Flag("-to", "number")),
)
