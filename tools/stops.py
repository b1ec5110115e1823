"""How long clients stop for each fault of a cluster, and what is lost: a table, and evidence.

    python -m tools.stops --store hbase --times 2
    python -m tools.stops --store postgresql --times 3 --json stops.json
    python -m tools.stops --store hbase --fault 'master killed' --fault 'region split'

Two servers share a database that is started for the run. Writers and readers ask both all the time
(`cluster/ledger.py`), each fault comes some times, and behind each everything is read back. A fault
ends when a write of every key was acknowledged behind it; only then is the next one caused.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random  # noqa: TID251  # seeded: which process is hit must repeat
from typing import Final, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table
from tools.cluster.faults import Fault, Heal, NotCaused, server_faults
from tools.cluster.ledger import Ledger, Outage
from tools.cluster.stores import STORES, NoStore, SharedStore, started
from tools.evidence import record, record_skipped

from widerow.testing.process import WiderowProcess

__all__ = ["main"]

_PATIENCE_SECONDS: Final = 25.0  # a server tries for ten seconds and asks for ten what became of it
_QUIET_SECONDS: Final = 1.0  # before a fault and behind it
_RECOVERY_SECONDS_MAX: Final = 150.0
_CAUSE_SECONDS_MAX: Final = 100.0  # a new region is not split again for a minute
_WRITERS: Final = 3  # with a key of their own, for each server
_LOOK_SECONDS: Final = 0.05
_COLUMNS: Final = (
    *("fault", "times", "any key, s", "slowest key, s", "acknowledged", "refused", "unknown"),
    *("lost", "doubled", "torn"),
)


class Stop(NamedTuple):
    """What one kind of fault did, over all its times. Times are the longest, in seconds."""

    fault: str
    times: int
    any_key: float
    slowest_key: float
    acknowledged: int
    failed: int
    unknown: int
    lost: int
    doubled: int
    torn: int

    @property
    def wrong(self) -> int:
        """What must be 0."""
        return self.lost + self.doubled + self.torn


class NotRecovered(Exception):
    """Some key could not be written again behind a fault."""


def _await_writes(ledger: Ledger, fault: str) -> None:
    """Wait until every key is written. Raises `NotRecovered`."""
    since = time.monotonic()
    while not ledger.all_since(since):
        if time.monotonic() > since + _RECOVERY_SECONDS_MAX:
            told = f"{fault}: a key is not written again for {_RECOVERY_SECONDS_MAX:.0f} s"
            raise NotRecovered(told)
        time.sleep(_LOOK_SECONDS)


def _once(ledger: Ledger, store: SharedStore, fault: Fault, random: Random) -> Outage:
    """Cause a fault and put it right again, while writers write.

    The servers of the database share its parts evenly when it comes, or all keys would stop with
    the one that has them all after the fault before.

    Raises: `NotCaused`, `NotRecovered`.
    """
    with ledger.running():
        store.even_out()
        _await_writes(ledger, "before any fault")
        time.sleep(_QUIET_SECONDS)
        with ledger.observed() as outage, ExitStack() as ends:
            ends.callback(_caused(fault, random))
            time.sleep(fault.seconds)
            ends.close()
            _await_writes(ledger, fault.name)
            time.sleep(_QUIET_SECONDS)
            seen = outage()
    ledger.verify()
    return seen


def _caused(fault: Fault, random: Random) -> Heal:
    """Cause a fault, and try for long. Raises `NotCaused`."""
    until = time.monotonic() + _CAUSE_SECONDS_MAX
    while True:
        try:
            return fault.begin(random)
        except NotCaused:
            if time.monotonic() > until:
                raise
            time.sleep(_LOOK_SECONDS)


def _each(
    ledger: Ledger, store: SharedStore, faults: Sequence[Fault], options: argparse.Namespace
) -> Iterator[Stop]:
    """The faults one after another, each recorded when it is over. Raises `NotRecovered`."""
    random = Random(options.seed)  # noqa: S311  # no secret
    for fault in track(faults, "faults", disable=not sys.stdout.isatty()):
        begun, name = time.monotonic(), f"stops, {options.store}: {fault.name}"
        before = (ledger.wrongs.lost, ledger.wrongs.doubled, ledger.wrongs.torn)
        try:
            seen = [_once(ledger, store, fault, random) for _ in range(options.times)]
        except NotCaused as error:
            record_skipped(name, f"it could not be caused: {error}")
            continue
        after = (ledger.wrongs.lost, ledger.wrongs.doubled, ledger.wrongs.torn)
        stop = Stop(
            fault.name,
            options.times,
            max(each.any_key for each in seen),
            max(each.slowest_key for each in seen),
            sum(each.acknowledged for each in seen),
            sum(each.failed for each in seen),
            sum(each.unknown for each in seen),
            *(now - then for now, then in zip(after, before, strict=True)),
        )
        _record(name, stop, time.monotonic() - begun, options.seed)
        yield stop


def _record(name: str, stop: Stop, seconds: float, seed: int) -> None:
    record(
        name,
        volume=stop.times,
        unit="faults",
        violations=stop.wrong,
        seconds=seconds,
        seed=seed,
        facts={
            "stop_seconds": round(stop.any_key, 2),
            "slowest_key_seconds": round(stop.slowest_key, 2),
            "acknowledged": stop.acknowledged,
            "failed": stop.failed,
            "unknown": stop.unknown,
        },
    )


def measured(options: argparse.Namespace) -> tuple[list[Stop], Sequence[str]]:
    """The stops, and what was wrong, for people. Raises `NoStore`, `NotRecovered`."""
    with ExitStack() as ends:
        store = ends.enter_context(started(options.store, region_servers=3))
        processes = [
            ends.enter_context(WiderowProcess("--store", store.url)) for _ in range(options.servers)
        ]
        faults = [*server_faults(processes), *reversed(store.faults)]
        if options.fault:
            faults = [fault for fault in faults if fault.name in options.fault]
        ledger = Ledger(
            lambda: [process.endpoint for process in processes],
            writers=_WRITERS,
            patience_seconds=_PATIENCE_SECONDS,
        )
        ledger.create()
        with ledger.running():
            store.prepare()
        stops = list(_each(ledger, store, faults, options))
    return stops, ledger.wrongs.told


def _table(stops: Sequence[Stop]) -> Table:
    table = Table(*_COLUMNS)
    for stop in stops:
        table.add_row(*(f"{each:.1f}" if isinstance(each, float) else str(each) for each in stop))
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 1 where anything was lost, doubled or torn."""
    parser = argparse.ArgumentParser(description="Longest stop of clients for each fault.")
    parser.add_argument("--store", choices=tuple(STORES), default="hbase", help="(%(default)s)")
    parser.add_argument("--times", type=int, default=1, help="of each fault (%(default)s)")
    parser.add_argument("--servers", type=int, choices=(2, 3), default=2, help="(%(default)s)")
    parser.add_argument("--fault", action="append", help="only this one; may be repeated")
    parser.add_argument("--json", type=Path, help="a file for the table as JSON")
    parser.add_argument("--seed", type=int, default=1, help="of what is hit (%(default)s)")
    options = parser.parse_args(arguments)
    try:
        stops, told = measured(options)
    except NoStore as error:
        record_skipped(f"stops, {options.store}", str(error))
        return 0
    except NotRecovered as error:
        print(error, file=sys.stderr)
        return 1
    Console(stderr=True, width=150).print(_table(stops))
    for each in told:
        print(each, file=sys.stderr)
    if options.json is not None:
        options.json.write_text(json.dumps([stop._asdict() for stop in stops], indent=1) + "\n")
    return int(any(stop.wrong for stop in stops))


if __name__ == "__main__":
    sys.exit(main())
