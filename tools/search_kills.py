"""A table with a search index, cut off at random moments: searches are what the table says.

    python -m tools.search_kills --kills 100               # the recorded run, and its control
    python -m tools.search_kills --disk ext4 --cuts 30     # power cuts of a file system (root)

A child process writes, replaces and deletes rows of a table with a search index, single and in
batches, and tells on stdout when a round is durable. Now and then it searches, brings the index up
and writes its files, as the server's thread does. It is killed (SIGKILL) at a random moment, or the
power of its file system is cut (`crash/disks.py`). Then the store is opened with whatever files the
index has, and a search must answer every row of the table, as it is, and no other; the walk of the
store must be clean. Nobody does anything about the index. In the control one record is taken out
of the journal before that, which must be noticed.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.changes import create, delete, put, scan_all
from tests.support.engines import open_tablestore
from tools.crash.disks import why_not
from tools.crash.rounds import powered
from tools.evidence import record, record_skipped
from tools.killing import fraction, live_and_die, live_and_lose_power

from widerow.engine.check import check_store
from widerow.engine.streams.log import LOG_START, record_key, shard_prefix
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, WiderowError
from widerow.keys.encode import after_prefix
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    CreateSearchIndex,
    Search,
)
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.cells import PLAIN_HEADER
from widerow.server.search.files import SearchDirectory
from widerow.server.search.host import ServerSearchHost
from widerow.storage.interface import Store, Transaction
from widerow.storage.opener import open_store
from widerow.system import SystemClock, SystemEntropy

__all__ = ["SearchOutcome", "cut_searches", "kill_searches", "main"]

_WORKLOAD: Final = "searches over a table that is written"
LIFE_SECONDS_MAX: Final = 1.0  # after the child's first round; it writes files every few rounds
KEYS: Final = 400
SCHEMA: Final = SearchSchema(
    (SearchField("s", SearchFieldType.TEXT), SearchField("n", SearchFieldType.LONG))
)


_ALL: Final = Search(
    "t", "x", limit=1000, get_total_count=True, columns=ColumnReturn(ColumnReturnType.ALL)
)


@dataclass(slots=True)
class SearchOutcome:
    """What a run of kills or power cuts showed; `kills` counts either.

    `opened`: how often the index was opened from its files, the rest were built again.
    """

    kills: int = 0
    rounds: int = 0
    rows: int = 0
    opened: int = 0
    damaged: int = 0
    wrong: int = 0
    seconds: float = 0.0

    @property
    def violations(self) -> int:
        """Everything that must be 0."""
        return self.damaged + self.wrong


class _Telling(ServerSearchHost):
    """Notes that an index was built."""

    built = False

    def tell(self, event: str, facts: object) -> None:
        """Whatever is told says `built` but for files that could not be written."""
        del facts
        self.built = self.built or "built" in event


def _engine(directory: Path, store: Store) -> tuple[TablestoreEngine, _Telling]:
    host = _Telling(SearchDirectory(directory), 0)
    engine = open_tablestore(store, SystemClock(), SystemEntropy(), search_host=lambda _: host)
    return engine, host


def _make(engine: TablestoreEngine) -> None:
    with suppress(Conflict):  # it was there
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    if not engine.search.list("i", "t"):
        engine.core.run(engine.search.create("i", CreateSearchIndex("t", "x", SCHEMA)))


def _changes(number: int) -> list[RowChange]:
    """What a round writes, which its number says."""
    return [_change(number * 7 + place) for place in range(1 + number % 4)]


def _change(number: int) -> RowChange:
    key = {"k": number * 31 % KEYS}
    if (number + number // KEYS) % 5 == 0:  # other keys in each turn, so that every change shows
        return delete("t", key)
    return put("t", key, {"s": f"word{number % 17} other", "n": number})


def _work(directory: Path, first: int) -> None:
    """The child: rounds without end."""
    with open_store(str(directory)) as store:
        engine, _ = _engine(directory, store)
        _make(engine)
        number = first
        while True:
            batch = BatchWrite((TableWrite("t", tuple(_changes(number))),))
            engine.core.run(engine.rows.batch_write_row("i", batch))
            if number == first:
                engine.search.work()  # its libraries are loaded before the clock runs
            print(number, flush=True)
            number += 1
            if number % 3 == 0:
                engine.search.work()
            if number % 5 == 0:
                engine.search.search("i", _ALL)
                engine.search.gather()
            if number % 7 == 0:
                engine.search.write_down(all_of_them=True)
            if number % 50 == 0:
                engine.search.merge()
                while (plan := engine.core.housekeeping()) is not None:
                    engine.core.run(plan)


# --- what must be there ---------------------------------------------------------------------------


def _examine(directory: Path, outcome: SearchOutcome, *, control: bool = False) -> None:
    with open_store(str(directory)) as store:
        outcome.damaged += bool(check_store(store))
        engine, host = _engine(directory, store)
        _make(engine)
        if control:
            _lose_records(engine, store)
        bounds = {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX}
        table = [
            PLAIN_HEADER + row for row in engine.rows.get_range("i", scan_all("t", *bounds)).pieces
        ]
        answer = engine.search.search("i", _ALL)
        found = [hit.row for hit in answer.hits]
        outcome.rows = len(table)
        outcome.opened += not host.built
        outcome.wrong += found != table or answer.total != len(table)


def _lose_records(engine: TablestoreEngine, store: Store) -> None:
    """Take all records out of the journal, and say of nothing that it is gone."""
    table = engine.describe_table("i", "t")
    assert table.journal is not None
    for shard in table.journal.shards:
        prefix = shard_prefix(table.id, table.journal.number, shard.number)

        def lose(txn: Transaction, prefix: bytes = prefix) -> None:
            txn.delete_range(record_key(prefix, LOG_START), after_prefix(prefix))

        store.transact((prefix,), lose)


# --- cutting off ----------------------------------------------------------------------------------


def kill_searches(kills: int, seed: int, *, control: bool = False) -> SearchOutcome:
    """Kill a child so many times over one store, and look at everything after each.

    A control ends with the first kill behind which an answer is wrong.
    """
    outcome = SearchOutcome()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "store"
        for kill in range(kills):
            seconds = LIFE_SECONDS_MAX * fraction(seed, kill)
            outcome.rounds = live_and_die(
                _child(directory, outcome.rounds), seconds, outcome.rounds
            )
            _examine(directory, outcome, control=control)
            outcome.kills += 1
            if control and outcome.wrong:
                break
    outcome.seconds = time.monotonic() - began
    return outcome


def cut_searches(cuts: int, seed: int, kind: str) -> SearchOutcome:
    """Cut the power of a file system so many times below a child. `kind` is ext4 or xfs."""
    outcome = SearchOutcome()
    began = time.monotonic()
    with powered(kind) as site:
        for cut in range(cuts):
            seconds = LIFE_SECONDS_MAX * fraction(seed, cut)
            command = _child(site.store, outcome.rounds)
            told = live_and_lose_power(
                command, seconds, outcome.rounds, site.lose_power, dict(os.environ)
            )
            site.restore(cut)
            outcome.kills += 1
            outcome.rounds = told[1]
            try:
                _examine(site.store, outcome)
            except WiderowError as error:
                print(f"after cut {cut + 1}: {error}", file=sys.stderr)
                outcome.damaged += 1
            gc.collect()  # files of indexes are mapped as long as an engine is there
            if outcome.violations:
                break
    outcome.seconds = time.monotonic() - began
    return outcome


def _child(directory: Path, rounds: int) -> list[str]:
    """The command of a child that goes on behind the last round."""
    return [
        sys.executable,
        "-m",
        "tools.search_kills",
        "--child",
        str(directory),
        "--first",
        str(rounds + 1),
    ]


# --- the command ----------------------------------------------------------------------------------


def _record(check: str, run: SearchOutcome, unit: str, seed: int, violations: int) -> int:
    facts = {"rounds": run.rounds, "rows": run.rows, "opened from files": run.opened}
    facts |= {"damaged": run.damaged, "wrong": run.wrong}
    record(
        check,
        volume=run.kills,
        unit=unit,
        violations=violations,
        seconds=run.seconds,
        seed=seed,
        facts=facts,
    )
    return violations


def main() -> int:
    """Run what is asked for; the number of violations."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--child", type=Path)
    reader.add_argument("--first", type=int, default=1)
    reader.add_argument("--kills", type=int, default=0)
    reader.add_argument("--controls", type=int, default=5)
    reader.add_argument("--cuts", type=int, default=0)
    reader.add_argument("--disk", default="ext4")
    reader.add_argument("--seed", type=int, default=1)
    given = reader.parse_args()
    if given.child is not None:
        _work(given.child, given.first)
    wrong = 0
    if given.kills:
        run = kill_searches(given.kills, given.seed)
        wrong += _record(f"{_WORKLOAD}: kill -9", run, "kills", given.seed, run.violations)
        beside = kill_searches(given.controls, given.seed, control=True)
        missed = int(beside.violations == 0)
        wrong += _record("control: a journal loses records", beside, "kills", given.seed, missed)
    if given.cuts:
        reason = why_not(given.disk)
        check = f"{_WORKLOAD}: power cuts, {given.disk}"
        if reason:
            record_skipped(check, reason)
        else:
            run = cut_searches(given.cuts, given.seed, given.disk)
            wrong += _record(check, run, "cuts", given.seed, run.violations)
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main())
