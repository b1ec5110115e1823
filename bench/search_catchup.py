"""What a search costs behind so many writes, in CPU time: `python -m bench.search_catchup`.

Documents of ten fields in a table in memory, whose index has them. So many more are written, then a
word is searched; its CPU time is that of taking them in and of the answer. Segments are merged in
between, as the server's threads do. Prints one JSON document: milliseconds by the number of writes.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from typing import Final

from bench.search_corpus import FIELDS, Article, articles, word
from bench.search_server import KINDS
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.query import MatchQuery, ScoreSort, SearchSort, SortOrder
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    CreateSearchIndex,
    Search,
)
from widerow.model.search.schema import SearchField, SearchSchema
from widerow.model.values import KeyType
from widerow.server.system import SystemClock, SystemEntropy
from widerow.storage.memory import MemoryStore

__all__ = ["main", "milliseconds"]

DOCUMENTS: Final = 20_000
WRITES: Final = (1, 16, 64, 256)
SEARCHES: Final = 40
_SPREAD: Final = 2_654_435_761  # keys come in no order (Knuth's multiplicative hash)
_KEYS: Final = 2**40


def milliseconds(documents: int, writes: Sequence[int], searches: int) -> dict[int, float]:
    """CPU time of a search behind each number of writes, the mean of some."""
    engine = open_tablestore(MemoryStore(), SystemClock(), SystemEntropy())
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    schema = SearchSchema(tuple(SearchField(name, KINDS[name]) for name in FIELDS))
    engine.core.run(engine.search.create("i", CreateSearchIndex("t", "x", schema)))
    given = articles(documents + searches * sum(writes))
    _write(engine, given, documents)
    found: dict[int, float] = {}
    for count in writes:
        used = 0
        for number in range(searches):
            _write(engine, given, count)
            before = time.process_time_ns()
            engine.search.search("i", _asked(word(5 + number)))
            used += time.process_time_ns() - before
            _tidy(engine)
        found[count] = used / searches / 1e6
    return found


def _asked(wanted: str) -> Search:
    best = SearchSort((ScoreSort(SortOrder.DESC),))
    keys = ColumnReturn(ColumnReturnType.NONE)
    return Search("t", "x", MatchQuery("body", wanted), sort=best, columns=keys)


def _write(engine: TablestoreEngine, given: Iterator[Article], count: int) -> None:
    for at in range(count):
        article = next(given)
        key = {"k": article.number * _SPREAD % _KEYS}
        cells = {name: getattr(article, name) for name in FIELDS}
        engine.core.run(engine.rows.write_row("i", put("t", key, cells)))
        if at % 1000 == 999:
            while engine.search.work():
                pass
            _tidy(engine)


def _tidy(engine: TablestoreEngine) -> None:
    engine.search.gather()
    engine.search.merge()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.search_catchup", description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--searches", type=int, default=SEARCHES)
    wish = parser.parse_args(arguments)
    print(json.dumps(milliseconds(wish.documents, WRITES, wish.searches)))


if __name__ == "__main__":
    main()
