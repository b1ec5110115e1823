"""One large index: a million documents, and vectors: `python -m bench.search_million`.

    python -m bench.search_million documents [--count 1000000]
    python -m bench.search_million vectors [--count 100000]

`documents`: what indexing takes (CPU time, merges included, without what converting a row costs a
server beside it), memory, reopening from the files of a checkpoint in a process of its own, up to
the answer of a first query, and queries on the clock. `vectors`: the ten nearest of random vectors
of 128 and of 768 numbers, and how many of the ten are the right ones. Prints one JSON document.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from bench.search import QUERIES, figures, milliseconds, queries, settle_collector
from bench.search_corpus import articles
from bench.search_engines import Own

from widerow.model.search.query import KnnVectorQuery, ScoreSort, SearchSort
from widerow.model.search.requests import Search
from widerow.model.search.schema import (
    SearchField,
    SearchFieldType,
    SearchSchema,
    VectorMetric,
    VectorOptions,
)
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.results.page import find_page
from widerow.server.search.files import IndexDirectory

__all__ = ["DIMENSIONS", "main", "measure_documents", "measure_vectors", "recall"]

BATCH: Final = 1000
BEST: Final = 10
DIMENSIONS: Final = (128, 768)
_SEED: Final = 5
_MEGABYTE: Final = 1_000_000


def measure_documents(count: int) -> dict[str, float]:
    """The figures of an index of so many documents."""
    settle_collector()
    engine = Own()
    used = 0
    source = articles(count)
    while part := list(itertools.islice(source, BATCH)):
        began = time.process_time_ns()
        engine.add(part)
        used += time.process_time_ns() - began
    found = {
        "documents": float(count),
        "index_us": used / count / 1000,
        "memory_mb": engine.memory_bytes / _MEGABYTE,
        "segments": float(engine.segments),
    }
    with TemporaryDirectory() as folder:
        began_ns = time.perf_counter_ns()
        engine.write(IndexDirectory(Path(folder) / "search" / "1"))
        found["checkpoint_s"] = (time.perf_counter_ns() - began_ns) / 1e9
        found["files_mb"] = sum(each.stat().st_size for each in Path(folder).rglob("*-*")) / (
            _MEGABYTE
        )
        found |= _reopened(folder)
    return found | answering(engine)


def answering(engine: Own) -> dict[str, float]:
    """Queries of a filled index, on the clock."""
    cases: dict[str, Callable[[Sequence[str]], object]] = {
        "term": lambda words: engine.any_of(words[:1], BEST),
        "bool": lambda words: engine.all_of(words[:2], BEST),
        "any": lambda words: engine.any_of(words, BEST),
        "phrase": lambda words: engine.phrase(words[:2], BEST),
        "sort": lambda words: engine.range_sorted(words[0], 10.0, 60.0, BEST),
        "groups": lambda _: engine.grouped(BEST),
        "groups_average": lambda _: engine.grouped(BEST, average="price"),
    }
    found: dict[str, float] = {}
    for name, ask in cases.items():
        ask(queries()[0])
        found |= figures(name, [milliseconds(ask, words) for words in queries()])
    return found


def _reopened(folder: str) -> dict[str, float]:
    command = (sys.executable, "-m", "bench.search_million", "reopen", "--folder", folder)
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  # ourselves
    found: dict[str, float] = json.loads(ended.stdout)
    return found


def _reopen(folder: str) -> dict[str, float]:
    engine = Own()
    began = time.perf_counter_ns()
    engine.reopen(IndexDirectory(Path(folder) / "search" / "1"))
    opened = time.perf_counter_ns()
    engine.any_of(queries()[0][:1], BEST)
    ended = time.perf_counter_ns()
    return {"reopen_s": (opened - began) / 1e9, "first_answer_s": (ended - began) / 1e9}


# --- vectors -----------------------------------------------------------------------------------


def measure_vectors(count: int, dimension: int) -> dict[str, float]:
    """The ten nearest by cosine, of random vectors."""
    random = np.random.default_rng(_SEED)
    vectors = random.standard_normal((count, dimension), dtype=np.float32)
    asked = random.standard_normal((QUERIES, dimension), dtype=np.float32)
    options = VectorOptions(dimension, VectorMetric.COSINE)
    schema = SearchSchema((SearchField("v", SearchFieldType.VECTOR, vector=options),))
    fields = SearchFields(schema)
    index = DocumentIndex(fields)
    began = time.process_time_ns()
    for start in range(0, count, BATCH):
        index.apply(
            DocumentChange(
                number.to_bytes(8), document_of(fields, (), {"v": vectors[number].tobytes()}), 0
            )
            for number in range(start, min(count, start + BATCH))
        )
        index.merge()
    used = time.process_time_ns() - began

    def nearest(vector: Any) -> list[int]:  # noqa: ANN401  # an array
        query = KnnVectorQuery("v", tuple(vector.tolist()), top_k=BEST)
        wish = Search("", "", query=query, limit=BEST, sort=SearchSort((ScoreSort(),)))
        return [int.from_bytes(each.key) for each in find_page(index.view(), schema, wish, 0).hits]

    nearest(asked[0])
    times = [milliseconds(nearest, vector) for vector in asked]
    right = [recall(vectors, vector, nearest(vector)) for vector in asked]
    return {
        "vectors": float(count),
        "dimension": float(dimension),
        "index_us": used / count / 1000,
        **figures("knn", times),
        "recall": sum(right) / len(right),
    }


def recall(vectors: Any, asked: Any, found: Sequence[int]) -> float:  # noqa: ANN401  # arrays
    """Which share of the nearest by cosine, as many as were found, is among those found."""
    wide = vectors.astype(np.float64)
    cosines = wide @ asked.astype(np.float64) / np.linalg.norm(wide, axis=1)
    best = np.argsort(-cosines, kind="stable")[: len(found)]
    return len(set(best.tolist()) & set(found)) / len(found) if found else 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.search_million", description=__doc__)
    parser.add_argument("what", choices=("documents", "vectors", "reopen"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    wish = parser.parse_args(arguments)
    found: Any
    if wish.what == "documents":
        found = measure_documents(wish.count or 1_000_000)
    elif wish.what == "vectors":
        found = [measure_vectors(wish.count or 100_000, each) for each in DIMENSIONS]
    else:
        found = _reopen(wish.folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
