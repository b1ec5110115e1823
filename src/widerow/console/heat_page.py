"""The heat map of a table's keys over time, its hot and unsplittable keys, and what to do."""

import json
from bisect import bisect_right
from itertools import pairwise
from typing import Any, Final

from widerow.console.parts import PageDocument, Visit, address
from widerow.console.places import TablePlace, all_tables, asked_table, sizes_of, table_load_of
from widerow.engine.partitions.document import key_hash, key_text
from widerow.engine.partitions.history import Interval
from widerow.engine.partitions.partitioned_tables import PartitionKey
from widerow.engine.partitions.rules import REMEDIES, PartitionFacts, Report
from widerow.engine.partitions.table_load import INTERVAL_SECONDS
from widerow.keydesign.live import judge_live
from widerow.limits import (
    CONSOLE_HEAT_COLUMNS_MAX,
    CONSOLE_HEAT_ROWS_MAX,
    CONSOLE_HOT_KEYS_MAX,
)
from widerow.pictures.heat import HeatGrid, KeyedLoad, heat_boxes, heat_grid, heat_level
from widerow.pictures.svg import path

__all__ = ["describe_partition", "show_heat"]

_LOADS: Final = ("", "reads", "writes")  # "": both together
_BOUNDED_TYPES: Final = ("STRING", "INTEGER")  # of keys that the page of rows takes as bounds
_WINDOWS: Final = {"10m": 600, "1h": 3600, "6h": 21_600}
_SHORTEST_S: Final = 120
"""The least time that a map shows. It begins with the first load: a young table has wide boxes."""
_WIDTH: Final = 960
_HEIGHT: Final = 400
_CURVE: Final = 0.35  # of levels: keys of low load are to be seen beside a hot one
_KEY_LABELS: Final = 8  # beside the map, and those of hot keys
_TIME_LABELS: Final = 4  # below it: as many as stand apart on a telephone
_LABEL_HEIGHT: Final = 16  # of a label: two must not lie on each other
_ADVISED_BYTES: Final = 10 * 1024**3  # for one partition key value (docs/operating/partitions.md)
_HOT_SHARE: Final = 0.1  # of the table's load: a key with more is worth a look
_BUSIEST: Final = 50  # tables to choose from


def show_heat(visit: Visit) -> PageDocument:
    """The heat map of one table over a window, or tables to choose from.

    `of`: reads or writes only. They are counted by partition; inside one of an interval, they are
    divided among the keys as its load is.

    Costs reading the records of the window: one for each ten seconds that had load.
    """
    if not visit.asked.get("table"):
        return {"choose": _busiest(visit)}
    name = asked_table(visit)
    window = visit.asked.get("window", "10m")
    window = window if window in _WINDOWS else "10m"
    load = visit.asked.get("of", "")
    load = load if load in _LOADS else ""
    until_s = visit.parts.engine_clock.now_us() // 1_000_000
    since_s = until_s - _WINDOWS[window]
    engine = visit.parts.engine
    divided, kind, facts, reports = visit.parts.on_loop(lambda: _look(visit, name))
    intervals = engine.partitions.history(divided, since_s=since_s)
    since_s = max(since_s, min([until_s - _SHORTEST_S, *(each.start_s for each in intervals)]))
    document: PageDocument = {
        "instance": name.instance,
        "table": name.name,
        "model": name.model,
        "window": window,
        "windows": list(_WINDOWS),
        "of": load,
        "loads": list(_LOADS),
        "key": {"name": kind.name, "type": kind.type},
        "thresholds": {
            "split_units": engine.partitions.thresholds.split_units,
            "hot_seconds": engine.partitions.thresholds.hot_seconds,
        },
        "partitions": len(facts),
        "units_per_second": round(sum(each.rate for each in facts), 1),
        **_map(_loads(intervals, load), kind, (since_s, until_s), _hot_of(facts, reports)),
        "hot_keys": _hot_keys(name, kind, facts, reports),
        "reports": [_report(each, kind) for each in reports],
    }
    document["ranges"] = _ranges(name, kind, document["grid"]["keys"])
    document["advice"] = _advice(name, kind, (facts, reports), intervals)
    return document


def _busiest(visit: Visit) -> list[PageDocument]:
    names = all_tables(visit)[:1000]
    sizes = sizes_of(visit, names)
    found = [{**each._asdict(), **sizes[each]} for each in names if each in sizes]
    found.sort(key=lambda each: (-each["units_per_second"], each["instance"], each["name"]))
    return found[:_BUSIEST]


