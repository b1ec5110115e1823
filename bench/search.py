"""What full-text search costs, engine beside engine: `python -m bench.search`.

    python -m bench.search [--documents 100000] [--json] [ENGINE ...]

Every engine indexes the same documents (`bench.search_corpus`: sixty Zipf-distributed words and
nine other fields) in a process of its own, then answers the same queries. What indexing takes is
CPU time of the process. Of sixty queries: p50 and p99 on the clock, which want a machine on which
nobody else works, and the mean of the CPU time of the process, which does not. `elasticsearch` is a
Java process (`bench/search_peer`), which says neither how much memory it took nor what its best
documents are. The collector of a Python process is set as a server sets it.

    index       for each document, in batches of a thousand
    memory      that the process grew by
    order       per cent of the queries whose ten best come in the order of BM25 (search §4.3)
    best        per cent of the ten best that are among its ten best
    any, all    the ten best of two or three words, of which one is frequent
    phrase      two words behind each other
    sort        a frequent word, a range of prices, by two fields
    groups      documents of each category, all of them
    replace     one document is replaced and a search finds it, in turns
"""

import argparse
import gc
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random  # noqa: TID251  # a fixed seed: every engine gets the same queries
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from bench.measure import percentile
from bench.search_corpus import Article, Scores, articles, word
from bench.search_engines import ENGINES, Scored, SearchEngine
from rich import box
from rich.console import Console
from rich.table import Table

__all__ = [
    "ELASTICSEARCH",
    "Taken",
    "figures",
    "main",
    "measure_engine",
    "measured",
    "milliseconds",
    "queries",
    "settle_collector",
]

BATCH: Final = 1000
QUERIES: Final = 60
REPLACED: Final = 30
BEST: Final = 10
ELASTICSEARCH: Final = "elasticsearch"
PEER: Final = Path(__file__).with_name("search_peer")
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
    settle_collector()
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
        found |= figures(name, [milliseconds(ask, words) for words in asked])
    return found


def _replacing(engine: SearchEngine, documents: int) -> dict[str, float]:
    """Replace a document, then find it by a word that only it has."""
    times: list[Taken] = []
    for at, new in enumerate(articles(REPLACED, first=documents)):
        number, token = at * (documents // REPLACED), f"only{at}"
        changed = new._replace(number=number, body=f"{new.body} {token}")
        found: list[Scored] = []

        def replace(row: Article, token: str = token, found: list[Scored] = found) -> None:
            engine.add([row])
            found.append(engine.any_of([token], BEST))

        times.append(milliseconds(replace, changed))
        assert [each for each, _ in found[0]] == [number], f"{token} is found in its document only"
    return figures("replace", times)


class Taken(NamedTuple):
    """Milliseconds that something took, on the clock and of CPU time."""

    clock: float
    cpu: float


def figures(name: str, times: Sequence[Taken]) -> dict[str, float]:
    """By names, of some times: median and last hundredth on the clock, mean of CPU time."""
    clock = [each.clock for each in times]
    return {
        f"{name}_p50_ms": percentile(clock, 0.5),
        f"{name}_p99_ms": percentile(clock, 0.99),
        f"{name}_cpu_ms": sum(each.cpu for each in times) / len(times),
    }


def milliseconds(work: Callable[[Any], object], subject: object) -> Taken:
    """How long something takes."""
    began, used = time.perf_counter_ns(), time.process_time_ns()
    work(subject)
    cpu = time.process_time_ns() - used
    return Taken((time.perf_counter_ns() - began) / 1e6, cpu / 1e6)


def settle_collector() -> None:
    """Set Python's collector as a server does: `cli/process.py`."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 100)


def _resident_kb() -> int:
    found = _RESIDENT.search(Path("/proc/self/status").read_text())
    assert found, "Linux says how much memory a process has"
    return int(found[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.search", description=__doc__)
    parser.add_argument("engines", nargs="*", default=[*ENGINES, ELASTICSEARCH], metavar="ENGINE")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    wish = parser.parse_args(arguments)
    if wish.here:
        print(json.dumps(measure_engine(wish.engines[0], wish.documents)))
        return
    found = [measured(name, wish.documents) for name in wish.engines]
    if wish.json:
        print(json.dumps(found))
    else:
        _show(found)


def measured(name: str, documents: int) -> dict[str, Any]:
    """The figures of one engine, in a process of its own."""
    if name == ELASTICSEARCH:
        return {"engine": name, "documents": documents, **_elasticsearch(documents)}
    command = (sys.executable, "-m", "bench.search", "--here", "--documents", str(documents), name)
    return _said(command)


def _elasticsearch(documents: int) -> dict[str, Any]:
    """The same work in Java. Raises CalledProcessError where `PEER` has no Elasticsearch."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "documents.jsonl").open("w") as file:
            file.writelines(json.dumps(each._asdict()) + "\n" for each in articles(documents))
        (folder / "queries.txt").write_text("".join(" ".join(each) + "\n" for each in queries()))
        jars = str(PEER / "target" / "dependency" / "*")
        given = (str(folder / each) for each in ("documents.jsonl", "queries.txt", "node"))
        return _said(("java", "-cp", jars, str(PEER / "Measure.java"), *given))


def _said(command: Sequence[str]) -> dict[str, Any]:
    """The JSON document that is the last line of what a program prints."""
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  # our programs
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def _show(found: Sequence[dict[str, Any]]) -> None:
    table = Table("", *(each["engine"] for each in found), box=box.SIMPLE_HEAD)
    fullest = max(found, key=len)
    for name in list(fullest)[1:]:
        table.add_row(name, *(f"{each[name]:,.2f}" if name in each else "" for each in found))
    Console().print(table)


if __name__ == "__main__":
    main()
