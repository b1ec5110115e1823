"""Engines of full-text search that do the same work in one process, to be measured in turns.

tantivy is not a dependency: `pip install tantivy` puts it beside. Here it has the text only, in
memory, and commits when the next search comes; what is not text is in numpy columns beside it. It
has no more threads than one, so that CPU time is comparable. FTS5 comes with Python.
"""

import importlib
import sqlite3
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, Protocol

import numpy as np
from bench.search_corpus import FIELDS, Article
from numpy.typing import NDArray

from widerow.model.search.aggregation import Breakdown, FieldGroupBy, Metric, MetricKind
from widerow.model.search.query import (
    BoolQuery,
    FieldSort,
    MatchPhraseQuery,
    MatchQuery,
    Query,
    QueryOperator,
    RangeQuery,
    ScoreSort,
    SearchSort,
    SortOrder,
    TermQuery,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.search.interface import IndexFiles
from widerow.search.results.page import find_page

__all__ = ["ENGINES", "Fts5", "Own", "SearchEngine", "Tantivy"]

Scored = list[tuple[int, float]]
"""Numbers of documents and their scores, best first."""

_FIRST_SLOTS: Final = 1024
_WRITER_BYTES: Final = 64 * 1024 * 1024
_COLUMNS: Final = FIELDS[1:]


class SearchEngine(Protocol):
    """Finds what was added before, always. A document with a number that is there replaces it."""

    def add(self, found: Sequence[Article]) -> None:
        """Add or replace documents."""

    def any_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with any of these words."""
        ...

    def all_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with all of these words."""
        ...

    def phrase(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with these words behind each other."""
        ...

    def range_sorted(self, word: str, low: float, high: float, limit: int) -> list[int]:
        """Documents with a word and a price in [low, high), by state, then the newest first."""
        ...

    def groups(self) -> dict[str, int]:
        """How many documents there are of each category."""
        ...


class Columns:
    """Numpy columns by the number of a document; texts are ordinals into a list of texts."""

    def __init__(self) -> None:
        self.used = 0
        self._texts: dict[str, dict[str, int]] = {"category": {}, "author": {}, "state": {}}
        self._values: dict[str, NDArray[Any]] = {
            name: np.zeros(_FIRST_SLOTS, kind)
            for name, kind in (
                *(("category", np.int32), ("author", np.int32), ("state", np.int32)),
                *(("price", np.float64), ("stock", np.int64), ("created", np.int64)),
                *(("visible", np.bool_), ("rating", np.int64), ("weight", np.float64)),
            )
        }

    def put(self, found: Sequence[Article]) -> None:
        """Set the values of these documents."""
        self.used = max(self.used, *(each.number + 1 for each in found))
        numbers = np.fromiter((each.number for each in found), np.int64, len(found))
        for name in self._values:
            values = list(map(attrgetter(name), found))
            ordinals = self._texts.get(name)
            if ordinals is not None:
                values = [ordinals.setdefault(each, len(ordinals)) for each in values]
            self._roomy(name)[numbers] = values

    def _roomy(self, name: str) -> NDArray[Any]:
        column = self._values[name]
        if self.used > len(column):
            more = np.zeros(max(len(column), self.used), column.dtype)
            column = self._values[name] = np.concatenate((column, more))
        return column

    def of(self, name: str) -> NDArray[Any]:
        """All values of a column; of texts, their ordinals."""
        return self._values[name][: self.used]

    def ranks(self, name: str) -> NDArray[np.int64]:
        """For each ordinal of a column of texts its place in the order of the texts."""
        order = sorted(self._texts[name].items())
        found = np.empty(len(order), np.int64)
        found[[ordinal for _, ordinal in order]] = np.arange(len(order))
        return found

    def texts(self, name: str) -> list[str]:
        """The texts of a column by ordinal."""
        return list(self._texts[name])


class Tantivy:
    """tantivy in memory, committed by the next search, and columns beside it."""

    def __init__(self) -> None:
        """An empty index. Raises: `ImportError` where tantivy is not installed."""
        self._module: Any = importlib.import_module("tantivy")
        schema = self._module.SchemaBuilder()
        schema.add_unsigned_field("number", indexed=True, fast=True)
        schema.add_text_field("body", tokenizer_name="default", index_option="position")
        self._index = self._module.Index(schema.build())
        self._writer = self._index.writer(_WRITER_BYTES, 1)
        self._columns = Columns()
        self._pending = False
        self._there: set[int] = set()

    def add(self, found: Sequence[Article]) -> None:
        """Add or replace documents; the next search commits them."""
        for each in found:
            if each.number in self._there:
                self._writer.delete_documents_by_term("number", each.number)
            self._there.add(each.number)
            document = self._module.Document()
            document.add_unsigned("number", each.number)
            document.add_text("body", each.body)
            self._writer.add_document(document)
        self._columns.put(found)
        self._pending = True

    def any_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with any of these words."""
        return self._best(self._all(words, self._module.Occur.Should), limit)

    def all_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with all of these words."""
        return self._best(self._all(words, self._module.Occur.Must), limit)

    def phrase(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with these words behind each other."""
        schema = self._index.schema
        return self._best(self._module.Query.phrase_query(schema, "body", list(words)), limit)

    def range_sorted(self, word: str, low: float, high: float, limit: int) -> list[int]:
        """Documents with a word and a price in [low, high), by state, then the newest first."""
        searcher = self._searcher()
        hits = searcher.search(self._term(word), limit=max(1, searcher.num_docs), count=False).hits
        addresses = [address for _, address in hits]
        numbers = np.array(searcher.fast_field_values("number", addresses), np.int64)
        prices = self._columns.of("price")[numbers]
        numbers = numbers[(prices >= low) & (prices < high)]
        state = self._columns.ranks("state")[self._columns.of("state")[numbers]]
        order = np.lexsort((-self._columns.of("created")[numbers], state))
        return [int(each) for each in numbers[order[:limit]]]

    def groups(self) -> dict[str, int]:
        """How many documents there are of each category."""
        counts = np.bincount(self._columns.of("category"))
        return dict(zip(self._columns.texts("category"), map(int, counts), strict=True))

    def _searcher(self) -> Any:  # noqa: ANN401  # tantivy is no dependency, so it has no types here
        if self._pending:
            self._writer.commit()
            self._index.reload()
            self._pending = False
        return self._index.searcher()

    def _term(self, word: str) -> Any:  # noqa: ANN401  # tantivy is no dependency, so it has no types here
        return self._module.Query.term_query(self._index.schema, "body", word)

    def _all(self, words: Sequence[str], occur: object) -> Any:  # noqa: ANN401  # tantivy is no dependency, so it has no types here
        return self._module.Query.boolean_query([(occur, self._term(each)) for each in words])

    def _best(self, query: object, limit: int) -> Scored:
        searcher = self._searcher()
        hits = searcher.search(query, limit=limit).hits
        numbers = searcher.fast_field_values("number", [address for _, address in hits])
        return [(number, score) for number, (score, _) in zip(numbers, hits, strict=True)]


class Fts5:
    """SQLite's FTS5 in memory, and an ordinary table of the other fields."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE texts USING fts5(body, tokenize='unicode61')")
        self._database.execute(
            f"CREATE TABLE rows (number INTEGER PRIMARY KEY, {', '.join(_COLUMNS)})"
        )
        for each in _COLUMNS:
            self._database.execute(f"CREATE INDEX by_{each} ON rows ({each})")

    def add(self, found: Sequence[Article]) -> None:
        """Add or replace documents."""
        with self._database as database:
            database.executemany(
                "INSERT OR REPLACE INTO texts (rowid, body) VALUES (?, ?)",
                [each[:2] for each in found],
            )
            database.executemany(
                f"INSERT OR REPLACE INTO rows VALUES ({', '.join('?' * (len(_COLUMNS) + 1))})",  # noqa: S608  # no text of anyone
                [(each[0], *each[2:]) for each in found],
            )

    def any_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with any of these words."""
        return self._best(" OR ".join(words), limit)

    def all_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with all of these words."""
        return self._best(" AND ".join(words), limit)

    def phrase(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with these words behind each other."""
        return self._best(f'"{" ".join(words)}"', limit)

    def range_sorted(self, word: str, low: float, high: float, limit: int) -> list[int]:
        """Documents with a word and a price in [low, high), by state, then the newest first."""
        found = self._database.execute(
            "SELECT number FROM texts JOIN rows ON number = texts.rowid WHERE texts MATCH ?"
            " AND price >= ? AND price < ? ORDER BY state, created DESC LIMIT ?",
            (word, low, high, limit),
        )
        return [number for (number,) in found]

    def groups(self) -> dict[str, int]:
        """How many documents there are of each category."""
        return dict(self._database.execute("SELECT category, count(*) FROM rows GROUP BY category"))

    def _best(self, match: str, limit: int) -> Scored:
        found = self._database.execute(
            "SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
            (match, limit),
        )
        return list(found)


class Own:
    """The index of this package, in memory, asked and merged as the server does it."""

    def __init__(self) -> None:
        kinds = {
            **dict.fromkeys(("category", "author", "state"), SearchFieldType.KEYWORD),
            **dict.fromkeys(("price", "weight"), SearchFieldType.DOUBLE),
            **dict.fromkeys(("stock", "created", "rating"), SearchFieldType.LONG),
            "body": SearchFieldType.TEXT,
            "visible": SearchFieldType.BOOLEAN,
        }
        self._schema = SearchSchema(tuple(SearchField(each, kinds[each]) for each in FIELDS))
        self._fields = SearchFields(self._schema)
        self._index = DocumentIndex(self._fields)

    def add(self, found: Sequence[Article]) -> None:
        """Add or replace documents."""
        self._index.apply(
            DocumentChange(
                each.number.to_bytes(8),
                document_of(self._fields, (), each._asdict()),
                each.created,
            )
            for each in found
        )
        self._index.merge()

    def any_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with any of these words."""
        return self._best(MatchQuery("body", " ".join(words)), limit)

    def all_of(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with all of these words."""
        return self._best(MatchQuery("body", " ".join(words), QueryOperator.AND), limit)

    def phrase(self, words: Sequence[str], limit: int) -> Scored:
        """The best of the documents with these words behind each other."""
        return self._best(MatchPhraseQuery("body", " ".join(words)), limit)

    def range_sorted(self, word: str, low: float, high: float, limit: int) -> list[int]:
        """Documents with a word and a price in [low, high), by state, then the newest first."""
        price = RangeQuery("price", low, high, include_start=True)
        query = BoolQuery(filter=(TermQuery("body", word), price))
        sort = SearchSort((FieldSort("state"), FieldSort("created", SortOrder.DESC)))
        return [number for number, _ in self._page(Search("", "", query, limit=limit, sort=sort))]

    def groups(self) -> dict[str, int]:
        """How many documents there are of each category."""
        asked = Breakdown(group_bys=(FieldGroupBy("of", "category", size=2000),))
        page = find_page(
            self._index.view(), self._schema, Search("", "", limit=0, breakdown=asked), 0
        )
        return {str(each.key): each.row_count for each in page.breakdown.group_bys[0].groups}

    def grouped(self, limit: int, average: str = "") -> list[tuple[str, int]]:
        """The categories with most documents, if asked for with the average of a field."""
        metrics = (Metric("average", MetricKind.AVG, average),) if average else ()
        below = Breakdown(aggregations=metrics)
        asked = Breakdown(group_bys=(FieldGroupBy("of", "category", size=limit, below=below),))
        wish = Search("", "", limit=0, breakdown=asked)
        page = find_page(self._index.view(), self._schema, wish, 0)
        return [(str(each.key), each.row_count) for each in page.breakdown.group_bys[0].groups]

    # --- what a server does beside it --------------------------------------------------------

    @property
    def memory_bytes(self) -> int:
        """About how much memory the index takes."""
        return self._index.memory_bytes

    @property
    def segments(self) -> int:
        """How many segments a query looks at."""
        return self._index.segments

    def write(self, files: IndexFiles) -> None:
        """Write a checkpoint."""
        self._index.checkpoint(files, b"")

    def reopen(self, files: IndexFiles) -> None:
        """Go on with the index of a checkpoint, which is there."""
        found = DocumentIndex.open(self._fields, files)
        assert found is not None, "it was written before"
        self._index, _ = found

    def _best(self, query: Query, limit: int) -> Scored:
        return self._page(Search("", "", query, limit=limit, sort=SearchSort((ScoreSort(),))))

    def _page(self, wish: Search) -> Scored:
        page = find_page(self._index.view(), self._schema, wish, 0)
        return [(int.from_bytes(each.key), each.score) for each in page.hits]


ENGINES: Final[dict[str, Callable[[], SearchEngine]]] = {
    "widerow": Own,
    "tantivy": Tantivy,
    "fts5": Fts5,
}
