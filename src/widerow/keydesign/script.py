"""Loads for a replay, from a sample of rows or from the history that a server recorded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from widerow.errors import WiderowError
from widerow.keydesign.replay import KeyLoad, ReplayScript
from widerow.keydesign.sample import Access, accesses, kinds
from widerow.keydesign.sketch import RowSample
from widerow.keydesign.spread import range_starts
from widerow.keys.encode import encode_key_value
from widerow.row_files.source import Progress, Source

__all__ = ["Rehearsed", "ScriptInvalid", "Tempo", "recorded_script", "sampled_script"]


class ScriptInvalid(WiderowError):
    """A load that cannot be replayed; the message says why."""


@dataclass(frozen=True, slots=True)
class Tempo:
    """The speed of a replay: write units per second, and its length.

    Rows come at a steady rate in the order of their times or, with `rhythm`, at their times scaled
    to the replay's length. `expected_rows` scales the size of their data.
    """

    units_per_second: float
    seconds: float
    rhythm: bool = False
    expected_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A script, the number of rows behind it, and how its keys are shown."""

    script: ReplayScript
    rows: int
    names: Mapping[bytes, str]


def sampled_script(
    source: Source,
    columns: tuple[str, str | None],
    tempo: Tempo,
    seed: int = 0,
    progress: Progress | None = None,
) -> Rehearsed:
    """A script of a key column and a time column of a source; at least 65,536 rows of it, or all.

    Raises: `FileInvalid`, `ScriptInvalid`.
    """
    key, time = columns
    if tempo.units_per_second <= 0 or tempo.seconds <= 0:
        raise ScriptInvalid("a replay takes some time and some load: both are above 0")
    types = kinds(source, (key,))
    sample = RowSample(seed=seed)
    for access in accesses(source, types, time, progress):
        sample.add(access)
    rows: list[Access] = sorted(sample.rows, key=lambda access: access.time)
    scale = (tempo.expected_rows or sample.seen) / len(rows)
    loads = list(_loads(rows, tempo, scale))
    names = {encode_key_value(row.values[0]): str(row.values[0]) for row in rows}
    pieces = tuple(range_starts([load.key for load in loads]))
    return Rehearsed(ReplayScript(loads, tempo.seconds, pieces), sample.seen, names)


def _loads(rows: Sequence[Access], tempo: Tempo, scale: float) -> Iterator[KeyLoad]:
    """The rows as load: whole units with the sum that the tempo gives."""
    share = tempo.units_per_second * tempo.seconds / len(rows)
    first, last = rows[0].time, rows[-1].time
    for number, row in enumerate(rows):
        place = number / len(rows)
        if tempo.rhythm and last > first:
            place = (row.time - first) / (last - first)
        second = min(place * tempo.seconds, tempo.seconds * (1 - 1e-9))
        units = int((number + 1) * share) - int(number * share)
        count = int((number + 1) * scale) - int(number * scale)
        key = encode_key_value(row.values[0])
        yield KeyLoad(second, key, 0, units, count, int(row.size * scale))


def recorded_script(history: Sequence[Mapping[str, Any]]) -> ReplayScript:
    """A script from the history of a table that `widerow partitions` prints, oldest first.

    The load of an interval is spread evenly over its seconds. Raises: `ScriptInvalid` for a table
    without recorded load.
    """
    if not history:
        raise ScriptInvalid(
            "no load was recorded for this table yet; use it for a minute, or give a sample "
            "with --input"
        )
    start = history[0]["start_s"]
    loads = [load for interval in history for load in _recorded(interval, start)]
    loads.sort(key=lambda load: load.second)
    last = history[-1]
    keys = [load.key for load in loads for _ in range(min(64, load.write_units))]
    seconds = last["start_s"] + last["seconds"] - start
    return ReplayScript(loads, seconds, tuple(range_starts(keys)) if keys else ())


def _recorded(interval: Mapping[str, Any], start: int) -> Iterator[KeyLoad]:
    seconds = interval["seconds"]
    for text, units in interval["bins"]:
        key = bytes.fromhex(text)
        for second in range(seconds):
            part = int(units * (second + 1) / seconds) - int(units * second / seconds)
            if part:
                yield KeyLoad(interval["start_s"] - start + second, key, 0, part)
