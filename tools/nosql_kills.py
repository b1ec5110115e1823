"""Sequences of typed tables killed at random moments: all or nothing, and nothing told is lost.

    python -m tools.nosql_kills --kills 200           # the recorded run, and its control

A child process writes rounds into one shard: a sequence that puts every row of the shard with the
round's number and, in odd rounds, a child row behind each; every third round a multi_delete of all
of them. It is killed (SIGKILL) at a random moment, the store is opened, and the shard must show one
whole round, not older than the last one that the child was told is durable. The control makes the
same changes as single puts and deletes, and must be caught between two rounds.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.evidence import record
from tools.killing import fraction, live_and_die

from widerow import nosql
from widerow.engine.check import check_store

__all__ = ["Outcome", "kill_many", "main"]

ROWS: Final = 8
LIFE_SECONDS_MAX: Final = 0.15  # after the child's first round; a round takes about a millisecond
KEY: Final = {"g": "shard"}


@dataclass(slots=True)
class Outcome:
    """What a run of kills showed."""

    kills: int = 0
    rounds: int = 0
    torn: int = 0
    lost: int = 0
    damaged: int = 0
    seconds: float = 0.0


def _tables(store: nosql.TypedStore) -> tuple[nosql.TableHandle, nosql.TableHandle]:
    parent = nosql.TableBuilder("t").add_field("g", nosql.STRING).add_field("id", nosql.INTEGER)
    parent.add_field("round", nosql.LONG).primary_key("g", "id").shard_key("g")
    table = store.create_table(parent.build(), if_not_exists=True)
    child = nosql.TableBuilder("kid", parent=table.definition).add_field("n", nosql.INTEGER)
    child.add_field("round", nosql.LONG).primary_key("n")
    return table, store.create_table(child.build(), if_not_exists=True)


def _operations(
    table: nosql.TableHandle, kid: nosql.TableHandle, number: int
) -> list[nosql.Operation]:
    """One round: every row, and behind each a child row or none."""
    operations: list[nosql.Operation] = []
    for row in range(ROWS):
        key = {**KEY, "id": row}
        operations.append(table.operation().put({**key, "round": number}))
        below = {**key, "n": 1}
        if number % 2:
            operations.append(kid.operation().put({**below, "round": number}))
        else:
            operations.append(kid.operation().delete(below))
    return operations


def _last_round(table: nosql.TableHandle) -> int:
    return max((row["round"] for row in table.multi_get(KEY)), default=0)


def _work(directory: Path, first: int, *, control: bool) -> None:
    """The child: rounds without end, each told on stdout when it is durable."""
    with nosql.open(directory, housekeeping=False) as store:
        table, kid = _tables(store)
        number = max(first, _last_round(table) + 1)
        while True:
            _change(store, table, kid, number, control=control)
            print(number, flush=True)
            number += 1


def _change(
    store: nosql.TypedStore,
    table: nosql.TableHandle,
    kid: nosql.TableHandle,
    number: int,
    *,
    control: bool,
) -> None:
    if number % 3 == 0:
        if not control:
            table.multi_delete(KEY, children=[kid])
            return
        for row in table.multi_get(KEY, children=[kid]):
            (kid if row.table.parent else table).delete(row)
        return
    operations = _operations(table, kid, number)
    if not control:
        store.execute(operations)
        return
    for operation in operations:
        store.write_many([operation])


def _shown(directory: Path) -> tuple[list[tuple[int, int]], bool]:
    """(row, round) of every row and child row of the shard, and whether the store is clean."""
    with nosql.open(directory, housekeeping=False) as store:
        table, kid = _tables(store)
        rows = table.multi_get(KEY, children=[kid])
        found = [(row["id"] * 2 + bool(row.table.parent), row["round"]) for row in rows]
        return found, not check_store(store.engine.store)


def _is_whole(found: list[tuple[int, int]]) -> bool:
    rounds = {number for _, number in found}
    if not found:
        return True
    if len(rounds) > 1:
        return False
    number = rounds.pop()
    step = 1 if number % 2 else 2
    return [place for place, _ in found] == list(range(0, 2 * ROWS, step))


def kill_many(kills: int, seed: int, *, control: bool = False) -> Outcome:
    """Kill a child so many times over one store, and look at the shard after each.

    A control ends with the first kill that left a part of a sequence.
    """
    outcome = Outcome()
    began = time.monotonic()
    acknowledged = 0
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "store"
        for kill in range(kills):
            seconds = LIFE_SECONDS_MAX * fraction(seed, kill)
            command = [sys.executable, "-m", "tools.nosql_kills", "--child", str(directory)]
            command += ["--first", str(acknowledged + 1), *(["--control"] if control else [])]
            told = live_and_die(command, seconds, 0)
            found, clean = _shown(directory)
            newest = max((number for _, number in found), default=0)
            outcome.kills += 1
            outcome.rounds += told - acknowledged
            outcome.torn += not _is_whole(found)
            outcome.lost += bool(found) and newest < told
            outcome.lost += not found and told % 3 != 0 and (told + 1) % 3 != 0
            outcome.damaged += not clean
            acknowledged = max(told, newest)
            if control and outcome.torn:
                break
    outcome.seconds = time.monotonic() - began
    return outcome


def main() -> int:
    """Run both, record both; 1 if a sequence was torn, lost, or the control was not caught."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--controls", type=int, default=200, help="kills of the control at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--control", action="store_true")
    given = parser.parse_args()
    if given.child is not None:
        _work(given.child, given.first, control=given.control)
    return _recorded(given.kills, given.seed) + _recorded_control(given.controls, given.seed) > 0


def _recorded(kills: int, seed: int) -> int:
    """Run the sequences, if any kills are asked for; violations."""
    if not kills:
        return 0
    run = kill_many(kills, seed)
    violations = run.torn + run.lost + run.damaged
    record(
        "typed sequences: kill -9",
        volume=run.kills,
        unit="kills",
        violations=violations,
        seconds=run.seconds,
        seed=seed,
        facts={"rounds": run.rounds, "torn": run.torn, "lost": run.lost},
    )
    return violations


def _recorded_control(kills: int, seed: int) -> int:
    """Run the same changes one by one: 1 if no kill found them between two rounds."""
    run = kill_many(kills, seed, control=True)
    missed = int(run.torn == 0)
    record(
        "control: typed changes without a sequence",
        volume=1,
        unit="runs",
        violations=missed,
        seconds=run.seconds,
        seed=seed,
        facts={"kills": run.kills, "torn": run.torn},
    )
    return missed


if __name__ == "__main__":
    sys.exit(main())
