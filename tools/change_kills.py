"""A table with indexes, a stream and local transactions, cut off at random moments.

    python -m tools.change_kills --kills 200               # the recorded run, and its control
    python -m tools.change_kills --disk ext4 --cuts 60     # power cuts of a file system (root)

A child process works on a table with two local and two global indexes and a stream: single rows,
batches, transactions that are committed and some that are aborted, each told on stdout when it is
durable. It is killed (SIGKILL) at a random moment, or the power of its file system is cut
(`crash/disks.py`), and the store is opened. Then the walk of the
store must be clean, which compares every index with the table both ways; the stream must hold
the records of all that was told, in order and once each, and behind them no more than the round
that was under way; of a transaction all or nothing; and replaying the stream must make the table.
In the control of the kills the stream is read without its last record, in the control of the power
cuts the store is never synced. Both must be noticed.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tests.support.answers import decode_answer_rows
from tests.support.changes import create, delete, primary_key, put, put_cells, scan_all, update
from tests.support.engines import open_tablestore
from tools.crash.disks import why_not
from tools.crash.rounds import PLANTED_PATH, powered
from tools.evidence import record, record_skipped
from tools.killing import fraction, live_and_die, live_and_lose_power

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Conflict, WiderowError
from widerow.model.tablestore.requests import BatchWrite, IndexDefinition, StreamChange, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType, Value
from widerow.storage.opener import open_store
from widerow.system import SystemClock, SystemEntropy

__all__ = ["Outcome", "cut_many", "kill_many", "main"]

LIFE_SECONDS_MAX: Final = 0.15  # after the child's first round; a round takes about a millisecond
KEYS: Final = 7  # rows of a partition key value
EXTENSION_BYTES: Final = 29  # of a record: its position, before the row checksum
MIN, MAX = KeyMarker.INF_MIN, KeyMarker.INF_MAX
Told = tuple[int, tuple[str, int], Any]  # action, key, columns


@dataclass(slots=True)
class Outcome:
    """What a run of kills or power cuts showed; `kills` counts either.

    `raced`: a round was told while the power went, and lost. Nobody had read of it before.
    """

    kills: int = 0
    rounds: int = 0
    records: int = 0
    damaged: int = 0
    wrong_streams: int = 0
    wrong_tables: int = 0
    raced: int = 0
    seconds: float = 0.0

    @property
    def violations(self) -> int:
        """Everything that must be 0."""
        return self.damaged + self.wrong_streams + self.wrong_tables


# --- the work -------------------------------------------------------------------------------------


def _changes(number: int) -> list[RowChange]:
    """What a round does, which its number says: a row, a batch, or a transaction on one key."""
    wanted = 1 if number % 3 == 0 else 4
    partition = f"p{number % 5}"
    return [_change(partition, number * 3 + place) for place in range(wanted)]


def _change(partition: str, number: int) -> RowChange:
    key: dict[str, KeyInput] = {"p": partition, "n": number % KEYS}
    if number % 4 == 3:
        return delete("t", key)
    columns: dict[str, Value] = {"c": f"c{number % 11}", "d": number % 13}
    return put("t", key, columns) if number % 4 else update("t", key, put_cells(columns))


def _is_transaction(number: int) -> bool:
    return number % 3 == 1


def _is_aborted(number: int) -> bool:
    return _is_transaction(number) and number % 4 == 1


def _make(engine: TablestoreEngine) -> None:
    indexes = (
        IndexDefinition("local1", ("p", "c"), ("d",), 1, 1),
        IndexDefinition("local2", ("p", "d"), (), 1, 1),
        IndexDefinition("global1", ("c",), ("d",), 0, 0),
        IndexDefinition("global2", ("d", "c"), (), 0, 0),
    )
    columns = (DefinedColumn("c", ColumnType.STRING), DefinedColumn("d", ColumnType.INTEGER))
    asked = create("t", {"p": KeyType.STRING, "n": KeyType.INTEGER})
    stream = StreamChange(enable=True)
    asked = replace(asked, defined_columns=columns, indexes=indexes, stream=stream)
    try:
        engine.core.run(engine.create_table("i", asked))
    except Conflict:
        return  # it was there


def _do(engine: TablestoreEngine, number: int) -> None:
    """One round; durable when this returns."""
    changes = _changes(number)
    if not _is_transaction(number):
        engine.core.run(
            engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", tuple(changes)),)))
        )
        return
    partition = str(changes[0].key.columns[0][1])
    identity = engine.core.run(engine.transactions.start("i", "t", primary_key({"p": partition})))
    for change in changes:
        engine.core.run(engine.transactions.write_row("i", identity, change))
    if _is_aborted(number):
        engine.core.run(engine.transactions.abort("i", identity))
    else:
        engine.core.run(engine.transactions.commit("i", identity))


def _work(directory: Path, first: int) -> None:
    """The child: rounds without end."""
    with open_store(str(directory)) as store:
        engine = open_tablestore(store, SystemClock(), SystemEntropy())
        _make(engine)
        number = first
        while True:
            _do(engine, number)
            print(number, flush=True)
            number += 1


# --- what must be there ---------------------------------------------------------------------------


def _expected(number: int) -> list[Told]:
    """The records that a round leaves in the stream."""
    if _is_aborted(number):
        return []
    told: list[Told] = []
    for change in _changes(number):
        (_, partition), (_, row) = change.key.columns
        assert isinstance(row, int)
        columns = {cell.name for cell in change.cells}
        told.append((int(change.modification), (str(partition), row), frozenset(columns)))
    return told


def _recorded(engine: TablestoreEngine) -> Iterator[tuple[Told, dict[str, Any]]]:
    """The stream's records, and the columns that each has put."""
    table = engine.describe_table("i", "t")
    iterator: str | None = engine.streams.iterator(table, "0", None)
    while iterator is not None:
        page = engine.streams.read(table, iterator, None)
        for each in page.records():
            plain = each.record[4 : -EXTENSION_BYTES - 2] + each.record[-2:]
            ((key, columns),) = decode_answer_rows(plain)
            place = str(key["p"]), int(str(key["n"]))
            shown = {name: cells[0][1] for name, cells in columns.items()}
            yield (each.action, place, frozenset(shown)), shown
        iterator = page.following if page.more else None


