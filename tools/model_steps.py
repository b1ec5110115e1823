"""The engine against its model for many steps, recorded (`evidence.py`).

    python -m tools.model_steps --steps 300000

The machine is that of tests/unit/engine/test_model.py, where 10 000 steps are part of every run.
After each step all reads are compared with the model and the whole store is checked.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import hypothesis
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.engine.test_model import EngineAgainstModel, EngineOnRocksDB  # noqa: E402  # tools are not a package
from tools.evidence import record  # noqa: E402  # tools are not a package

__all__ = ["main"]

_STEPS: Final = 40  # of one life; more would meet the same few rows again
_ROUND_LIVES: Final = 100
_ON_DISK: Final = 20  # one round in so many is on RocksDB


def _counting(
    machine: type[RuleBasedStateMachine], taken: list[int]
) -> type[RuleBasedStateMachine]:
    """The machine, counting its steps into `taken[0]`."""

    class Counting(machine):  # type: ignore[misc, valid-type]  # a class that is a value
        @invariant()
        def count(self) -> None:
            taken[0] += 1

    return Counting


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Steps of the engine against its model.")
    parser.add_argument("--steps", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first round (%(default)s)")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    violations = rounds = 0
    taken = [0]
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("steps", total=options.steps)
        while taken[0] < options.steps and not violations:
            on_disk = rounds % _ON_DISK == _ON_DISK - 1
            machine = EngineOnRocksDB if on_disk else EngineAgainstModel
            violations += _live(_counting(machine, taken), options.seed + rounds)
            rounds += 1
            progress.update(task, completed=taken[0])
    record(
        "engine against model",
        volume=taken[0],
        unit="steps",
        violations=violations,
        seconds=time.monotonic() - begun,
        seed=options.seed,
    )
    return int(bool(violations))


def _live(machine: type[RuleBasedStateMachine], seed: int) -> int:
    """One round, a hundred lives from one seed; 1 if one went wrong, which is printed."""
    seeded = hypothesis.seed(seed)(machine)
    how = settings(
        max_examples=_ROUND_LIVES, stateful_step_count=_STEPS, deadline=None, database=None
    )
    try:
        run_state_machine_as_test(seeded, settings=how)
    except Exception as error:  # noqa: BLE001  # whatever it was, the line must say so
        print(f"seed {seed}: {error!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
