"""How far what follows the rows of a table is behind them."""

from typing import NamedTuple

__all__ = ["Lag", "seconds_behind"]


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