def _rows(engine: TablestoreEngine) -> dict[tuple[str, int], dict[str, Any]]:
    bounds = {"p": MIN, "n": MIN}, {"p": MAX, "n": MAX}
    page = engine.rows.get_range("i", scan_all("t", *bounds))
    return {
        (str(key["p"]), int(str(key["n"]))): {name: cells[0][1] for name, cells in columns.items()}
        for key, columns in decode_answer_rows(page.rows)
    }


def _replayed(
    records: list[tuple[Told, dict[str, Any]]],
) -> dict[tuple[str, int], dict[str, Any]]:
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for (action, key, _), columns in records:
        if action == 3:
            rows.pop(key, None)
        elif action == 1:
            rows[key] = columns
        else:
            rows[key] = {**rows.get(key, {}), **columns}
    return rows


def _last_round(told: list[Told], acknowledged: int, told_last: int) -> int:
    """The round up to which the records go; -1 if they are wrong.

    It is at least `acknowledged` and at most the one behind `told_last`. The rows of a batch are
    one group, which is made as a whole; so is a transaction.
    """
    wanted: list[Told] = []
    found = -1
    for number in range(told_last + 2):
        wanted += _expected(number) if number else []
        if number >= acknowledged and told == wanted and (found < 0 or number <= told_last):
            found = number
    return found


def _examine(
    directory: Path, rounds: tuple[int, int], outcome: Outcome, *, control: bool = False
) -> int:
    """Look at the store; the last round that is there. `rounds`: see `_last_round`."""
    with open_store(str(directory)) as store:
        outcome.damaged += bool(check_store(store))
        engine = open_tablestore(store, SystemClock(), SystemEntropy())
        _make(engine)
        records = list(_recorded(engine))
        if control:
            records = records[:-1]
        outcome.records = len(records)
        last = _last_round([told for told, _ in records], *rounds)
        outcome.wrong_streams += last < 0
        outcome.wrong_tables += _replayed(records) != _rows(engine)
        outcome.raced += 0 <= last < rounds[1]
        return max(last, rounds[0])


# --- cutting off ----------------------------------------------------------------------------------


