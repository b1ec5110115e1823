"""Reading records in JSON: a record that is not as it was written raises `StoreDamaged`.

JSON, so that a person with a dump can read the records that are few: definitions, notes, states.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from widerow.errors import StoreDamaged

__all__ = ["decode_json"]

T = TypeVar("T")

_UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(OverflowError, RecursionError),  # an infinite number, and brackets that are thousands deep
)
_SHOWN: Final = 200  # bytes of a record in a message


def decode_json(
    data: bytes,
    what: str,
    read: Callable[[dict[str, Any]], T],
    *,
    form: int | None,
    whole: bool = False,
) -> T:
    """What `read` makes of a record's fields. `what` names the record in messages, in the singular.

    `form`: the number of the format that the record must have; None for records without one.
    `whole`: `read` pops every field; one that is left is not known, and may change what the others
    mean. Raises `StoreDamaged`. Linear in the record.
    """
    try:
        fields = json.loads(data)
        if form is not None:
            _check_format(fields.pop("format"), form, what, data)
        value = read(fields)
    except _UNREADABLE as error:
        raise StoreDamaged(f"{what} is not readable: {data[:_SHOWN]!r}") from error
    if whole and fields:
        raise StoreDamaged(f"{what} has unknown fields: {sorted(fields)}")
    return value


def _check_format(found: object, form: int, what: str, data: bytes) -> None:
    """Refuse a record of another format; the numbers of formats count up."""
    if found != form:
        is_newer = isinstance(found, int) and found > form
        of = "that a newer version of widerow wrote" if is_newer else "of an unknown format"
        raise StoreDamaged(f"{what} {of}: {data[:_SHOWN]!r}")
