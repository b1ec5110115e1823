"""The forms of minimum_should_match that Elasticsearch has (search §4.1)."""

import re
from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule

__all__ = ["required_of"]

_FORM: Final = re.compile(r"(-?[0-9]{1,9})(%?)", re.ASCII)
_CONDITION: Final = re.compile(r"([0-9]{1,9})<(-?[0-9]{1,9})(%?)", re.ASCII)


def required_of(written: str | None, count: int, *, absent: int) -> int:
    """How many of `count` clauses have to match; may be more than `count`.

    `2`; `-1`: all but one; `75%`, rounded down; `-25%`: all but a quarter, rounded down; `3<75%`:
    all of at most 3, else 75 %. Conditions may be repeated, with blanks in between. `absent`: the
    answer where nothing is written. Raises `InvalidRequest` for any other form.
    """
    if written is None:
        return absent
    form = _FORM.fullmatch(written.strip())
    if form is not None:
        return _required(int(form[1]), form[2], count)
    conditions = [_CONDITION.fullmatch(each) for each in written.split()]
    required = count
    if not conditions:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_MINIMUM, value=written[:100])
    for condition in conditions:
        if condition is None:
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_MINIMUM, value=written[:100])
        if count > int(condition[1]):
            required = _required(int(condition[2]), condition[3], count)
    return required


def _required(number: int, percent: str, count: int) -> int:
    amount = count * abs(number) // 100 if percent else abs(number)
    return max(count - amount, 0) if number < 0 else amount
