"""Histories of clients of real servers that are killed and paused, recorded (`evidence.py`).

    python -m tools.linearize --histories 200
    python -m tools.linearize --store hbase --servers 2 --disturb --histories 200
    python -m tools.linearize --store postgresql --servers 3 --disturb

With `--store` several servers share a database of their own, which is started for the run: HBase
with three region servers, or PostgreSQL. Beside the histories, writers count on every server, and
what they wrote is read back at the end. With `--disturb` the database has faults all the time
(`cluster/faults.py`): processes killed, regions split, merged and moved, connections ended.
"""

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

from rich.progress import track
from tests.support.linearizability import judge
from tests.support.recording import LONG_PAUSE_SECONDS, PAUSE_SECONDS, Recorder, ServerFaults
from tools.cluster.faults import Fault, disturbed
from tools.cluster.ledger import Ledger, Wrongs
from tools.cluster.stores import STORES, NoStore, SharedStore, started
from tools.evidence import record, record_skipped

__all__ = ["main"]

_ROWS: Final = 8
_PATIENCE_SECONDS: Final = 15.0  # above the ten seconds that a server tries; a server that dies: 12
_BETWEEN_FAULTS: Final = (0.5, 4.0)  # a server over a database takes a second to start
_SHORT_PAUSES: Final = 8  # for each long one
_LEDGER_REST_SECONDS: Final = 0.03  # the histories are to have most of the processors


class _Found(NamedTuple):
    """How many histories were made, what must be 0, and how much there was of everything."""

    histories: int
    violations: int
    facts: Counter[str]


def _histories(recorder: Recorder, options: argparse.Namespace) -> _Found:
    facts: Counter[str] = Counter()
    violations = made = 0
    until = time.monotonic() + 60 * options.minutes
    seeds = range(options.seed, options.seed + options.histories)
    for seed in track(seeds, "histories", disable=not sys.stdout.isatty()):
        if time.monotonic() > until:
            break
        recording = recorder.record(seed, options.operations)
        made += 1
        print(f"history {seed}: {recording.facts()}", file=sys.stderr, flush=True)
        facts.update(recording.facts())
        for finding in judge(recording):
            violations += 1
            told = f"seed {seed} row {finding.row}: nothing explains {finding.operation}"
            print(told, file=sys.stderr)
    return _Found(made, violations, facts)


def _embedded(options: argparse.Namespace) -> _Found:
    """Of one server with a directory of its own."""
    with Recorder(options.clients, _ROWS, faults=ServerFaults()) as recorder:
        return _histories(recorder, options)


def _shared(options: argparse.Namespace) -> _Found:
    """Of several servers over one database. Raises `NoStore`."""
    pauses = (PAUSE_SECONDS,) * _SHORT_PAUSES + (LONG_PAUSE_SECONDS,)
    with ExitStack() as ends:
        store = ends.enter_context(started(options.store, region_servers=3))
        recorder = ends.enter_context(
            Recorder(
                options.clients,
                _ROWS,
                faults=ServerFaults(pauses, _BETWEEN_FAULTS) if options.disturb else None,
                shared=(store.url, options.servers),
                patience_seconds=_PATIENCE_SECONDS,
            )
        )
        ledger = Ledger(
            recorder.endpoints,
            writers=1,
            patience_seconds=_PATIENCE_SECONDS,
            rest_seconds=_LEDGER_REST_SECONDS,
        )
        ledger.create()
        with ledger.running():
            store.prepare()
        faults = store.faults if options.disturb else ()
        with ledger.running(), _disturbed(store, faults, options.seed) as times:
            found = _histories(recorder, options)
        ledger.verify()
    found.facts.update(times)
    found.facts.update({f"ledger {name}": count for name, count in ledger.totals().items()})
    return found._replace(violations=found.violations + _told(ledger.wrongs, found.facts))


@contextmanager
def _disturbed(store: SharedStore, faults: Sequence[Fault], seed: int) -> Iterator[Counter[str]]:
    if not faults:
        yield Counter()
        return
    with disturbed(faults, seed, store.serves) as times:
        yield times


def _told(wrongs: Wrongs, facts: Counter[str]) -> int:
    """Print what is wrong, and count it."""
    for told in wrongs.told:
        print(told, file=sys.stderr)
    facts.update({"lost": wrongs.lost, "doubled": wrongs.doubled, "torn": wrongs.torn})
    return wrongs.total


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Histories of servers under faults, recorded.")
    parser.add_argument("--histories", type=int, default=5, help="how many (%(default)s)")
    parser.add_argument("--operations", type=int, default=2000, help="of each (%(default)s)")
    parser.add_argument("--clients", type=int, default=4, help="at most 8 (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is asked (%(default)s)")
    parser.add_argument("--store", choices=tuple(STORES), help="a database; default: a directory")
    parser.add_argument("--servers", type=int, choices=(2, 3), default=2, help="over --store")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="make no more histories after so long"
    )
    parser.add_argument("--disturb", action="store_true", help="faults of servers and database")
    options = parser.parse_args(arguments)
    if options.disturb and options.store is None:
        parser.error("--disturb needs --store: a server with a directory has faults anyway")
    check = f"linearizability, {options.store}" if options.store else "linearizability"
    begun = time.monotonic()
    try:
        found = _shared(options) if options.store else _embedded(options)
    except NoStore as error:
        record_skipped(check, str(error))
        return 0
    facts = {**found.facts, "clients": options.clients}
    if options.store:
        facts["servers"] = options.servers
    record(
        check,
        volume=found.histories,
        unit="histories",
        violations=found.violations,
        seconds=time.monotonic() - begun,
        seed=options.seed,
        facts=facts,
    )
    return int(bool(found.violations))


if __name__ == "__main__":
    sys.exit(main())
