"""Every action makes of any body a request or a declared error, and the engine of any request.

The first byte chooses the action, the rest is the body. What decodes is carried out on a store in
memory: an answer that encodes, or an error that clients know, and the store stays whole.
"""

from functools import cache
from typing import Final

from tests.fuzz.prepared import Prepared, ask

from recorded import recorded
from widerow.engine.check import check_store
from widerow.errors import StorageFailure, WiderowError
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.errors import encode_error, foreign, hint
from widerow.wire.tablestore.operations.table import OPERATIONS, OWN

__all__ = ["SEEDS", "check"]

_TABLE: Final = "T"
_ACTIONS: Final = (*OPERATIONS.values(), *OWN.values())
_NUMBERS: Final = {action.name: number for number, action in enumerate(_ACTIONS)}
_CHECK_EVERY: Final = 100
_NESTED: Final = m.NestedQuery(path="n", query=m.Query(type=11)).SerializeToString()
_MOST: Final = m.MaxAggregation(field_name="l").SerializeToString()
_BY_FIELD: Final = m.GroupByField(field_name="k").SerializeToString()
_ASKED: Final = m.SearchQuery(
    query=m.Query(type=9, query=_NESTED),
    sort=m.Sort(sorter=[m.Sorter(field_sort=m.FieldSort(field_name="l", order=1))]),
    aggs=m.Aggregations(aggs=[m.Aggregation(name="a", type=2, body=_MOST)]),
    group_bys=m.GroupBys(group_bys=[m.GroupBy(name="g", type=1, body=_BY_FIELD)]),
)
_SCHEMA: Final = m.IndexSchema(
    field_schemas=[
        m.FieldSchema(field_name="k", field_type=4),
        m.FieldSchema(field_name="l", field_type=1, is_array=True),
        m.FieldSchema(
            field_name="n",
            field_type=6,
            field_schemas=[m.FieldSchema(field_name="t", field_type=5, analyzer="split")],
        ),
    ]
)
_SEARCHES: Final = (
    (
        "CreateSearchIndex",
        m.CreateSearchIndexRequest(table_name=_TABLE, index_name="x", schema=_SCHEMA),
    ),
    (
        "Search",
        m.SearchRequest(table_name=_TABLE, index_name="x", search_query=_ASKED.SerializeToString()),
    ),
    (
        "ParallelScan",
        m.ParallelScanRequest(
            table_name=_TABLE, index_name="x", scan_query=m.ScanQuery(query=m.Query(type=11))
        ),
    ),
    (
        "UpdateSearchIndex",
        m.UpdateSearchIndexRequest(table_name=_TABLE, index_name="x", time_to_live=-1),
    ),
)
SEEDS: Final = (
    *(bytes((_NUMBERS[name],)) + sent.SerializeToString() for name, sent in _SEARCHES),
    *(bytes((_NUMBERS[name],)) + body for name, _, body in recorded(_TABLE)),
    *(bytes((_NUMBERS[name],)) + body for name, body in Prepared().requests()),
    bytes((_NUMBERS["WiderowPartitions"],)) + b'{"table": "T", "history": true}',
)


class _World:
    """An engine with tables, made anew now and then: the fuzzer drops tables as well."""

    def __init__(self) -> None:
        self.engine = Prepared().engine
        self.store = self.engine.store
        self.left = _CHECK_EVERY

    def do(self, number: int, body: bytes) -> None:
        try:
            encoded = ask(self.engine, _ACTIONS[number], body)
            assert isinstance(encoded, bytes)
        except StorageFailure:
            raise
        except WiderowError as error:
            status, code, message = foreign(error)
            assert 400 <= status < 500, f"{code} is a fault of ours"
            encode_error(code, message)
            hint(error).encode("ascii")
        self.left -= 1


@cache
def _worlds() -> list[_World]:
    return [_World()]


def check(data: bytes) -> None:
    """Carry out one request."""
    if not data:
        return
    worlds = _worlds()
    worlds[0].do(data[0] % len(_ACTIONS), data[1:])
    if worlds[0].left <= 0:
        assert check_store(worlds[0].store) == [], "the store is damaged"
        worlds[0].store.close()
        worlds[0] = _World()
