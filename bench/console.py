"""What an open console takes from a load on the data port.

    python -m bench.console [--turns 6] [--seconds 4] [--json]

One server, one load of GetRow on its data port, in turns: with nobody at the console, and with
people who have three of its pages open, each refreshed as the page does it by itself (requests
every two seconds, the first page every five, the heat map every ten). Two figures, as a ratio of
one run: requests answered in the same time, and processor time of the server for each request,
which other work on the machine changes less. The goal is about the first one: at most 5 %.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple
from urllib.request import urlopen

from bench.load import Load, prepared
from bench.servers import processor_seconds

from widerow.testing.http import Sender, Wire
from widerow.testing.process import WiderowProcess
from widerow.testing.requests import BODIES

GOAL: Final = 0.05
CONNECTIONS: Final = 16
COPIES: Final = 200  # of the one request; the generator goes through them in turn
TABLE: Final = "beside"
PAGES: Final = (
    ("requests", 2.0),
    ("", 5.0),
    (f"heat?instance=inst&table={TABLE}", 10.0),
)
"""Pages that are open, and after how many seconds each asks again."""


class Turn(NamedTuple):
    """One run of load: requests a second, and microseconds of the server's processor for each."""

    rate: float
    processor_us: float


@contextmanager
def open_console(endpoint: str) -> Iterator[None]:
    """Pages that refresh themselves, for as long as the block runs."""
    over = threading.Event()

    def look(path: str, seconds: float) -> None:
        while not over.wait(seconds):
            with urlopen(f"{endpoint}/console/{path}") as page:  # noqa: S310  # our own server
                page.read()

    people = [threading.Thread(target=look, args=each) for each in PAGES]
    for each in people:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in people:
            each.join()


def turn(load: Load, server: WiderowProcess, seconds: float) -> Turn:
    """One run of load."""
    before = processor_seconds(server.pid)
    outcome = load.run(CONNECTIONS, seconds)
    used = processor_seconds(server.pid) - before
    return Turn(outcome.requests / outcome.seconds, used * 1e6 / outcome.requests)


def fill(server: WiderowProcess, sender: Sender) -> list[bytes]:
    """A table with a row, and the requests that read it, which makes a hot key."""
    with Wire(server.endpoint) as wire:
        for action in ("CreateTable", "PutRow"):
            assert wire.ask(sender.request(action, BODIES[action](TABLE))).status == 200
    return [sender.request("GetRow", BODIES["GetRow"](TABLE))] * COPIES


def measure(turns: int, seconds: float) -> tuple[list[Turn], list[Turn]]:
    """Turns without anybody at the console, and with."""
    alone: list[Turn] = []
    looked_at: list[Turn] = []
    with tempfile.TemporaryDirectory() as folder:
        server = WiderowProcess("--path", folder)
        with server, prepared(fill(server, Sender())) as file:
            load = Load(server.endpoint, [], file)
            load.warm_up(CONNECTIONS, 1.0)
            for path, _ in PAGES:  # the first visit loads what pages need
                urlopen(f"{server.endpoint}/console/{path}").close()  # noqa: S310  # our own server
            for _ in range(turns):
                alone.append(turn(load, server, seconds))
                with open_console(server.endpoint):
                    looked_at.append(turn(load, server, seconds))
                time.sleep(0.1)
    return alone, looked_at


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code says whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    alone, looked_at = measure(given.turns, given.seconds)
    rate = [statistics.median(each.rate for each in turns) for turns in (alone, looked_at)]
    used = [statistics.median(each.processor_us for each in turns) for turns in (alone, looked_at)]
    lost = round(1 - rate[1] / rate[0], 4)
    found = {
        "requests_per_second": [round(each) for each in rate],
        "requests_lost": lost,
        "processor_us": [round(each, 2) for each in used],
        "processor_more": round(used[1] / used[0] - 1, 4),
        "goal": GOAL,
    }
    if given.json:
        print(json.dumps(found))
    else:
        print(f"requests a second: {rate[0]:,.0f} alone, {rate[1]:,.0f} beside an open console")
        print(f"lost: {lost:.1%} of them (goal {GOAL:.0%})")
        print(f"processor for each: {used[0]:.1f} µs, {used[1]:.1f} µs beside an open console")
    return 0 if lost <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
