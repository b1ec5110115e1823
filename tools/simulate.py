"""Seeds of the simulation, recorded (`evidence.py`).

    python -m tools.simulate --seeds 10000

`python -m tests.support.simulation` is the same for one's own use; it also tells a seed's run
step by step.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from rich.progress import track
from tests.support.simulated import summary
from tests.support.simulation import simulate
from tools.evidence import record

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Seeds of the simulation, recorded.")
    parser.add_argument("--seeds", type=int, default=300, help="how many (%(default)s)")
    parser.add_argument("--first", type=int, default=1, help="the first of them (%(default)s)")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    seeds = range(options.first, options.first + options.seeds)
    shown = track(seeds, "seeds", disable=not sys.stdout.isatty())
    results = [simulate(seed) for seed in shown]
    for result in results:
        if result.violation:
            print(f"seed {result.seed}: {result.violation}", file=sys.stderr)
    told = summary(results, time.monotonic() - begun)
    # Something that should have happened and never did is a violation too: nothing was tested.
    record(
        "simulation",
        volume=len(results),
        unit="seeds",
        violations=told["violations"] + len(told["never_seen"]),
        seconds=told["seconds"],
        seed=told["seed"],
        facts={
            "operations": told["operations"],
            "acks": told["acks"],
            "indeterminate": told["indeterminate"],
            "crashes": told["crashes"],
            "rarest_seen": min(told["sometimes"].values()),
        },
    )
    return int(bool(told["violations"] or told["never_seen"]))


if __name__ == "__main__":
    sys.exit(main())
