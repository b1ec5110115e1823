"""The rates of failures between a process and a database across a network."""

from typing import Final, NamedTuple

from widerow.clock import Entropy

__all__ = ["CALM", "Weather", "happens"]


class Weather(NamedTuple):
    """The rate of each failure, from 0 to 1."""

    refused: float = 0.0
    busy: float = 0.0
    unknown: float = 0.0
    cut: float = 0.0


CALM: Final = Weather()


def happens(entropy: Entropy, rate: float) -> bool:
    """True in `rate` of all cases."""
    if not 0 < rate < 1:
        return rate >= 1
    return int.from_bytes(entropy.token_bytes(4), "big") < rate * 2**32
