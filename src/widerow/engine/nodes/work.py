"""What a node tells of its work at a beat: how busy it is, and what is furthest behind in it.

Bounded: each figure is one number, and of everything that follows tables the furthest behind of
each kind is told (docs/formats/catalog.md, "Nodes"). Figures that are missing are not known: a
server of an earlier version tells none, and one of a later version may tell others.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from widerow.engine.lag import Lag
from widerow.limits import NODE_LAG_KINDS_MAX, NODE_LAG_NAME_MAX

__all__ = ["NodeWork", "WorstLag", "decode_work", "encode_work", "worst_lags"]


class WorstLag(NamedTuple):
    """What is furthest behind its table of all that is of one kind.

    `table`, `name`: as in `Lag`. `seconds`: how far; None where only `rows` is known: how many
    written rows it has still to take.
    """

    kind: str
    table: str
    name: str
    seconds: float | None = None
    rows: int | None = None


class NodeWork(NamedTuple):
    """How busy a server was in the seconds before a beat; None: not known, or nothing to measure.

    `p99_ms`, `commit_p99_ms`: what 99 of 100 requests and group commits did not exceed, in
    milliseconds. `cores`: seconds of processors used in a second. `in_flight`: requests that are
    not answered yet, `waiting`: plans that wait for the writer.
    """

    p99_ms: float | None = None
    commit_p99_ms: float | None = None
    cores: float | None = None
    in_flight: float | None = None
    waiting: float | None = None
    connections: float | None = None
    memory_bytes: float | None = None
    lags: tuple[WorstLag, ...] = ()


_FIGURES: Final = tuple(name for name in NodeWork._fields if name != "lags")


def worst_lags(lags: Iterable[tuple[str, Lag]]) -> tuple[WorstLag, ...]:
    """Of each kind what is furthest behind, from kinds and lags; the furthest behind first."""
    worst: dict[str, Lag] = {}
    for kind, lag in lags:
        known = worst.get(kind)
        if known is None or lag.seconds > known.seconds:
            worst[kind] = lag
    found = sorted(worst.items(), key=lambda each: -each[1].seconds)
    return tuple([WorstLag(kind, lag.table, lag.name, lag.seconds) for kind, lag in found])


def encode_work(work: NodeWork) -> dict[str, Any]:
    """The work as JSON has it; long names are cut."""
    figures = {name: getattr(work, name) for name in _FIGURES}
    told = {name: round(value, 3) for name, value in figures.items() if value is not None}
    lags = [
        [
            *(each.kind, each.table[:NODE_LAG_NAME_MAX], each.name[:NODE_LAG_NAME_MAX]),
            None if each.seconds is None else round(each.seconds, 3),
            each.rows,
        ]
        for each in work.lags[:NODE_LAG_KINDS_MAX]
    ]
    return {**told, "lags": lags}


def decode_work(fields: dict[str, Any]) -> NodeWork:
    """The work of a record. Raises `ValueError`, `LookupError` or `TypeError`."""
    figures = {name: float(fields[name]) for name in _FIGURES if fields.get(name) is not None}
    lags = [
        WorstLag(
            *(str(kind), str(table), str(name)),
            None if seconds is None else float(seconds),
            None if rows is None else int(rows),
        )
        for kind, table, name, seconds, rows, *_ in fields.get("lags", ())
    ]
    return NodeWork(**figures, lags=tuple(lags))