_Look = tuple[Any, PartitionKey, tuple[PartitionFacts, ...], list[Report]]


def _look(visit: Visit, name: TablePlace) -> _Look:
    """A table's partitions, and the problems that no split solves. On the loop."""
    partitions = visit.parts.engine.partitions
    divided, load = table_load_of(visit, name)
    return divided, partitions.partition_key(divided), load.facts(), partitions.reports(divided)


def _label(key: bytes | None, kind: PartitionKey) -> str:
    """An encoded partition key for people: a text unchanged, other values as JSON."""
    text = key_text(key, kind)
    if text is None:
        return "(first)" if key is not None else "(last)"
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)


def describe_partition(facts: PartitionFacts, kind: PartitionKey, whole: float) -> PageDocument:
    """One partition; `whole`: the load of all of them."""
    hottest = facts.top[0] if facts.top else None
    return {
        "start": _label(facts.start or b"", kind) if facts.start else None,
        "end": None if facts.stop is None else _label(facts.stop, kind),
        "rows": facts.rows,
        "bytes": facts.size,
        "read_units_per_second": round(facts.read_rate, 2),
        "write_units_per_second": round(facts.write_rate, 2),
        "share": round(facts.rate / whole, 4) if whole else 0.0,
        "hottest": None if hottest is None else _label(hottest[0], kind),
        "hottest_share": 0.0 if hottest is None else round(hottest[1], 4),
    }


def _loads(intervals: tuple[Interval, ...], load: str) -> list[KeyedLoad]:
    """The units of each interval by key: all, or those of its reads or writes (`show_heat`)."""
    if not load:
        return [(each.start_s, each.bins) for each in intervals]
    found: list[KeyedLoad] = []
    for each in intervals:
        starts = [start for start, _, _ in each.partitions]
        parts = [_part(reads, writes, load) for _, reads, writes in each.partitions]
        bins = [
            (key, units * parts[max(0, bisect_right(starts, key) - 1)]) for key, units in each.bins
        ]
        found.append((each.start_s, bins))
    return found


def _part(reads: int, writes: int, load: str) -> float:
    """The part of a load that is its reads or its writes."""
    units = reads if load == "reads" else writes
    return units / (reads + writes) if reads + writes else 0.0


def _ranges(name: TablePlace, kind: PartitionKey, keys: list[str | None]) -> list[PageDocument]:
    """The ranges of keys of a map's rows, from below, each with the address of its rows.

    `rows` is "" where the page of rows takes no bounds: typed tables, and binary keys.
    """
    known = name.model == "tablestore" and kind.type in _BOUNDED_TYPES
    place = {"instance": name.instance, "table": name.name}
    found = []
    for low, high in pairwise([*keys, None]):
        bounds = {"from": low or "", "to": high or ""}
        found.append(
            {
                "from": low,
                "below": high,
                "rows": address("rows", **place, **bounds) if known else "",
            }
        )
    return found


