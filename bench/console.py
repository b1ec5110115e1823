"""What an open console takes from a load on the data port.

    python -m bench.console [--pairs 12] [--seconds 4] [--people 5] [--json]

One server and one load of GetRow on its data port, as fast as it goes. Turns come in pairs, one
with nobody at the console and one with people who have three of its pages open, each refreshed as
the page does it by itself (requests every two seconds, the first page every five, the heat map
every ten); which of the two comes first changes from pair to pair. A pair is a moment of one
machine, so its ratio says more than two figures do, and the median of the ratios is what is told,
with the quarters of them. Several people look at once, and what they take is divided by their
number: one takes less than the load differs by from turn to turn.

Three figures for one open console: requests that are lost (the goal: at most 5 % of them),
processor time of the server that it adds to each request, and, with no load at all, the processor
time of each page, which the other two must agree with: a core that makes pages for a hundredth of
its time answers a hundredth fewer requests.
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
from pathlib import Path
from typing import Final, NamedTuple
from urllib.request import urlopen

from bench.load import Load, prepared
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow.testing.process import WiderowProcess

__all__ = ["Found", "Turn", "found_of", "main", "moments"]

GOAL: Final = 0.05
CONNECTIONS: Final = 16
COPIES: Final = 200  # of the one request; the generator goes through them in turn
PAGE_REPEATS: Final = 40
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


class Found(NamedTuple):
    """What one open console takes: the median, and the quarters of the pairs around it."""

    lost: tuple[float, float, float]
    processor_more: tuple[float, float, float]


def found_of(pairs: Sequence[tuple[Turn, Turn]], people: int) -> Found:
    """What one of so many people takes; a pair is a turn alone and one that was looked at."""
    lost = [(1 - looked_at.rate / alone.rate) / people for alone, looked_at in pairs]
    more = [
        (looked_at.processor_us / alone.processor_us - 1) / people for alone, looked_at in pairs
    ]
    return Found(_quarters(lost), _quarters(more))


def _quarters(values: Sequence[float]) -> tuple[float, float, float]:
    """The first quarter, the median and the third."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def moments(seconds: float, period: float, people: int) -> list[float]:
    """When in a turn a page is asked for, if each of so many people has it open."""
    if not people:
        return []
    step = period / people
    return [(number + 0.5) * step for number in range(int(seconds / step))]


def processor_ns(process: int) -> int:
    """What the threads of a process have used, to the nanosecond; they all live as long as it."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in tasks)


@contextmanager
def looking(endpoint: str, seconds: float, people: int) -> Iterator[None]:
    """People who look, for as long as the block runs, which should be so many seconds."""
    over = threading.Event()
    began = time.monotonic()

    def look(path: str, period: float) -> None:
        for moment in moments(seconds, period, people):
            if over.wait(max(0.0, began + moment - time.monotonic())):
                return
            _read(f"{endpoint}/console/{path}")

    threads = [threading.Thread(target=look, args=each) for each in PAGES]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in threads:
            each.join()


def _read(address: str) -> None:
    with urlopen(address) as page:  # noqa: S310  # our own server
        page.read()


def turn(load: Load, server: WiderowProcess, seconds: float, people: int) -> Turn:
    """One run of load."""
    before = processor_ns(server.pid)
    with looking(server.endpoint, seconds, people):
        outcome = load.run(CONNECTIONS, seconds)
    used = processor_ns(server.pid) - before
    return Turn(outcome.requests / outcome.seconds, used / 1e3 / outcome.requests)


def page_ms(server: WiderowProcess, path: str) -> float:
    """Milliseconds of the server's processor for one page, while nothing else is asked of it."""
    before = processor_ns(server.pid)
    for _ in range(PAGE_REPEATS):
        _read(f"{server.endpoint}/console/{path}")
    return (processor_ns(server.pid) - before) / 1e6 / PAGE_REPEATS


def fill(server: WiderowProcess, sender: Sender) -> list[bytes]:
    """A table with a row, and the requests that read it, which makes a hot key."""
    with Wire(server.endpoint) as wire:
        for action in ("CreateTable", "PutRow"):
            assert wire.ask(sender.request(action, BODIES[action](TABLE))).status == 200
    return [sender.request("GetRow", BODIES["GetRow"](TABLE))] * COPIES


def measure(
    count: int, seconds: float, people: int
) -> tuple[list[tuple[Turn, Turn]], dict[str, float]]:
    """So many pairs of turns, and what each page costs by itself afterwards."""
    pairs: list[tuple[Turn, Turn]] = []
    with tempfile.TemporaryDirectory() as folder:
        server = WiderowProcess("--path", folder)
        with server:
            requests = fill(server, Sender())
            with prepared(requests) as file:
                load = Load(server.endpoint, requests, file)
                load.warm_up(CONNECTIONS, 1.0)
                for path, _ in PAGES:  # the first visit loads what pages need
                    _read(f"{server.endpoint}/console/{path}")
                for number in range(count):
                    first, second = (0, people) if number % 2 == 0 else (people, 0)
                    taken = {who: turn(load, server, seconds, who) for who in (first, second)}
                    pairs.append((taken[0], taken[people]))
            pages = {path.partition("?")[0]: page_ms(server, path) for path, _ in PAGES}
    return pairs, pages


def _per_cent(values: tuple[float, float, float]) -> str:
    low, middle, high = values
    return f"{middle:.2%} (half of the pairs: {low:.2%} to {high:.2%})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code says whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    pairs, pages = measure(given.pairs, given.seconds, given.people)
    found = found_of(pairs, given.people)
    busy = sum(pages[path.partition("?")[0]] / 1e3 / period for path, period in PAGES)
    rate = statistics.median(alone.rate for alone, _ in pairs)
    used = statistics.median(alone.processor_us for alone, _ in pairs)
    if given.json:
        document = {
            "requests_per_second": round(rate),
            "processor_us": round(used, 2),
            "people": given.people,
            "lost": [round(each, 5) for each in found.lost],
            "processor_more": [round(each, 5) for each in found.processor_more],
            "page_ms": {path: round(each, 2) for path, each in pages.items()},
            "pages_of_a_core": round(busy, 5),
            "goal": GOAL,
        }
        print(json.dumps(document))
    else:
        print(f"{rate:,.0f} requests a second with nobody at the console, {used:.1f} µs for each")
        print(f"one open console, of {given.people} that look at once, in {len(pairs)} pairs:")
        print(f"  requests lost: {_per_cent(found.lost)}; goal {GOAL:.0%}")
        print(f"  processor for each request, more: {_per_cent(found.processor_more)}")
        shown = ", ".join(f"{path or 'tables'} {each:.1f} ms" for path, each in pages.items())
        print(f"pages without a load: {shown}; together {busy:.2%} of a core")
    return 0 if found.lost[1] <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