def kill_many(kills: int, seed: int, *, control: bool = False) -> Outcome:
    """Kill a child so many times over one store, and look at everything after each."""
    outcome = Outcome()
    began = time.monotonic()
    acknowledged = 0
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "store"
        for kill in range(kills):
            seconds = LIFE_SECONDS_MAX * fraction(seed, kill)
            told = live_and_die(_child(directory, acknowledged), seconds, acknowledged)
            acknowledged = _examine(directory, (told, told), outcome, control=control)
            outcome.kills += 1
            outcome.rounds = acknowledged
    outcome.seconds = time.monotonic() - began
    return outcome


def cut_many(cuts: int, seed: int, kind: str, *, control: bool = False) -> Outcome:
    """Cut the power of a file system so many times below a child; look at everything after each.

    `kind` is ext4 or xfs. With `control` the child's store is never synced; then what does not open
    any more counts as damaged, and the run ends at the first thing that is wrong.
    """
    outcome = Outcome()
    began = time.monotonic()
    acknowledged = 0
    planted = {"PYTHONPATH": PLANTED_PATH, "CRASH_VARIANT": "sync-off"} if control else {}
    environment = {**os.environ, **planted}
    with powered(kind) as site:
        for cut in range(cuts):
            seconds = LIFE_SECONDS_MAX * fraction(seed, cut)
            command = _child(site.store, acknowledged)
            told = live_and_lose_power(command, seconds, acknowledged, site.lose_power, environment)
            site.restore(cut)
            outcome.kills += 1
            try:
                acknowledged = _examine(site.store, told, outcome)
            except WiderowError as error:
                print(f"after cut {cut + 1}: {error}", file=sys.stderr)
                outcome.damaged += 1
            outcome.rounds = acknowledged
            if outcome.violations:
                break
    outcome.seconds = time.monotonic() - began
    return outcome


def _child(directory: Path, acknowledged: int) -> list[str]:
    """The command of a child that goes on behind the last round."""
    told = ["--child", str(directory), "--first", str(acknowledged + 1)]
    return [sys.executable, "-m", "tools.change_kills", *told]


# --- the command ----------------------------------------------------------------------------------


def _record(check: str, run: Outcome, unit: str, seed: int) -> int:
    """Record a run; what was wrong in it."""
    facts = {"rounds": run.rounds, "records": run.records, "damaged": run.damaged}
    facts |= {"wrong_streams": run.wrong_streams, "wrong_tables": run.wrong_tables}
    facts |= {"raced": run.raced} if unit == "cuts" else {}
    record(
        check,
        volume=run.kills,
        unit=unit,
        violations=run.violations,
        seconds=run.seconds,
        seed=seed,
        facts=facts,
    )
    return run.violations


def _record_control(check: str, run: Outcome, seed: int) -> int:
    """Record a control; 1 if it was not noticed."""
    missed = int(run.violations == 0)
    record(
        f"control: {check}",
        volume=1,
        unit="runs",
        violations=missed,
        seconds=run.seconds,
        seed=seed,
        facts={"kills": run.kills, "wrong_streams": run.wrong_streams, "damaged": run.damaged},
    )
    return missed


def _kill(given: argparse.Namespace) -> int:
    run = kill_many(given.kills, given.seed)
    wrong = _record(f"{_WORKLOAD}: kill -9", run, "kills", given.seed)
    if given.controls:
        beside = kill_many(given.controls, given.seed, control=True)
        wrong += _record_control("a change record is missing", beside, given.seed)
    return wrong


def _cut(given: argparse.Namespace) -> int:
    check = f"{_WORKLOAD}: power cut, {given.disk}"
    reason = why_not(given.disk)
    if reason:
        record_skipped(check, reason)
        return 0
    wrong = _record(check, cut_many(given.cuts, given.seed, given.disk), "cuts", given.seed)
    if given.controls:
        beside = cut_many(given.controls, given.seed, given.disk, control=True)
        wrong += _record_control("changes are not synced", beside, given.seed)
    return wrong


def main() -> int:
    """Run what is asked for and record it; 1 if anything was wrong, or a control not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--disk", choices=("ext4", "xfs"), help="cut its power instead of killing")
    parser.add_argument("--cuts", type=int, default=60, help="with --disk (%(default)s)")
    parser.add_argument("--controls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        _work(given.child, given.first)
    return int((_kill(given) if given.disk is None else _cut(given)) > 0)


_WORKLOAD: Final = "indexes, transactions, stream"


if __name__ == "__main__":
    sys.exit(main())
