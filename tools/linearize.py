"""Histories of clients of a real server that is killed and paused, recorded (`evidence.py`).

python tools/linearize.py --histories 200
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from rich.progress import track

from evidence import record
from widerow.testing.linearizability import judge
from widerow.testing.recording import Recorder

__all__ = ["main"]

_ROWS = 8


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Histories of a server under faults, recorded.")
    parser.add_argument("--histories", type=int, default=5, help="how many (%(default)s)")
    parser.add_argument("--operations", type=int, default=2000, help="of each (%(default)s)")
    parser.add_argument("--clients", type=int, default=4, help="at most 8 (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is asked (%(default)s)")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    facts: Counter[str] = Counter()
    violations = 0
    with Recorder(options.clients, _ROWS, faults=True) as recorder:
        seeds = range(options.seed, options.seed + options.histories)
        for seed in track(seeds, "histories", disable=not sys.stdout.isatty()):
            recording = recorder.record(seed, options.operations)
            facts.update(recording.facts())
            for finding in judge(recording):
                violations += 1
                told = f"seed {seed} row {finding.row}: nothing explains {finding.operation}"
                print(told, file=sys.stderr)
    record(
        "linearizability",
        volume=options.histories,
        unit="histories",
        violations=violations,
        seconds=time.monotonic() - begun,
        seed=options.seed,
        facts={**facts, "clients": options.clients},
    )
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
