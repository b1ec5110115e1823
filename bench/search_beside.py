"""Requests beside each other where a table has a search index: `python -m bench.search_beside`.

    PutRow, Search              of documents without and with an index of ten fields, and searches
                                of what was written so (`bench.search_server`)
    searches beside PutRows     Search of a word, alone and beside PutRows of documents into the
                                same table on 128 connections: how long the slowest ones take; and
                                such PutRows, alone and beside a stream of such searches
    GetRow beside searches      point reads of another table, alone and beside a stream of searches
                                of frequent words, and of groups

These are the parts `alone`, `puts` and `reads`; without a name all are measured. Runs take turns
(`bench.neighbours`). Prints one JSON document.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench import rows
from bench.load import Load, Outcome, prepared
from bench.measure import Settings
from bench.neighbours import Neighbour, in_turns
from bench.search_corpus import articles
from bench.search_server import (
    SEARCHERS,
    create_searched,
    document_put,
    search_results,
    searches,
)
from bench.servers import Place, settle
from bench.workloads import ask, scattered
from tests.support.http import Wire

from widerow.testing.process import WiderowProcess

__all__ = ["main", "worst"]

PARTS: Final = ("alone", "puts", "reads")
DOCUMENTS: Final = 60_000
ROWS: Final = 10_000
PUT_TURNS: Final = 4
WRITERS: Final = 128  # connections
_TABLE: Final = "searched"


def worst(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Medians of p50 and p99 of several runs, and the slowest request of all, in milliseconds."""
    middle = len(outcomes) // 2
    return {
        "per_second": sorted(each.requests / each.seconds for each in outcomes)[middle],
        "p50_ms": sorted(each.p50_us for each in outcomes)[middle] / 1000,
        "p99_ms": sorted(each.p99_us for each in outcomes)[middle] / 1000,
        "max_ms": max(each.max_us for each in outcomes) / 1000,
    }


def measure(
    place: Place, settings: Settings, parts: Sequence[str], documents: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Some parts, by name. Raises: `LoadFailed`."""
    if "alone" in parts:
        yield from _alone(place, settings)
    else:
        with Wire(place.endpoint) as wire:
            create_searched(wire, _TABLE)
    wishes = searches(_TABLE)
    if "puts" in parts:
        puts = [document_put(_TABLE, each) for each in articles(documents)]
        yield from _beside_puts(place, puts, wishes["Search, a word"], settings)
    if "reads" in parts:
        yield from _reads_beside(place, wishes, settings)


def _alone(place: Place, settings: Settings) -> Iterator[tuple[str, dict[str, float]]]:
    for result in search_results(place, settings):
        yield (
            result.name,
            {
                "per_second": result.per_second,
                "p50_ms": result.p50_us / 1000,
                "p99_ms": result.p99_us / 1000,
                "cpu_us": result.cpu_us,
            },
        )


def _reads_beside(
    place: Place, wishes: Mapping[str, Sequence[bytes]], settings: Settings
) -> Iterator[tuple[str, dict[str, float]]]:
    with Wire(place.endpoint) as wire:
        ask(wire, rows.table())
        for number in range(ROWS):
            ask(wire, rows.put(number))
    settle(place.process)
    gets = [rows.get(number) for number in scattered(ROWS, ROWS)]
    for name in ("Search, a word", "Search, groups of a field"):
        own, others = in_turns(place, gets, Neighbour(name, wishes[name]), settings)
        alone = worst([outcome for outcome, _ in others])
        yield f"GetRow without {name}", alone
        yield (
            f"GetRow beside {name}",
            {"per_second": own.per_second, "p50_ms": own.p50_us / 1e3, "p99_ms": own.p99_us / 1e3},
        )


def _beside_puts(
    place: Place, puts: Sequence[bytes], wishes: Sequence[bytes], settings: Settings
) -> Iterator[tuple[str, dict[str, float]]]:
    with ExitStack() as files:
        load = Load(place.endpoint, wishes, files.enter_context(prepared(wishes)))
        writing = Load(place.endpoint, puts, files.enter_context(prepared(puts)))
        load.run(SEARCHERS, settings.seconds)
        run = partial(load.run, SEARCHERS, settings.seconds)
        alone = [run()]
        with writing.beside(WRITERS, 60 * settings.seconds):
            beside = [run() for _ in range(PUT_TURNS)]
        alone.append(run())
        put = partial(writing.run, WRITERS, settings.seconds)
        puts_alone, puts_beside = [put()], []
        for _ in range(PUT_TURNS // 2):
            with load.beside(SEARCHERS, 60 * settings.seconds):
                puts_beside.append(put())
            puts_alone.append(put())
    yield "Search, a word", worst(alone)
    yield "Search, a word, beside PutRows", worst(beside)
    yield "PutRow, searched table", worst(puts_alone)
    yield "PutRow beside Search, a word", worst(puts_beside)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.search_beside", description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    wish = parser.parse_args(arguments)
    with (
        TemporaryDirectory() as folder,
        WiderowProcess("--path", str(Path(folder) / "store")) as it,
    ):
        place, settings = Place(it.endpoint, it.pid), Settings(seconds=wish.seconds)
        found: dict[str, Any] = dict(measure(place, settings, wish.parts, wish.documents))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
