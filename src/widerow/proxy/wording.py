"""A difference of two answers in a sentence that a person understands."""

import json
from collections.abc import Callable
from typing import Final

from widerow.proxy.comparing import AnswerDifference, DifferenceClass
from widerow.proxy.decoding import Tree, jsonable
from widerow.rows.plain_values import Row

__all__ = ["difference_told"]

_VALUE_CHARACTERS_MAX: Final = 120  # of one side; the whole answers stand below
_GRANTED: Final = "200"


def difference_told(found: AnswerDifference) -> str:
    """What differs, and what either side says. One line."""
    return _SENTENCES[found.kind](found)


def _status(found: AnswerDifference) -> str:
    if found.path == "status":
        upstream, other = (
            "granted the request"
            if str(each) == _GRANTED
            else f"refused the request with {str(each) or 'no code'}"
            for each in (found.upstream, found.other)
        )
        return f"The upstream {upstream}; the other {other}."
    at = found.path.rpartition(".")[0] or found.path
    ways = ("succeeded", "failed")
    upstream, other = ways if found.upstream else ways[::-1]
    return f"{at} {upstream} at the upstream and {other} at the other."


def _code(found: AnswerDifference) -> str:
    return (
        f"{_where(found)}both refused: the upstream with {_value(found.upstream)}, "
        f"the other with {_value(found.other)}."
    )


def _message(found: AnswerDifference) -> str:
    return (
        f"{_where(found)}both refused, in other words: the upstream says {_value(found.upstream)}, "
        f"the other {_value(found.other)}."
    )


def _where(found: AnswerDifference) -> str:
    """Of a row of a batch, which one; nothing for the whole request."""
    at = found.path.rpartition(".")[0]
    return f"At {at}, " if at else ""


def _content(found: AnswerDifference) -> str:
    if isinstance(found.upstream, Row) or isinstance(found.other, Row):
        return _sides(found, f"The row at {found.path}")
    return _sides(found, found.path)


def _order(found: AnswerDifference) -> str:
    count = len(found.upstream) if isinstance(found.upstream, list) else "same"
    return f"{found.path} has the same {count} elements at both, in another order."


def _paging(found: AnswerDifference) -> str:
    if isinstance(found.upstream, int) and isinstance(found.other, int):
        if isinstance(found.upstream, bool):
            return _sides(found, f"Whether there is more ({found.path})")
        return (
            f"The page ends after {found.upstream} rows at the upstream and after {found.other} "
            "at the other."
        )
    if found.upstream is None or found.other is None:
        sides = ("the upstream", "the other")
        more, less = sides if found.other is None else sides[::-1]
        return f"{found.path}: {more} says that there is more, and {less} that this is the end."
    return _sides(found, f"Where the next page begins ({found.path})")


def _capacity(found: AnswerDifference) -> str:
    return (
        f"Capacity units ({found.path}): {_value(found.upstream)} at the upstream, "
        f"{_value(found.other)} at the other."
    )


def _field(found: AnswerDifference) -> str:
    return _sides(found, found.path)


def _sides(found: AnswerDifference, what: str) -> str:
    if found.upstream is None:
        return f"{what}: only the other has it, {_value(found.other)}."
    if found.other is None:
        return f"{what}: only the upstream has it, {_value(found.upstream)}."
    return (
        f"{what} is {_value(found.upstream)} at the upstream and {_value(found.other)} "
        "at the other."
    )


def _value(tree: Tree) -> str:
    text = json.dumps(jsonable(tree), ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARACTERS_MAX else f"{text[:_VALUE_CHARACTERS_MAX]} …"


_SENTENCES: Final[dict[DifferenceClass, Callable[[AnswerDifference], str]]] = {
    DifferenceClass.STATUS: _status,
    DifferenceClass.ERROR_CODE: _code,
    DifferenceClass.MESSAGE: _message,
    DifferenceClass.CONTENT: _content,
    DifferenceClass.ORDER: _order,
    DifferenceClass.PAGING: _paging,
    DifferenceClass.CAPACITY: _capacity,
    DifferenceClass.FIELD: _field,
}
