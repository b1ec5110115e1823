"""A server killed while clients of Oracle NoSQL's protocol write: all or nothing, nothing lost.

    python -m tools.nosql_server_kills --kills 100    # the recorded run, and its controls

Some writers, each with a shard of its own, send rounds: a WRITE_MULTIPLE that puts every row of
the shard and a child row with the round's number, every third time a MULTI_DELETE of the rows
instead, and then a PUT of a row whose key the server generates. The server is killed (SIGKILL) at a
random moment and started again. Each shard must show one whole round, the last one that was
answered or the one that was under way; each row of a generated key that was answered must be there,
and no key may come twice. Two controls must be caught: the same rounds as single puts and deletes,
and a server that answers before it writes.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.nosql_wire import NosqlWire  # noqa: E402  # tools are not a package
from tools.crash.rounds import PLANTED_PATH  # noqa: E402  # tools are not a package
from tools.evidence import record  # noqa: E402  # tools are not a package
from tools.killing import READY_SECONDS_MAX, fraction  # noqa: E402  # tools are not a package
from tools.nosql_kills import Outcome  # noqa: E402  # tools are not a package

from widerow import nosql  # noqa: E402  # tools are not a package
from widerow.engine.check import check_store  # noqa: E402  # tools are not a package
from widerow.storage.opener import open_store  # noqa: E402  # tools are not a package
from widerow.testing.process import WiderowProcess  # noqa: E402  # tools are not a package

__all__ = ["CONTROLS", "kill_many", "main"]

WRITERS: Final = 3
ROWS: Final = 8
LIFE_SECONDS_MAX: Final = 0.3  # after the first answer to each writer; a round takes milliseconds
DELETE, PUT, QUERY, PREPARE, WRITE_MULTIPLE, MULTI_DELETE = 0, 3, 7, 8, 9, 10
TABLES: Final = """
    CREATE TABLE t (g STRING, id INTEGER, round LONG, PRIMARY KEY(SHARD(g), id));
    CREATE TABLE t.kid (n INTEGER, round LONG, PRIMARY KEY(n));
    CREATE TABLE numbered (id LONG GENERATED ALWAYS AS IDENTITY, g STRING, round LONG,
        PRIMARY KEY(id))"""
ROUNDS_OF: Final = "DECLARE $g STRING; SELECT round FROM {} WHERE g = $g"

PLANTED: Final = "answers before writes"
ONE_BY_ONE: Final = "rounds one by one"
CONTROLS: Final[Mapping[str, str]] = MappingProxyType(
    {ONE_BY_ONE: "", PLANTED: "reply-before-write"}
)
"""What must be caught, and the defect that is planted in the server for it."""

Row = tuple[str, int]


@dataclass(slots=True)
class _Writer:
    """One client: its shard, and what the server has answered it.

    `asked` and `told` are rounds of the shard; `unanswered` are those of rows with a generated key,
    which may be there or not for ever.
    """

    shard: str
    one_by_one: bool
    asked: int = 0
    told: int = 0
    unanswered: set[int] = field(default_factory=set)
    generated: list[tuple[int, Row]] = field(default_factory=list)

    def work(self, endpoint: str, answered: Callable[[], None]) -> None:
        """Rounds until the server is gone."""
        with suppress(OSError), NosqlWire(endpoint) as wire:
            while True:
                self.round(wire)
                answered()

    def round(self, wire: NosqlWire) -> None:
        """One round: the shard, then a row whose key is generated."""
        self.asked += 1
        for code, payload, table in self._requests():
            wire.call(code, payload, table)
        self.told = self.asked
        row = {"g": self.shard, "round": self.asked}
        self.unanswered.add(self.asked)
        generated = wire.call(PUT, {"l": row}, "numbered")["gn"]
        self.generated.append((generated, (self.shard, self.asked)))
        self.unanswered.remove(self.asked)

    def _requests(self) -> Iterator[tuple[int, dict[str, Any], str]]:
        keys = [{"g": self.shard, "id": number} for number in range(ROWS)]
        if self.asked % 3 == 0:
            if self.one_by_one:
                yield from ((DELETE, {"k": key}, "t") for key in keys)
            else:
                yield MULTI_DELETE, {"k": {"g": self.shard}}, "t"
            return
        puts = [("t", {**key, "round": self.asked}) for key in keys]
        puts.append(("t.kid", {**keys[0], "n": 1, "round": self.asked}))
        if self.one_by_one:
            yield from ((PUT, {"l": row}, table) for table, row in puts)
        else:
            operations = [{"n": table, "o": PUT, "l": row, "a": True} for table, row in puts]
            yield WRITE_MULTIPLE, {"no": len(operations), "os": operations}, ""

    def compare(self, rows: list[Row], outcome: Outcome) -> None:
        """Note what is wrong with what the shard shows, and go on from there."""
        shown = [number for number in range(self.asked + 1) if rows == _shard_after(number)]
        outcome.torn += not shown
        outcome.lost += bool(shown) and shown[-1] < self.told
        self.asked = self.told = max([self.told, *shown])


def _shard_after(number: int) -> list[Row]:
    """What a shard holds after a round: tables and rounds, in the order of the keys."""
    if not number:
        return []
    rows = [("t", number)] * ROWS if number % 3 else []
    return [*rows, ("t.kid", number if number % 3 else number - 1)]


def _queried(wire: NosqlWire, statement: str, **variables: str) -> list[dict[str, Any]]:
    """All rows of a statement."""
    prepared = wire.call(PREPARE, {"qv": 4, "st": statement}, "")["pq"]
    bound = [{"m": f"${name}", "l": value} for name, value in variables.items()]
    asked = {"qv": 4, "is": True, "iq": True, "pq": prepared, "bv": bound}
    rows: list[dict[str, Any]] = []
    while True:
        answer = wire.call(QUERY, asked, "")
        rows += answer["qr"]
        if "ck" not in answer:
            return rows
        asked["ck"] = answer["ck"]


def _judge(wire: NosqlWire, writers: list[_Writer], outcome: Outcome) -> None:
    """Compare what the server shows with what it answered."""
    for writer in writers:
        rows = [
            (table, row["round"])
            for table in ("t", "t.kid")
            for row in _queried(wire, ROUNDS_OF.format(table), g=writer.shard)
        ]
        writer.compare(rows, outcome)
    shown = {
        row["id"]: (row["g"], row["round"]) for row in _queried(wire, "SELECT * FROM numbered")
    }
    answered = [each for writer in writers for each in writer.generated]
    told = dict(answered)
    outcome.lost += sum(shown.get(number) != row for number, row in told.items())
    outcome.damaged += len(answered) - len(told)
    asked = {(writer.shard, number) for writer in writers for number in writer.unanswered}
    outcome.damaged += sum(shown[number] not in asked for number in shown.keys() - told.keys())


def _live_and_die(server: WiderowProcess, writers: list[_Writer], seconds: float) -> None:
    """Let the writers write for so long behind an answer to each of them, and kill the server."""
    begun = [Event() for _ in writers]
    with ThreadPoolExecutor(len(writers)) as pool:
        done = [
            pool.submit(writer.work, server.endpoint, event.set)
            for writer, event in zip(writers, begun, strict=True)
        ]
        try:
            for event in begun:
                if not event.wait(READY_SECONDS_MAX):
                    raise RuntimeError("a writer had no answer")
            time.sleep(seconds)
        finally:
            server.kill()
    for each in done:
        each.result()


def kill_many(kills: int, seed: int, *, control: str = "") -> Outcome:
    """Kill a server so many times over one store, and compare after each.

    `control`: one of `CONTROLS`, which ends with its first catch. Raises: `RuntimeError` for a
    request that was answered with an error.
    """
    outcome = Outcome()
    began = time.monotonic()
    writers = [_Writer(f"w{number}", control == ONE_BY_ONE) for number in range(WRITERS)]
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store"
        with nosql.open(store, housekeeping=False) as typed:
            for statement in TABLES.split(";"):
                typed.run_statement(statement)
        with _serving(store, CONTROLS.get(control, "")) as server:
            for kill in range(kills):
                before = sum(writer.told for writer in writers)
                _live_and_die(server, writers, LIFE_SECONDS_MAX * fraction(seed, kill))
                outcome.kills += 1
                outcome.rounds += sum(writer.told for writer in writers) - before
                server.start()
                with NosqlWire(server.endpoint) as wire:
                    _judge(wire, writers, outcome)
                if control and outcome.torn + outcome.lost:
                    break
        with open_store(f"rocksdb:{store}") as opened:
            outcome.damaged += bool(check_store(opened))
    outcome.seconds = time.monotonic() - began
    return outcome


@contextmanager
def _serving(store: Path, variant: str) -> Iterator[WiderowProcess]:
    planted = {"PYTHONPATH": PLANTED_PATH, "CRASH_VARIANT": variant} if variant else {}
    flags = ("--path", str(store), "--log-level", "critical")
    with WiderowProcess(*flags, environment=planted) as server:
        yield server


def main() -> int:
    """Run all, record all; 1 if a round was torn, lost, or a control was not caught."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--controls", type=int, default=50, help="kills of a control at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    missed = sum(_recorded_control(each, given.controls, given.seed) for each in CONTROLS)
    return int(_recorded(given.kills, given.seed) + missed > 0)


def _recorded(kills: int, seed: int) -> int:
    """Run the rounds; violations."""
    run = kill_many(kills, seed)
    violations = run.torn + run.lost + run.damaged
    record(
        "Oracle NoSQL's clients: kill -9 of the server",
        volume=run.kills,
        unit="kills",
        violations=violations,
        seconds=run.seconds,
        seed=seed,
        facts={"rounds": run.rounds, "torn": run.torn, "lost": run.lost},
    )
    return violations


def _recorded_control(control: str, kills: int, seed: int) -> int:
    """Run a control: 1 if no kill caught it."""
    run = kill_many(kills, seed, control=control)
    missed = int(run.torn + run.lost == 0)
    record(
        f"control: Oracle NoSQL's clients, {control}",
        volume=1,
        unit="runs",
        violations=missed,
        seconds=run.seconds,
        seed=seed,
        facts={"kills": run.kills, "torn": run.torn, "lost": run.lost},
    )
    return missed


if __name__ == "__main__":
    sys.exit(main())
