"""The rates of failures between a process and a database across a network."""

from typing import Final, NamedTuple

__all__ = ["CALM", "Weather"]


class Weather(NamedTuple):
    """The rate of each failure, from 0 to 1."""

    refused: float = 0.0
    busy: float = 0.0
    unknown: float = 0.0
    cut: float = 0.0


CALM: Final = Weather()
