"""Which of several servers answers slowest, and what its own figures say about why.

A server is named where its 99th percentile is noticeable and twice that of the others; figures are
compared with the median of the others.
"""

from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

from widerow.engine.nodes.work import NodeWork
from widerow.limits import SLOWEST_FACTOR, SLOWEST_MS_MIN

__all__ = ["Figures", "slowest_server"]

_BUSY_CORES: Final = 0.9  # of the one that a server computes on
_UNEXPLAINED: Final = "its figures do not say why: look at its slow requests"


class Figures(NamedTuple):
    """A server as it is compared with others; `rate`: requests a second."""

    id: bytes
    rate: float
    work: NodeWork


def slowest_server(servers: Sequence[Figures]) -> tuple[bytes, str] | None:
    """The slowest of these and why; None where none stands out, or fewer than two have answered."""
    known = [(each.work.p99_ms, each) for each in servers if each.work.p99_ms is not None]
    if len(known) < 2:
        return None
    p99_ms, worst = max(known, key=lambda pair: pair[0])
    others = [each for _, each in known if each is not worst]
    usual = median([each.work.p99_ms or 0.0 for each in others])
    if p99_ms < max(SLOWEST_MS_MIN, SLOWEST_FACTOR * usual):
        return None
    reasons = [each for each in _reasons(worst, others) if each]
    words = "; ".join(reasons) or _UNEXPLAINED
    return (
        worst.id,
        f"99 of 100 requests took up to {p99_ms:.0f} ms, elsewhere {usual:.0f}: {words}",
    )


def _reasons(worst: Figures, others: Sequence[Figures]) -> tuple[str, ...]:
    """What may be the reason; "" for what is not."""
    work = worst.work
    commit = _above(work.commit_p99_ms, [each.work.commit_p99_ms for each in others], 1.0)
    flight = _above(work.in_flight, [each.work.in_flight for each in others], 8.0)
    rate = _above(worst.rate, [each.rate for each in others], 1.0)
    return (
        f"commits take {commit:.0f} ms" if commit and commit >= (work.p99_ms or 0.0) / 2 else "",
        f"it uses {work.cores:.1f} cores" if (work.cores or 0.0) >= _BUSY_CORES else "",
        f"it gets {rate:.0f} requests a second, more than twice the others'" if rate else "",
        f"{flight:.0f} requests wait in it" if flight else "",
    )


def _above(own: float | None, others: Sequence[float | None], least: float) -> float | None:
    """The figure if it is at least `least` and stands out among the others; else None."""
    known = [each for each in others if each is not None]
    if own is None or own < least or (known and own < SLOWEST_FACTOR * median(known)):
        return None
    return own