def _map(
    loads: list[KeyedLoad], kind: PartitionKey, window: tuple[int, int], hot: set[bytes]
) -> PageDocument:
    since_s, until_s = window
    columns = min(CONSOLE_HEAT_COLUMNS_MAX, (until_s - since_s) // round(INTERVAL_SECONDS))
    grid = heat_grid(loads, since_s, until_s, columns=columns, rows=CONSOLE_HEAT_ROWS_MAX)
    return {
        "grid": {
            "starts": list(grid.starts),
            "seconds": grid.seconds,
            "keys": [_label(each, kind) if each else None for each in grid.keys],
            "cells": [[round(units, 2) for units in row] for row in grid.cells],
            "most": round(grid.most, 1),
        },
        "picture": _picture(grid, kind, hot),
    }


def _picture(grid: HeatGrid, kind: PartitionKey, hot: set[bytes]) -> PageDocument:
    """Where the shapes and words of the map are: keys in its height, times in its width."""
    columns, rows, most = len(grid.starts), len(grid.keys), grid.most
    moment = max(1, -(-columns // _TIME_LABELS))
    boxes = heat_boxes(
        [[heat_level(units, most, _CURVE) for units in row] for row in grid.cells],
        [number * _WIDTH // columns for number in range(columns + 1)],
        [_HEIGHT - number * _HEIGHT // rows for number in range(rows + 1)],
    )
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "paths": [{"level": level, "path": path(found)} for level, found in boxes if level],
        "keys": _key_labels(grid, kind, hot),
        "bands": [
            {"y": _HEIGHT - (number + 1) * _HEIGHT // rows, "height": -(-_HEIGHT // rows)}
            for number in range(rows)
        ],
        "in_seconds": moment * grid.seconds < 60,
        "times": [
            {"percent": round(100 * number / columns, 2), "at_ms": grid.starts[number] * 1000}
            for number in range(0, columns, moment)
        ],
    }


def _key_labels(grid: HeatGrid, kind: PartitionKey, hot: set[bytes]) -> list[PageDocument]:
    """Labels of the hot keys, and of as many other rows as there is room for."""
    rows = len(grid.keys)
    step = max(1, -(-rows // _KEY_LABELS))
    wanted = [number for number, key in enumerate(grid.keys) if key in hot]
    wanted += [number for number in range(0, rows, step) if number not in wanted]
    found: dict[int, PageDocument] = {}
    for number in wanted:
        y = _HEIGHT - (2 * number + 1) * _HEIGHT // (2 * rows)
        if all(abs(y - each["y"]) >= _LABEL_HEIGHT for each in found.values()):
            key = grid.keys[number]
            text = _label(key, kind) if key else "(first key)"
            found[number] = {"y": y, "text": text, "is_hot": key in hot}
    return [found[number] for number in sorted(found)]


def _hot_of(facts: tuple[PartitionFacts, ...], reports: list[Report]) -> set[bytes]:
    """Hot keys: reported ones, and those with more than `_HOT_SHARE` of the load."""
    whole = sum(each.rate for each in facts)
    return {each.key for each in reports} | {
        key
        for each in facts
        for key, share in each.top
        if whole and share * each.rate > whole * _HOT_SHARE
    }


def _hot_keys(
    name: TablePlace, kind: PartitionKey, facts: tuple[PartitionFacts, ...], reports: list[Report]
) -> list[PageDocument]:
    """The busiest key values of a table, those that no split can help first."""
    whole = sum(each.rate for each in facts)
    reported = {each.key: each for each in reports}
    units_of = {key: share * each.rate for each in facts for key, share in each.top}
    found = [(key, units_of.get(key, 0.0)) for key in _hot_of(facts, reports)]
    found.sort(key=lambda pair: (pair[0] not in reported, -pair[1], pair[0]))
    return [
        {
            "key": _label(key, kind),
            "hash": key_hash(key),
            "units_per_second": round(units, 1),
            "share": round(units / whole, 4) if whole else 0.0,
            "unsplittable": key in reported,
            "words": reported[key].words if key in reported else "",
            "remedy": REMEDIES[reported[key].reason] if key in reported else "",
            "rows": ""
            if name.model == "timeseries"
            else address("rows", **_rows_of(name, _label(key, kind))),
        }
        for key, units in found[:CONSOLE_HOT_KEYS_MAX]
    ]


def _rows_of(name: TablePlace, key: str) -> dict[str, str]:
    return {"instance": name.instance, "table": name.name, "model": name.model, "k0": key}


def _report(report: Report, kind: PartitionKey) -> PageDocument:
    return {
        "reason": report.reason.value,
        "key": _label(report.key, kind),
        "hash": key_hash(report.key),
        "words": report.words,
        "remedy": REMEDIES[report.reason],
    }


def _advice(
    name: TablePlace,
    kind: PartitionKey,
    known: tuple[tuple[PartitionFacts, ...], list[Report]],
    intervals: tuple[Interval, ...],
) -> PageDocument:
    """The advice about the partition key by the rules of `widerow advise`, from statistics."""
    facts, reports = known
    whole = sum(each.rate for each in facts)
    found = judge_live(
        {
            "instance": name.instance,
            "table": name.name,
            "key": {"name": kind.name, "type": kind.type},
            "partitions": [
                {
                    **describe_partition(each, kind, whole),
                    "append_share": each.append_share,
                    "top_keys": [
                        {"key": _label(key, kind), "share": share} for key, share in each.top
                    ],
                }
                for each in facts
            ],
            "history": [
                {
                    "seconds": each.seconds,
                    "bins": [[key.hex(), units] for key, units in each.bins],
                }
                for each in intervals
            ],
            "reports": [_report(each, kind) for each in reports],
        },
        _ADVISED_BYTES,
    )
    return {
        "verdict": found.verdict.value,
        "reason": found.reason.replace("(hash ", "("),
        "command": f"widerow advise keys --table {name.name} --instance {name.instance}",
    }
