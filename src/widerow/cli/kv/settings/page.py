"""`page`: how many lines of a result are shown at a time (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Session

__all__ = ["PAGE"]


def _page(session: Session, given: Arguments) -> str:
    word = given.words[0].lower() if given.words else "on"
    if word == "off":
        session.paging = False
        return "Paging mode is now off"
    if word == "on":
        session.page = None
    elif word.isascii() and word.isdigit() and 0 < int(word) < 1_000_000:
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
