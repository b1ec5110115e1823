"""Any query, aggregation, group-by, sort, highlight or token is answered, or refused by an error.

The first byte chooses what the rest is the bytes of, the second its type. It becomes part of a
Search of an index with a field of every type, over rows of which some have other values than those.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from google.protobuf.message import Message
from tests.fuzz.prepared import ask
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StorageFailure, WiderowError
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import search_messages as s
from widerow.wire.tablestore.errors.answers import encode_error, foreign, hint
from widerow.wire.tablestore.operations.table import OPERATIONS

__all__ = ["SEEDS", "check"]

_TABLE: Final = "T"
_INDEX: Final = "x"
_TYPES: Final = 32  # more than there are of anything


def _schema() -> s.IndexSchema:
    vector = s.VectorOptions(data_type=1, dimension=2, metric_type=0)
    below = [
        s.FieldSchema(field_name="n", field_type=1),
        s.FieldSchema(field_name="t", field_type=5),
    ]
    plain = {"l": 1, "d": 2, "b": 3, "k": 4, "g": 7, "f": 10, "ip": 11}
    fields = [s.FieldSchema(field_name=name, field_type=kind) for name, kind in plain.items()]
    fields += [
        s.FieldSchema(field_name="t", field_type=5, enable_highlighting=True),
        s.FieldSchema(field_name="date", field_type=8, date_formats=["yyyy-MM-dd", "epoch_millis"]),
        s.FieldSchema(field_name="v", field_type=9, vector_options=vector),
        s.FieldSchema(field_name="o", field_type=6, field_schemas=below),
        s.FieldSchema(field_name="la", field_type=1, is_array=True),
    ]
    return s.IndexSchema(field_schemas=fields)


@cache
def _engine() -> TablestoreEngine:
    engine = open_tablestore(open_store("memory:"), FakeClock(), FakeEntropy())
    engine.core.run(engine.create_table("i", create(_TABLE, {"p": KeyType.INTEGER})))
    asked = s.CreateSearchIndexRequest(table_name=_TABLE, index_name=_INDEX, schema=_schema())
    ask(engine, OPERATIONS["CreateSearchIndex"], asked.SerializeToString())
    rows: list[dict[str, object]] = [
        {"l": 1, "d": 0.5, "b": True, "k": "a", "g": "1,2", "t": "green tea", "v": "[1,0]"},
        {"l": 2, "d": 2.5, "k": "b", "ip": "10.0.0.1", "date": "2024-05-01", "la": "[1,2]"},
        {"f": "abc", "t": "a cup", "o": '[{"n": 1, "t": "tea"}, {"n": 2}]', "v": "[0,1]"},
        {"l": "text", "d": True, "g": "no", "date": "2024", "v": "[1]", "o": "{", "la": "7"},
    ]
    for number, row in enumerate(rows):
        change = put(_TABLE, {"p": number}, row)  # type: ignore[arg-type]  # values of columns
        engine.core.run(engine.rows.write_row("i", change))
    return engine


def _parsed(message: Message, data: bytes) -> bool:
    """Whether bytes are such a message: others never reach what is looked at here."""
    try:
        message.ParseFromString(data)
    except Exception:  # noqa: BLE001  # whatever the runtime says of bytes that are none
        return False
    return True


def _query(kind: int, data: bytes) -> s.SearchQuery:
    return s.SearchQuery(query=s.Query(type=kind, query=data))


def _filter(kind: int, data: bytes) -> s.SearchQuery:
    inside = s.BoolQuery(filter_queries=[s.Query(type=kind, query=data)]).SerializeToString()
    highest = s.SearchQuery(query=s.Query(type=6, query=inside))
    highest.sort.sorter.add(score_sort=s.ScoreSort(order=1))
    return highest


def _aggregation(kind: int, data: bytes) -> s.SearchQuery:
    return s.SearchQuery(aggs=s.Aggregations(aggs=[s.Aggregation(name="a", type=kind, body=data)]))


def _group_by(kind: int, data: bytes) -> s.SearchQuery:
    return s.SearchQuery(
        group_bys=s.GroupBys(group_bys=[s.GroupBy(name="g", type=kind, body=data)])
    )


def _sort(kind: int, data: bytes) -> s.SearchQuery:
    asked = s.SearchQuery(limit=kind)
    _parsed(asked.sort, data)
    return asked


def _highlight(kind: int, data: bytes) -> s.SearchQuery:
    del kind
    words = s.MatchQuery(field_name="t", text="tea").SerializeToString()
    asked = s.SearchQuery(query=s.Query(type=1, query=words))
    _parsed(asked.highlight, data)
    return asked


def _token(kind: int, data: bytes) -> s.SearchQuery:
    return s.SearchQuery(limit=kind, token=data)


_PARTS: Final[tuple[Callable[[int, bytes], s.SearchQuery], ...]] = (
    *(_query, _filter, _aggregation, _group_by, _sort, _highlight, _token),
)


def check(data: bytes) -> None:
    """Ask for one thing."""
    if len(data) < 2:
        return
    try:
        asked = _PARTS[data[0] % len(_PARTS)](data[1] % _TYPES, data[2:]).SerializeToString()
    except Exception:  # noqa: BLE001  # what the runtime itself does not write again
        return
    body = s.SearchRequest(table_name=_TABLE, index_name=_INDEX, search_query=asked)
    try:
        assert isinstance(ask(_engine(), OPERATIONS["Search"], body.SerializeToString()), bytes)
    except StorageFailure:
        raise
    except WiderowError as error:
        status, code, message = foreign(error)
        assert 400 <= status < 500, f"{code} is a fault of ours"
        encode_error(code, message)
        hint(error).encode("ascii")


def _seed(part: Callable[[int, bytes], s.SearchQuery], kind: int, message: Message) -> bytes:
    return bytes((_PARTS.index(part), kind)) + message.SerializeToString()


_TERM: Final = s.TermQuery(field_name="k", term=b"\x03\x01\x00\x00\x00a")
_INSIDE: Final = s.Query(type=3, query=_TERM.SerializeToString())
_BELOW: Final = s.Query(
    type=1, query=s.MatchQuery(field_name="o.t", text="tea").SerializeToString()
)
SEEDS: Final = (
    _seed(_query, 1, s.MatchQuery(field_name="t", text="green tea", minimum_should_match=1)),
    _seed(_query, 2, s.MatchPhraseQuery(field_name="t", text="green tea")),
    _seed(_query, 3, _TERM),
    _seed(_query, 4, s.RangeQuery(field_name="l", range_from=b"\x00\x01" + bytes(7))),
    _seed(_query, 5, s.PrefixQuery(field_name="k", prefix="a")),
    _seed(_query, 6, s.BoolQuery(should_queries=[_INSIDE], must_not_queries=[_INSIDE])),
    _seed(_filter, 7, s.ConstScoreQuery(filter=_INSIDE)),
    _seed(_query, 8, s.FunctionScoreQuery(query=_INSIDE)),
    _seed(_query, 9, s.NestedQuery(path="o", query=_BELOW)),
    _seed(_query, 10, s.WildcardQuery(field_name="k", value="*a?")),
    _seed(_query, 12, s.GeoBoundingBoxQuery(field_name="g", top_left="9,0", bottom_right="0,9")),
    _seed(_query, 13, s.GeoDistanceQuery(field_name="g", center_point="1,1", distance=2e5)),
    _seed(_query, 14, s.GeoPolygonQuery(field_name="g", points=["0,0", "0,9", "9,0"])),
    _seed(_query, 15, s.TermsQuery(field_name="k", terms=[b"\x03\x01\x00\x00\x00a"])),
    _seed(_query, 17, s.ExistsQuery(field_name="l")),
    _seed(_query, 18, s.KnnVectorQuery(field_name="v", top_k=2, float32_query_vector=[1, 0])),
    _seed(_aggregation, 1, s.AvgAggregation(field_name="l")),
    _seed(_aggregation, 6, s.CountAggregation(field_name="k")),
    _seed(_group_by, 1, s.GroupByField(field_name="k", size=2)),
    _seed(_group_by, 2, s.GroupByRange(field_name="l", ranges=[s.Range(begin=0, end=5)])),
    _seed(_group_by, 5, s.GroupByHistogram(field_name="l", interval=b"\x00\x02" + bytes(7))),
    _seed(_group_by, 7, s.GroupByGeoGrid(field_name="g")),
    _seed(_sort, 5, s.Sort(sorter=[s.Sorter(field_sort=s.FieldSort(field_name="l", order=1))])),
    _seed(_sort, 2, s.Sort(sorter=[s.Sorter(pk_sort=s.PrimaryKeySort(order=1))])),
    _seed(_highlight, 0, s.Highlight(highlight_parameters=[s.HighlightParameter(field_name="t")])),
    bytes((_PARTS.index(_token), 3)) + b"\x01\x92",
)
