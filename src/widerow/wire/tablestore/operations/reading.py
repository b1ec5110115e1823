"""What the reading actions share: versions, columns, filters (semantics §5.1-§5.3)."""

from functools import lru_cache
from typing import Final

from widerow.engine.tablestore.static import check_table_name
from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX
from widerow.model.tablestore.filter import Filter, Pagination, has_pattern
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection, TimeRange
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.filters import decode_read_filter
from widerow.wire.tablestore.operations.bodies import text, texts

__all__ = ["selection", "whole_rows"]

_KEPT_FILTERS_MAX: Final = 256
_KEPT_FILTER_BYTES_MAX: Final = 1024
_FILTERS: Final[dict[bytes, tuple[Filter | None, Pagination | None]]] = {}

Read = messages.GetRowRequest | messages.TableInBatchGetRowRequest | messages.GetRangeRequest


def selection(read: Read) -> Selection:
    """Which cells the read asks for; no versions at all where it names neither versions nor times.

    Raises `InvalidRequest`: the rules of semantics §5.1 and of filters. A table name that no table
    can have is reported before any of these (semantics §1.4).
    """
    try:
        return _selection(read)
    except InvalidRequest:
        check_table_name(text(read.table_name))
        raise


def _selection(read: Read) -> Selection:
    max_versions, times = _versions(read)
    columns = read.columns_to_get
    if not (times or columns or read.filter or read.start_column or read.end_column):
        return whole_rows(max_versions)
    tree, pagination = _read_filter(read.filter) if read.filter else (None, None)
    return Selection(
        columns=frozenset(texts(columns)),
        max_versions=max_versions,
        time_range=times,
        filter=tree,
        pagination=pagination,
        start_column=text(read.start_column) or None,
        end_column=text(read.end_column) or None,
    )


def _read_filter(data: bytes) -> tuple[Filter | None, Pagination | None]:
    """What `decode_read_filter` says; remembered, as a program asks with few filters many times.

    Not those with regular expressions, which may take a thousand times their own bytes.
    """
    found = _FILTERS.get(data)
    if found is None:
        found = decode_read_filter(data)
        tree = found[0]
        if len(data) <= _KEPT_FILTER_BYTES_MAX and (tree is None or not has_pattern(tree)):
            if len(_FILTERS) >= _KEPT_FILTERS_MAX:
                _FILTERS.clear()
            _FILTERS[data] = found
    return found


@lru_cache(maxsize=64)  # nearly every read asks for one version, or for all
def whole_rows(max_versions: int) -> Selection:
    """All columns of rows, at most so many versions of each."""
    return Selection(max_versions=max_versions)


def _versions(read: Read) -> tuple[int, TimeRange | None]:
    """How many versions, of which times; none where the read does not say (semantics §5.1)."""
    count = read.max_versions
    counted = count != 0 or read.HasField("max_versions")
    times = _times(read.time_range, counted=counted) if read.HasField("time_range") else None
    if counted:
        if count <= 0:
            raise InvalidRequest(TablestoreRule.READ_MAX_VERSIONS, value=count)
        return count, times
    return (0 if times is None else INT64_MAX), times


def _times(sent: messages.TimeRange, *, counted: bool) -> TimeRange | None:
    has_start, has_end = sent.HasField("start_time"), sent.HasField("end_time")
    if sent.HasField("specific_time"):
        if has_start or has_end:
            raise InvalidRequest(TablestoreRule.TIME_SPECIFIC_AND_RANGE)
        if counted:
            raise InvalidRequest(TablestoreRule.TIME_SPECIFIC_AND_VERSIONS)
        return _specific_time(sent.specific_time)
    if has_start != has_end:
        raise InvalidRequest(TablestoreRule.TIME_RANGE_INCOMPLETE)
    return _range_of_times(sent.start_time, sent.end_time) if has_start else None


def _specific_time(time: int) -> TimeRange:
    if time < 0:
        raise InvalidRequest(TablestoreRule.TIME_SPECIFIC_NEGATIVE)
    return TimeRange(time, time + 1)


def _range_of_times(start: int, end: int) -> TimeRange:
    """Any range from 0 on: only versions that are written end at `VERSION_MAX` (semantics §5.1)."""
    if min(start, end) < 0:
        raise InvalidRequest(TablestoreRule.VERSION_RANGE, version=min(start, end))
    if start > end:
        raise InvalidRequest(TablestoreRule.TIME_RANGE_ORDER, start=start, end=end)
    return TimeRange(start, end)
