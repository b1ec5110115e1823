"""What full-text search costs, engine beside engine: `python -m bench.search`.

    python -m bench.search [--documents 100000] [--json] [ENGINE ...]

Every engine indexes the same documents (`bench.search_corpus`: sixty Zipf-distributed words and
nine other fields) in a process of its own, then answers the same queries. Times are CPU time of
the process, p50 and p99 of sixty queries; only replace_wall is time on the clock.

    index       for each document, in batches of a thousand
    memory      that the process grew by
    order       per cent of the queries whose ten best come in the order of BM25 (search §4.3)
    best        per cent of the ten best that are among its ten best
    any, all    the ten best of two or three words, of which one is frequent
    phrase      two words behind each other
    sort        a frequent word, a range of prices, by two fields
    groups      documents of each category
    replace     one document is replaced and a search finds it, in turns
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random  # noqa: TID251  # a fixed seed: every engine gets the same queries
from typing import Any, Final

from bench.measure import percentile
from bench.search_corpus import Scores, articles, word
from bench.search_engines import ENGINES, SearchEngine
from rich import box
from rich.console import Console
from rich.table import Table

__all__ = ["main", "measure_engine", "queries"]

BATCH: Final = 1000
QUERIES: Final = 60
REPLACED: Final = 30
BEST: Final = 10
_SEED: Final = 4
_SAME_SCORE: Final = 1e-6
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB", re.MULTILINE)
_FREQUENT: Final = (5, 100)
_MIDDLE: Final = (500, 3000)
_RARE: Final = (5000, 40_000)


def queries() -> list[tuple[str, ...]]:
    """Groups of two and three words, of which one is frequent, one less so, one rare."""
    random = Random(_SEED)  # noqa: S311  # load, no secret
    return [
        tuple(word(random.randrange(*each)) for each in (_FREQUENT, _MIDDLE, _RARE)[: 2 + at % 2])
        for at in range(QUERIES)
    ]


def measure_engine(name: str, documents: int) -> dict[str, Any]:
    """The figures of one engine, in this process, which should have done nothing before."""
    engine = ENGINES[name]()
    asked = queries()
    scores = Scores([each for words in asked for each in words])
    used, before = 0, _resident_kb()
    source = articles(documents)
    while part := list(itertools.islice(source, BATCH)):
        for each in part:
            scores.count(each)
        began = time.process_time_ns()
        engine.add(part)
        used += time.process_time_ns() - began
    began = time.process_time_ns()
    engine.any_of(["settling"], BEST)
    used += time.process_time_ns() - began
    return {
        "engine": name,
        "documents": documents,
        "index_us": used / documents / 1000,
        "memory_mb": (_resident_kb() - before) / 1024,
        **_best_of_all(engine, scores, asked),
        **_answering(engine, asked),
        **_replacing(engine, documents),
    }


def _best_of_all(
    engine: SearchEngine, scores: Scores, asked: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Per cent of the queries with the right ten best in the right order, and of the ten best.

    Any order is right among equal scores, and any of those that score as the tenth.
    """
    right = common = 0
    for words in asked:
        expected = scores.all(words)
        best = sorted(expected.values(), reverse=True)[:BEST]
        found = [expected.get(number, 0.0) for number, _ in engine.any_of(words, BEST)]
        assert len(found) == len(best), f"{words} finds fewer than it should"
        right += all(abs(a - b) < _SAME_SCORE for a, b in zip(found, best, strict=True))
        common += sum(each > best[-1] - _SAME_SCORE for each in found)
    return {"order": 100 * right / len(asked), "best": 100 * common / len(asked) / BEST}


def _answering(engine: SearchEngine, asked: Sequence[Sequence[str]]) -> dict[str, float]:
    cases: dict[str, Callable[[Sequence[str]], object]] = {
        "term": lambda words: engine.any_of(words[:1], BEST),
        "any": lambda words: engine.any_of(words, BEST),
        "all": lambda words: engine.all_of(words[:2], BEST),
        "phrase": lambda words: engine.phrase(words[:2], BEST),
        "sort": lambda words: engine.range_sorted(words[0], 10.0, 60.0, BEST),
        "groups": lambda _: engine.groups(),
    }
    found: dict[str, float] = {}
    for name, ask in cases.items():
        ask(asked[0])
        times = [_milliseconds(ask, words) for words in asked]
        found[f"{name}_p50_ms"] = percentile(times, 0.5)
        found[f"{name}_p99_ms"] = percentile(times, 0.99)
    return found


def _replacing(engine: SearchEngine, documents: int) -> dict[str, float]:
    """Replace a document, then find it by a word that only it has."""
    times, used = [], []
    for at, new in enumerate(articles(REPLACED, first=documents)):
        number, token = at * (documents // REPLACED), f"only{at}"
        changed = new._replace(number=number, body=f"{new.body} {token}")
        began, began_used = time.perf_counter_ns(), time.process_time_ns()
        engine.add([changed])
        found = engine.any_of([token], BEST)
        times.append((time.perf_counter_ns() - began) / 1e6)
        used.append((time.process_time_ns() - began_used) / 1e6)
        assert [each for each, _ in found] == [number], f"{token} is found in its document only"
    return {
        "replace_p50_ms": percentile(used, 0.5),
        "replace_p99_ms": percentile(used, 0.99),
        "replace_wall_p50_ms": percentile(times, 0.5),
    }


def _milliseconds(work: Callable[[Any], object], subject: object) -> float:
    began = time.process_time_ns()
    work(subject)
    return (time.process_time_ns() - began) / 1e6


def _resident_kb() -> int:
    found = _RESIDENT.search(Path("/proc/self/status").read_text())
    assert found, "Linux says how much memory a process has"
    return int(found[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.search", description=__doc__)
    parser.add_argument("engines", nargs="*", default=list(ENGINES), metavar="ENGINE")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    wish = parser.parse_args(arguments)
    if wish.here:
        print(json.dumps(measure_engine(wish.engines[0], wish.documents)))
        return
    found = [_apart(name, wish.documents) for name in wish.engines]
    if wish.json:
        print(json.dumps(found))
    else:
        _show(found)


def _apart(name: str, documents: int) -> dict[str, Any]:
    command = (sys.executable, "-m", "bench.search", "--here", "--documents", str(documents), name)
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  # ourselves
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _show(found: Sequence[dict[str, Any]]) -> None:
    table = Table("", *(each["engine"] for each in found), box=box.SIMPLE_HEAD)
    for name in list(found[0])[1:]:
        table.add_row(name, *(f"{each[name]:,.2f}" for each in found))
    Console().print(table)


if __name__ == "__main__":
    main()
