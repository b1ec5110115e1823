"""What a visitor is told when something cannot be done: the service's own words, and a hint.

A row that the console may not write breaks the same rule as one that a client sends, so it is
refused with the same code and message (`wire/tablestore/error_table.py`).
"""

from collections.abc import Callable
from typing import Final

from widerow.console.parts import ConsoleRefused, PageDocument
from widerow.errors import (
    AnyRule,
    Conflict,
    Exhausted,
    InvalidRequest,
    NotFound,
    NotPermitted,
    Rule,
    StorageFailure,
    Unsupported,
    WiderowError,
)
from widerow.wire.tablestore.errors import foreign, hint

__all__ = ["refusal_of", "with_refusal"]

_TITLES: Final = {
    400: "That cannot be done as it stands",
    403: "You may not do that",
    404: "There is nothing here",
    405: "That is not how this page is used",
    409: "Something came in between",
    413: "That is too much at once",
    421: "This server does not answer to that name",
    503: "Not at the moment",
}
_STATUSES: Final = {
    InvalidRequest: 400,
    NotPermitted: 403,
    NotFound: 404,
    Conflict: 409,
    Exhausted: 503,
    Unsupported: 400,
}
_RULED: Final = tuple(_STATUSES)
_LONG: Final = 600  # characters of a message that fit a page


def with_refusal(form: PageDocument, read: Callable[[], PageDocument]) -> PageDocument:
    """A page with what `read` finds; where that is refused, its form as it was filled in, and why.

    `form`: the page without anything found. The refusal stands under `refusal`, as `refusal_of`
    tells it.
    """
    try:
        return form | read()
    except (WiderowError, UnicodeError) as error:
        return form | {"refusal": refusal_of(error)[1]}


def refusal_of(error: Exception) -> tuple[int, PageDocument]:
    """The status, and what a page says: title, code ("" where there is none), words and hint.

    Words of an exception that nobody expected are not shown: they may hold anybody's data.
    """
    if isinstance(error, ConsoleRefused):
        return error.status, _told(error.status, "", str(error), error.hint)
    rule: object = getattr(error, "rule", None)
    if isinstance(error, _RULED) and isinstance(rule, AnyRule) and not isinstance(rule, Rule):
        status = _STATUSES[type(error)]  # of typed tables, whose words are not for one dialect
        return status, _told(status, rule.name.lower(), str(error), "")
    if isinstance(error, (*_RULED, StorageFailure)):
        status, code, message = foreign(error)
        return status, _told(status, code, message, hint(error))
    if isinstance(error, WiderowError):  # what was typed cannot be read; its words say where
        return 400, _told(400, "", str(error), "")
    if isinstance(error, UnicodeError):
        return 400, _told(400, "", "A text is not Unicode.", "Tables store no other texts.")
    return 500, _told(500, "", "The page failed.", "The server's log says where.")


def _told(status: int, code: str, words: str, advice: str) -> PageDocument:
    title = _TITLES.get(status, "Something went wrong")
    return {
        "status": status,
        "title": title,
        "code": code,
        "message": words[:_LONG],
        "hint": advice[:_LONG],
    }
