"""How long a server needs to be back after a kill, with much data and a long log to read again.

The store is filled once. Each round overwrites part of it, so that up to a memtable of changes is
in the log alone, kills the server, and takes the time from exec to the line that says it answers.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, so that a run can be repeated
from statistics import quantiles
from typing import Final

from tests.support.buffers import cell, row_buffer
from tests.support.http import Sender, Wire
from tests.support.requests import ANY
from tools.crash.clients import TABLE, ServerWrong, read_everything

from widerow.testing.process import WiderowProcess
from widerow.wire.tablestore import messages as m

__all__ = ["RESTART_SECONDS_MAX", "Outcome", "run_restarts"]

RESTART_SECONDS_MAX: Final = 3.0
"""What 99 of 100 restarts must stay below, with a store of 1 GB."""

_MIB: Final = 1024 * 1024
_VALUE_BYTES: Final = 32 * 1024
_BATCH_ROWS: Final = 100
_ROUND_BYTES: Final = 80 * _MIB  # more than a memtable, so the log is of every length at the kill


@dataclass
class Outcome:
    """What a run came to."""

    megabytes: int = 0  # of files, at the end
    log_megabytes: float = 0.0  # of logs at a kill, at most
    starts: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)  # seconds of processor time of each start
    lost: int = 0

    @property
    def p50(self) -> float:
        """Seconds."""
        return quantiles(self.starts, n=100, method="inclusive")[49]

    @property
    def p99(self) -> float:
        """Seconds."""
        return quantiles(self.starts, n=100, method="inclusive")[98]


def run_restarts(
    place: Path,
    kills: int,
    *,
    megabytes: int,
    seed: int,
    tell: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Fill a store in `place` with so much data, then kill its server and time its return."""
    chance = Random(seed)  # noqa: S311  # no secret
    outcome = Outcome()
    rows = megabytes * _MIB // _VALUE_BYTES
    process = WiderowProcess("--path", str(place), "--log-level", "critical")
    process.start()
    try:
        read_everything(process.endpoint)
        _write(process.endpoint, iter(range(rows)), chance)
        for kill in range(kills):
            sample = {number: _value(chance) for number in chance.sample(range(rows), 5)}
            _write(process.endpoint, _some(chance, rows), chance)
            _put(process.endpoint, sample)
            process.kill()
            logs = sum(file.stat().st_size for file in place.glob("*.log"))
            outcome.log_megabytes = max(outcome.log_megabytes, round(logs / _MIB, 1))
            begun = time.perf_counter()
            process.start()
            outcome.starts.append(time.perf_counter() - begun)
            outcome.worked.append(_processor_seconds(process.pid))
            outcome.lost += _missing(process.endpoint, sample)
            tell(kill + 1)
    finally:
        process.stop()
    outcome.megabytes = sum(file.stat().st_size for file in place.iterdir()) // _MIB
    return outcome


def _processor_seconds(pid: int) -> float:
    """What a process has used of the processors; on a busy machine the fairer measure."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _some(chance: Random, rows: int) -> Iterator[int]:
    """The rows of one round: a part of the store of random length, somewhere."""
    count = min(rows, chance.randrange(1, _ROUND_BYTES // _VALUE_BYTES))
    first = chance.randrange(rows - count + 1)
    return iter(range(first, first + count))


def _value(chance: Random) -> bytes:
    return chance.randbytes(_VALUE_BYTES)


def _write(endpoint: str, numbers: Iterator[int], chance: Random) -> None:
    values: dict[int, bytes] = {}
    for number in numbers:
        values[number] = _value(chance)
        if len(values) == _BATCH_ROWS:
            _put(endpoint, values)
            values.clear()
    if values:
        _put(endpoint, values)


def _put(endpoint: str, values: dict[int, bytes]) -> None:
    rows = [
        m.RowInBatchWriteRowRequest(
            type=1, row_change=row_buffer(_key(number), [cell("v", value)]), condition=ANY
        )
        for number, value in values.items()
    ]
    batch = m.TableInBatchWriteRowRequest(table_name=TABLE, rows=rows)
    body = m.BatchWriteRowRequest(tables=[batch]).SerializeToString()
    with Wire(endpoint) as wire:
        answer = wire.ask(Sender().request("BatchWriteRow", body))
    if answer.status != 200:
        raise ServerWrong(f"BatchWriteRow was answered {answer.error}")


def _missing(endpoint: str, sample: dict[int, bytes]) -> int:
    """How many of these rows are not as they were acknowledged."""
    with Wire(endpoint) as wire:
        count = 0
        for number, value in sample.items():
            body = m.GetRowRequest(
                table_name=TABLE, primary_key=row_buffer(_key(number)), max_versions=1
            ).SerializeToString()
            count += value not in wire.ask(Sender().request("GetRow", body)).body
    return count


def _key(number: int) -> tuple[tuple[str, str], tuple[str, int]]:
    return ("k", f"data/{number // 100}"), ("n", number)
