"""Refusals for visitors: the service's own message, and a hint.

A row that the console may not write breaks the same rule as one that a client sends, so it is
refused with the same code and message (`wire/tablestore/errors`).
"""

from collections.abc import Callable
from typing import Final

from widerow.console.parts import ConsoleRefused, PageDocument
from widerow.errors import (
    Conflict,
    Exhausted,
    InvalidRequest,
    NotFound,
    NotPermitted,
    StorageFailure,
    Unsupported,
    WiderowError,
)
from widerow.model.typed.rules import TypedRule
from widerow.wire.nosql.rules import NosqlRule
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.tablestore.errors.answers import foreign, hint

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
_OF_TYPED_TABLES: Final = (TypedRule, NosqlRule, StatementRule)
_LONG: Final = 600  # characters of a message that still fit on a page


def with_refusal(form: PageDocument, read: Callable[[], PageDocument]) -> PageDocument:
    """A page with the result of `read`; if that is refused, the filled-in form with the reason.

    `form`: the page without a result. The refusal is the document of `refusal_of` under the name
    `refusal`.
    """
    try:
        return form | read()
    except (WiderowError, UnicodeError) as error:
        return form | {"refusal": refusal_of(error)[1]}


def refusal_of(error: Exception) -> tuple[int, PageDocument]:
    """The status, and the document of a refusal: title, code (or ""), message and hint.

    The message of an unexpected exception is not shown: it may hold data of another client.
    """
    if isinstance(error, ConsoleRefused):
        return error.status, _told(error.status, "", str(error), error.hint)
    if isinstance(error, _RULED) and isinstance(error.rule, _OF_TYPED_TABLES):
        status = _STATUSES[type(error)]  # whose messages are not of Tablestore's dialect
        return status, _told(status, error.rule.name.lower(), str(error), "")
    if isinstance(error, (*_RULED, StorageFailure)):
        status, code, message = foreign(error)
        return status, _told(status, code, message, hint(error))
    if isinstance(error, WiderowError):  # what was typed cannot be read; the message says where
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
