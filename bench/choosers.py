"""Which row a request is about: the distributions of YCSB's core workloads.

`Zipfian` follows Gray and others, "Quickly generating billion-record synthetic databases" (1994),
with YCSB's constant 0.99; ranks are scattered over the rows with a hash, so that popular rows are
not neighbours. `Latest` prefers the rows that were inserted last.
"""

from random import Random  # noqa: TID251  # given by the caller, with a fixed seed
from typing import Final, Protocol

THETA: Final = 0.99
_FNV_OFFSET: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_WORD: Final = 2**64 - 1


class Chooser(Protocol):
    """Says which row comes next."""

    def choose(self, count: int) -> int:
        """A number from 0 to `count` - 1, of that many rows."""
        ...


class Uniform:
    """Every row as likely as every other."""

    def __init__(self, numbers: Random) -> None:
        """Choose by `numbers`."""
        self._numbers = numbers

    def choose(self, count: int) -> int:
        """A number from 0 to `count` - 1."""
        return self._numbers.randrange(count)


class Ranks:
    """Ranks from 0 on, of which rank k is drawn about 1 / (k + 1) ** theta as often as rank 0."""

    def __init__(self, numbers: Random, count: int, theta: float = THETA) -> None:
        """Among `count` ranks. Cost: a sum over all of them, once."""
        self._numbers = numbers
        self._count = count
        self._theta = theta
        self._zeta = sum(1 / rank**theta for rank in range(1, count + 1))
        two = 1 + 0.5**theta
        self._alpha = 1 / (1 - theta)
        self._eta = (1 - (2 / count) ** (1 - theta)) / (1 - two / self._zeta) if count > 2 else 0.0

    def draw(self) -> int:
        """The next rank."""
        share = self._numbers.random()
        if share * self._zeta < 1:
            return 0
        if share * self._zeta < 1 + 0.5**self._theta:
            return min(1, self._count - 1)
        rank = int(self._count * (self._eta * share - self._eta + 1) ** self._alpha)
        return min(rank, self._count - 1)


class Zipfian:
    """A few rows often, most rows seldom, the popular ones all over the table."""

    def __init__(self, numbers: Random, count: int) -> None:
        """Among the first `count` rows."""
        self._ranks = Ranks(numbers, count)

    def choose(self, count: int) -> int:
        """A number from 0 to `count` - 1."""
        return scatter(self._ranks.draw()) % count


class Latest:
    """The later a row was inserted, the likelier it is."""

    def __init__(self, numbers: Random, count: int) -> None:
        """Among the `count` latest rows."""
        self._ranks = Ranks(numbers, count)

    def choose(self, count: int) -> int:
        """A number from 0 to `count` - 1."""
        return max(0, count - 1 - self._ranks.draw())


def scatter(number: int) -> int:
    """The 64-bit FNV-1a hash of a number's eight bytes, lowest first."""
    value = _FNV_OFFSET
    for byte in number.to_bytes(8, "little"):
        value = (value ^ byte) * _FNV_PRIME & _WORD
    return value
