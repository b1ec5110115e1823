"""Search indexes on a server: what one of ten fields adds to a PutRow, and what searches cost.

The same documents go into a table with an index and into one without, in turns. A turn ends with a
search, which waits until everything is indexed, so that no work is left for later that a write
made. Searches then ask the index of all these documents for a word, for words with a sort by two
fields, for a phrase, and for the groups of a field.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Final

from bench import rows
from bench.load import Load, Outcome, prepared
from bench.measure import Case, Result, Settings, combine, take_turns, turns_of
from bench.search_corpus import FIELDS, Article, articles, word
from bench.servers import Place, processor_seconds
from bench.workloads import ask, measure_case
from google.protobuf.message import Message
from tests.support.buffers import cell, row_buffer
from tests.support.http import Wire
from tests.support.requests import create_table_request

from widerow.model.search.query import SortOrder
from widerow.model.search.schema import SearchFieldType
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as s

__all__ = [
    "CONNECTIONS",
    "KINDS",
    "PUT",
    "PUT_WITH",
    "SEARCHERS",
    "create_searched",
    "document_put",
    "search_all",
    "search_results",
    "searches",
]

PUT: Final = "PutRow of a document without a search index"
PUT_WITH: Final = "PutRow of a document with a search index of ten fields"
DOCUMENTS: Final = 20_000
CONNECTIONS: Final = 32
SEARCHERS: Final = 1
ASKED: Final = 50
_INDEX: Final = "found"
_MATCH, _PHRASE, _TERM, _RANGE, _BOOL = 1, 2, 3, 4, 6  # protos §4, QueryType
_BY_FIELD: Final = 1
KINDS: Final = {
    **dict.fromkeys(("category", "author", "state"), SearchFieldType.KEYWORD),
    **dict.fromkeys(("price", "weight"), SearchFieldType.DOUBLE),
    **dict.fromkeys(("stock", "created", "rating"), SearchFieldType.LONG),
    "body": SearchFieldType.TEXT,
    "visible": SearchFieldType.BOOLEAN,
}


def search_results(place: Place, settings: Settings) -> Iterator[Result]:
    """All of them. Raises: `LoadFailed`."""
    with Wire(place.endpoint) as wire:
        _create_table(wire, "unsearched")
        create_searched(wire, "searched")
    yield from _puts(place, settings)
    for name, requests in searches("searched").items():
        yield measure_case(place, Case("search", name, requests, SEARCHERS), settings)


def create_searched(wire: Wire, table: str) -> None:
    """A table, and a search index of it with all fields of a document."""
    _create_table(wire, table)
    body = s.CreateSearchIndexRequest(table_name=table, index_name=_INDEX)
    for each in FIELDS:
        body.schema.field_schemas.add(field_name=each, field_type=KINDS[each], index=True)
    ask(wire, _request("CreateSearchIndex", body))


def _create_table(wire: Wire, table: str) -> None:
    ask(wire, _request("CreateTable", create_table_request(table)))


def _request(action: str, body: Message) -> bytes:
    return rows.SENDER.request(action, body.SerializeToString())


# --- writes ---------------------------------------------------------------------------------------


def _puts(place: Place, settings: Settings) -> Iterator[Result]:
    documents = list(articles(DOCUMENTS))
    cases = [
        Case("search", name, [document_put(table, each) for each in documents], CONNECTIONS)
        for name, table in ((PUT, "unsearched"), (PUT_WITH, "searched"))
    ]
    with ExitStack() as files:
        runs: list[Callable[[], tuple[Outcome, float]]] = []
        for case in cases:
            file = files.enter_context(prepared(case.requests))
            load = Load(place.endpoint, case.requests, file)
            runs.append(partial(_until_found, place, load, case, settings))
        seen = take_turns(runs, turns_of(len(cases), settings))
    yield from (combine(case, each) for case, each in zip(cases, seen, strict=True))


def document_put(table: str, article: Article) -> bytes:
    """PutRow of a document."""
    cells = tuple(cell(name, getattr(article, name)) for name in FIELDS)
    body = m.PutRowRequest(table_name=table, row=row_buffer(rows.key(article.number), cells))
    body.condition.row_existence = 0
    return _request("PutRow", body)


def _until_found(place: Place, load: Load, case: Case, settings: Settings) -> tuple[Outcome, float]:
    """One run, until a search finds what it wrote; microseconds of CPU time for each request."""
    before = processor_seconds(place.process)
    outcome = load.run(case.connections, settings.seconds)
    with Wire(place.endpoint) as wire:
        ask(wire, search_all("searched"))
    used = processor_seconds(place.process) - before
    return outcome, used / outcome.requests * 1e6


# --- searches -------------------------------------------------------------------------------------


def search_all(table: str) -> bytes:
    """Search that counts all documents, once every change was taken."""
    return _search(table, s.SearchQuery(limit=0, get_total_count=True))


def searches(table: str) -> dict[str, list[bytes]]:
    """Requests by what they ask for."""
    return {name: [_search(table, wish) for wish in wishes] for name, wishes in _searches().items()}


def _searches() -> dict[str, list[s.SearchQuery]]:
    frequent = [word(5 + at) for at in range(ASKED)]
    rarer = [word(500 + 31 * at) for at in range(ASKED)]
    best = s.Sort(sorter=[s.Sorter(score_sort=s.ScoreSort(order=SortOrder.DESC))])
    return {
        "Search, a word": [
            s.SearchQuery(query=_match(_MATCH, each), sort=best) for each in frequent
        ],
        "Search, a word and a range, by two fields": [_sorted(each) for each in frequent],
        "Search, a phrase": [
            s.SearchQuery(query=_match(_PHRASE, f"{one} {other}"), sort=best)
            for one, other in zip(frequent, rarer, strict=True)
        ],
        "Search, groups of a field": [_grouped(each) for each in frequent],
    }


def _match(kind: int, words: str) -> s.Query:
    body = s.MatchQuery(field_name="body", text=words)
    return s.Query(type=kind, query=body.SerializeToString())


def _sorted(wanted: str) -> s.SearchQuery:
    term = s.TermQuery(field_name="body", term=encode_variant(wanted))
    price = s.RangeQuery(
        field_name="price",
        range_from=encode_variant(10.0),
        range_to=encode_variant(60.0),
        include_lower=True,
    )
    both = s.BoolQuery(
        filter_queries=[
            s.Query(type=_TERM, query=term.SerializeToString()),
            s.Query(type=_RANGE, query=price.SerializeToString()),
        ]
    )
    state = s.Sorter(field_sort=s.FieldSort(field_name="state", order=SortOrder.ASC))
    newest = s.Sorter(field_sort=s.FieldSort(field_name="created", order=SortOrder.DESC))
    query = s.Query(type=_BOOL, query=both.SerializeToString())
    return s.SearchQuery(query=query, sort=s.Sort(sorter=[state, newest]))


def _grouped(wanted: str) -> s.SearchQuery:
    body = s.GroupByField(field_name="category", size=100).SerializeToString()
    asked = s.GroupBys(group_bys=[s.GroupBy(name="of", type=_BY_FIELD, body=body)])
    return s.SearchQuery(query=_match(_MATCH, wanted), limit=0, group_bys=asked)


def _search(table: str, wish: s.SearchQuery) -> bytes:
    body = s.SearchRequest(
        table_name=table, index_name=_INDEX, search_query=wish.SerializeToString()
    )
    body.columns_to_get.return_type = 3  # the primary key alone
    return _request("Search", body)
