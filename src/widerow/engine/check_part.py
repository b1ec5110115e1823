"""What a walk of a store visits (`check.py`), as every table model hands it in."""

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["CheckPart"]


def _complete() -> None:
    """The `close` of a part that needs no check at its end."""


class CheckPart(NamedTuple):
    """A range of keys, and what must hold of each record in it.

    `table`: the name of the table in findings. `visit` is called with each key and record in order,
    and `close` behind the last one. Both raise `StoreDamaged` for what must not be, or what a value
    raises that cannot be decoded: `InvalidRequest`, `ArithmeticError`, `ValueError`.
    """

    table: str
    start: bytes
    stop: bytes
    visit: Callable[[bytes, bytes], None]
    close: Callable[[], None] = _complete
