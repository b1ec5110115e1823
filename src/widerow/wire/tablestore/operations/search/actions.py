"""Search indexes and what is asked of them (search §1, §4 to §7).

Imported with the first request for one of these actions.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search.service import SearchIndexes
from widerow.errors import Conflict, InvalidRequest, NotYet
from widerow.limits import NOT_YET_SECONDS_MAX, READ_COLUMNS_MAX
from widerow.model.search.query import MATCH_ALL
from widerow.model.search.requests import (
    ColumnReturn,
    ColumnReturnType,
    ComputeSplits,
    CreateSearchIndex,
    DescribeSearchIndex,
    ParallelScan,
    ScanPage,
    Search,
    SearchIndexName,
    SearchIndexState,
    SyncPhase,
    UpdateSearchIndex,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.bodies import decoder, text, texts
from widerow.wire.tablestore.operations.search.answers import encode_answer
from widerow.wire.tablestore.operations.search.breakdowns import decode_breakdown
from widerow.wire.tablestore.operations.search.orders import decode_highlight, decode_sort
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.schemas import (
    decode_field,
    decode_schema,
    decode_weights,
    encode_schema,
    encode_weights,
)
from widerow.wire.tablestore.operations.search.unfolding import (
    Unfolding,
    member,
    members,
    named,
    request_decoder,
)

__all__ = ["SEARCH_ACTIONS"]

_RETURN_TYPES: Final = members(ColumnReturnType)
_PENDING, _RUNNING = 1, 3  # IndexStatusEnum (protos §4)
_STATUS: Final = {SyncPhase.FULL: _PENDING, SyncPhase.INCR: _RUNNING}

# --- life of indexes -------------------------------------------------------------------------


@request_decoder(m.CreateSearchIndexRequest)
def _create(sent: m.CreateSearchIndexRequest, unfolding: Unfolding) -> CreateSearchIndex:
    return CreateSearchIndex(
        text(sent.table_name),
        text(sent.index_name),
        decode_schema(sent.schema, unfolding),
        text(sent.source_index_name),
        sent.time_to_live if sent.HasField("time_to_live") else None,
    )


@request_decoder(m.UpdateSearchIndexRequest)
def _update(sent: m.UpdateSearchIndexRequest, unfolding: Unfolding) -> UpdateSearchIndex:
    return UpdateSearchIndex(
        text(sent.table_name),
        text(sent.index_name),
        text(sent.switch_index_name),
        decode_weights(sent),
        sent.time_to_live if sent.HasField("time_to_live") else None,
        tuple([decode_field(each, unfolding) for each in sent.added_field_schemas]),
    )


@decoder(m.DescribeSearchIndexRequest)
def _describe(sent: m.DescribeSearchIndexRequest) -> DescribeSearchIndex:
    """The state of the index is told unless it is not wanted."""
    wanted = sent.include_sync_stat or not sent.HasField("include_sync_stat")
    return DescribeSearchIndex(text(sent.table_name), text(sent.index_name), wanted)


def _encode_described(result: SearchIndexState) -> bytes:
    """With every field that an SDK reads unseen."""
    index = result.index
    sent = m.DescribeSearchIndexResponse(
        schema=encode_schema(index.schema),
        metering_info=m.MeteringInfo(
            storage_size=result.storage_bytes,
            row_count=result.rows,
            reserved_read_cu=0,
            timestamp=result.asked_at_us // 1_000_000,
        ),
        query_flow_weight=encode_weights(index.weights),
        create_time=index.created_us // 1000,
        time_to_live=index.time_to_live,
        index_status=m.IndexStatus(status=_STATUS[result.phase]),
    )
    if result.include_sync_stat:
        sent.sync_stat.sync_phase = result.phase
        sent.sync_stat.current_sync_timestamp = result.synced_ns
    if result.brother:
        sent.brother_index_name = result.brother
    return sent.SerializeToString()


# --- searches --------------------------------------------------------------------------------


@request_decoder(m.SearchRequest)
def _search(sent: m.SearchRequest, unfolding: Unfolding) -> Search:
    """Values for routing are a hint to a service of many machines (search §5.7)."""
    asked = unfolding.parse(m.SearchQuery, sent.search_query)
    query = partial(decode_query, unfolding)
    has_filter = asked.HasField("filter") and asked.filter.HasField("query")
    return Search(
        text(sent.table_name),
        text(sent.index_name),
        query(asked.query) if asked.HasField("query") else MATCH_ALL,
        query(asked.filter.query) if has_filter else None,
        asked.offset,
        asked.limit if asked.HasField("limit") else None,
        decode_sort(asked.sort, query),
        asked.token,
        asked.get_total_count or asked.track_total_count > 0,
        named(asked.collapse) if asked.HasField("collapse") else None,
        decode_highlight(asked.highlight) if asked.HasField("highlight") else None,
        decode_breakdown(unfolding, asked.aggs, asked.group_bys),
        _columns(sent.columns_to_get),
        _timeout(sent),
    )


@decoder(m.ComputeSplitsRequest)
def _splits(sent: m.ComputeSplitsRequest) -> ComputeSplits:
    """The Go SDK sends options without a name where none were set."""
    if not sent.search_index_splits_options.HasField("index_name"):
        raise InvalidRequest(TablestoreRule.SEARCH_SPLITS_OPTIONS)
    return ComputeSplits(text(sent.table_name), text(sent.search_index_splits_options.index_name))


@request_decoder(m.ParallelScanRequest)
def _scan(sent: m.ParallelScanRequest, unfolding: Unfolding) -> ParallelScan:
    asked = sent.scan_query
    columns = _columns(sent.columns_to_get)
    if columns.type is ColumnReturnType.ALL:
        raise InvalidRequest(TablestoreRule.SEARCH_SCAN_COLUMNS)
    return ParallelScan(
        text(sent.table_name),
        text(sent.index_name),
        decode_query(unfolding, asked.query) if asked.HasField("query") else MATCH_ALL,
        sent.session_id.decode(errors="replace"),
        asked.token,
        asked.limit if asked.HasField("limit") else None,
        asked.alive_time if asked.HasField("alive_time") else None,
        asked.current_parallel_id,
        asked.max_parallel if asked.HasField("max_parallel") else 1,
        columns,
        _timeout(sent),
    )


def _columns(sent: m.ColumnsToGet) -> ColumnReturn:
    """Without a type those that are named."""
    names = texts(sent.column_names)
    if len(names) > READ_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.READ_COLUMN_COUNT, limit=READ_COLUMNS_MAX, count=len(names)
        )
    absent = ColumnReturnType.SPECIFIED if names else ColumnReturnType.NONE
    return ColumnReturn(member(sent, "return_type", _RETURN_TYPES, absent), names)


def _timeout(sent: m.SearchRequest | m.ParallelScanRequest) -> int | None:
    """So many milliseconds a client waits; None where it does not say (search §5.7)."""
    return sent.timeout_ms if sent.timeout_ms > 0 else None


def _encode_page(page: ScanPage) -> bytes:
    return m.ParallelScanResponse(rows=page.rows, next_token=page.token or None).SerializeToString()


def _encode_list(found: tuple[SearchIndexName, ...]) -> bytes:
    indices = [m.IndexInfo(table_name=each.table, index_name=each.index) for each in found]
    return m.ListSearchIndexResponse(indices=indices).SerializeToString()


_Asked = Search | ComputeSplits | ParallelScan


def _patient(
    call: Callable[[SearchIndexes, str, Any], Any],
) -> Callable[[TablestoreEngine, str, _Asked], Any]:
    """`call`, which raises `NotYet` where the build of the index is about to begin."""

    def ask(engine: TablestoreEngine, instance: str, asked: _Asked) -> Any:  # noqa: ANN401  # of `call`
        try:
            return call(engine.search, instance, asked)
        except Conflict as error:
            if error.rule is not TablestoreRule.SEARCH_INDEX_BUILDING:
                raise
            index = str(error.details["index"])
            if not engine.search.begins_soon(instance, asked.table, index):
                raise
            of_client = None if isinstance(asked, ComputeSplits) else asked.timeout_ms
            seconds = NOT_YET_SECONDS_MAX if not of_client else of_client / 1000
            raise NotYet(error, seconds) from error

    return ask


SEARCH_ACTIONS: Final[dict[str, Action]] = {
    "CreateSearchIndex": Action(
        _create, lambda engine, instance, asked: engine.search.create(instance, asked)
    ),
    "ListSearchIndex": Action(
        # Without a table: of all tables of the instance.
        decoder(m.ListSearchIndexRequest)(
            lambda sent: text(sent.table_name) if sent.HasField("table_name") else None
        ),
        lambda engine, instance, asked: engine.search.list(instance, asked),
        _encode_list,
    ),
    "DescribeSearchIndex": Action(
        _describe,
        lambda engine, instance, asked: engine.search.describe(instance, asked),
        _encode_described,
    ),
    "UpdateSearchIndex": Action(
        _update, lambda engine, instance, asked: engine.search.update(instance, asked)
    ),
    "DeleteSearchIndex": Action(
        decoder(m.DeleteSearchIndexRequest)(
            lambda sent: SearchIndexName(text(sent.table_name), text(sent.index_name))
        ),
        lambda engine, instance, asked: engine.search.delete(instance, asked),
    ),
    "Search": Action(
        _search,
        _patient(lambda search, instance, asked: search.search(instance, asked)),
        encode_answer,
    ),
    "ComputeSplits": Action(
        _splits,
        _patient(lambda search, instance, asked: search.compute_splits(instance, asked)),
        lambda found: m.ComputeSplitsResponse(
            session_id=found.session_id.encode(), splits_size=found.splits
        ).SerializeToString(),
    ),
    "ParallelScan": Action(
        _scan,
        _patient(lambda search, instance, asked: search.parallel_scan(instance, asked)),
        _encode_page,
    ),
}
