"""How far what follows the rows of a table is behind them."""

import re
from typing import Final, NamedTuple

__all__ = ["Lag", "owner_of", "seconds_behind"]

_OWNER_ENDS: Final = re.compile("[/:]")  # `INSTANCE/TABLE` or `NAMESPACE:TABLE`


class Lag(NamedTuple):
    """What follows a table has every change that is older than so many seconds.

    `table`: its qualified name. `name`: of the index, or which of its logs it is.
    """

    table: str
    name: str
    seconds: float


def seconds_behind(now_us: int, done_until_us: int) -> float:
    """The lag at a moment of what is done up to another one; 0 where clocks differ by more."""
    return max(0, now_us - done_until_us) / 1e6


def owner_of(qualified: str) -> str:
    """The instance or namespace of a table by its qualified name; "" for a table of none."""
    parts = _OWNER_ENDS.split(qualified, maxsplit=1)
    return parts[0] if len(parts) > 1 else ""
