"""Right requests of every action and variant, for `mutate.py` to spoil.

Those of timeseries tables are about the table `Series`.
"""

from collections.abc import Callable
from typing import Final

from google.protobuf.message import Message
from tests.support.buffers import FLAT_POINT, cell, key_buffer, row_buffer
from tests.support.requests import (
    ANY,
    BODIES,
    DELIVERY_BODIES,
    KEY,
    SEARCH_BODIES,
    SERIES_BODIES,
    SQL_BODIES,
    STREAM_BODIES,
    TUNNEL_BODIES,
    batch_get_request,
    batch_write_request,
    create_table_request,
    get_row_request,
    update_table_request,
)

from widerow.model.values import KeyMarker, Value
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import sql_messages as q
from widerow.wire.tablestore import timeseries_messages as p
from widerow.wire.tablestore.operations.table import OPERATIONS

__all__ = ["NOW_MS", "recorded"]

NOW_MS: Final = 1_468_944_000_000
"""The time that these requests are of: a server must be at it to take their versions."""


def _leaf(value: bytes = b"\x03\x01\x00\x00\x00x", comparator: int = 1) -> m.Filter:
    rule = m.ValueTransferRule(regex="([a-z]+)", cast_type=3)
    condition = m.SingleColumnValueFilter(
        comparator=comparator,
        column_name="c",
        column_value=value,
        filter_if_missing=False,
        latest_version_only=True,
        value_trans_rule=rule,
    )
    return m.Filter(type=1, filter=condition.SerializeToString())


def _tree() -> bytes:
    nothing = m.CompositeColumnValueFilter(combinator=1, sub_filters=[_leaf(comparator=2)])
    parts = [_leaf(), _leaf(comparator=7), m.Filter(type=2, filter=nothing.SerializeToString())]
    some = m.CompositeColumnValueFilter(combinator=3, sub_filters=parts)
    return m.Filter(type=2, filter=some.SerializeToString()).SerializeToString()


def _page() -> bytes:
    page = m.ColumnPaginationFilter(offset=1, limit=2).SerializeToString()
    return m.Filter(type=3, filter=page).SerializeToString()


def _every_option(table: str) -> m.CreateTableRequest:
    message = create_table_request(table)
    message.table_meta.primary_key.add(name="seq", type=1, option=1)
    message.table_meta.defined_column.add(name="d", type=4)
    message.table_options.deviation_cell_version_in_sec = 86400
    message.table_options.allow_update = True
    message.stream_spec.CopyFrom(m.StreamSpecification(enable_stream=True, expiration_time=24))
    message.sse_spec.CopyFrom(m.SSESpecification(enable=True, key_type=1))
    bounds = (b"\x09", b"\x03\x01\x00\x00\x00m", b"\x0a")
    message.partitions.add(begin=bounds[0], end=bounds[1])
    message.partitions.add(begin=bounds[1], end=bounds[2])
    return message


def _every_change(table: str) -> m.UpdateTableRequest:
    message = update_table_request(table)
    message.reserved_throughput.capacity_unit.CopyFrom(m.CapacityUnit(read=0, write=0))
    message.stream_spec.CopyFrom(m.StreamSpecification(enable_stream=True, expiration_time=24))
    return message


def _every_type(table: str) -> m.PutRowRequest:
    values: dict[str, Value] = {"b": b"\x00", "d": 0.5, "f": False, "i": -1, "s": "text"}
    cells = [cell(name, value) for name, value in values.items()]
    dated = [cell("c", value, version=NOW_MS + value) for value in range(3)]
    condition = m.Condition(row_existence=0, column_condition=_tree())
    returned = m.ReturnContent(return_type=1)
    return m.PutRowRequest(
        table_name=table,
        row=row_buffer(KEY, [*dated, *cells]),
        condition=condition,
        return_content=returned,
    )


def _every_operation(table: str) -> m.UpdateRowRequest:
    cells = [
        cell("c", "x"),
        cell("count", 5, operation=4),
        cell("s", operation=1),
        cell("i", operation=3, version=NOW_MS),
    ]
    returned = m.ReturnContent(return_type=2, return_column_names=["count"])
    return m.UpdateRowRequest(
        table_name=table,
        row_change=row_buffer(KEY, cells),
        condition=m.Condition(row_existence=0),
        return_content=returned,
    )


def _every_change_of_rows(table: str, *, atomic: bool) -> m.BatchWriteRowRequest:
    message = batch_write_request(table)
    other = (("k", "a"), ("n", 2))
    third = (("k", "a"), ("n", 3))
    updated = row_buffer(other, [cell("c", 1), cell("count", 1, operation=4)])
    deleted = row_buffer(third, marker=True)
    message.tables[0].rows.add(type=2, row_change=updated, condition=ANY)
    message.tables[0].rows.add(type=3, row_change=deleted, condition=ANY)
    message.is_atomic = atomic
    return message


def _numbered(table: str) -> m.PutRowRequest:
    row = row_buffer((*KEY, ("seq", KeyMarker.AUTO_INCREMENT)), [cell("c", 1)])
    returned = m.ReturnContent(return_type=1)
    return m.PutRowRequest(table_name=table, row=row, condition=ANY, return_content=returned)


def _backward(table: str) -> m.GetRangeRequest:
    bound = [KeyMarker.INF_MAX] * 2, [KeyMarker.INF_MIN] * 2
    start, end = (key_buffer(zip("kn", each, strict=True)) for each in bound)
    return m.GetRangeRequest(
        table_name=table,
        direction=1,
        max_versions=3,
        limit=2,
        inclusive_start_primary_key=start,
        exclusive_end_primary_key=end,
        filter=_tree(),
    )


def _of_times(table: str) -> m.GetRowRequest:
    message = get_row_request(table)
    message.time_range.CopyFrom(m.TimeRange(start_time=0, end_time=NOW_MS + 5))
    message.columns_to_get.extend(["c", "i", "k"])
    message.filter = _tree()
    return message


def _of_columns(table: str) -> m.GetRowRequest:
    message = get_row_request(table)
    message.start_column, message.end_column, message.filter = "b", "t", _page()
    return message


def _of_two_tables(table: str) -> m.BatchGetRowRequest:
    message = batch_get_request(table)
    message.tables.add(
        table_name="Numbered",
        primary_key=[key_buffer((*KEY, ("seq", number))) for number in range(3)],
        time_range=m.TimeRange(specific_time=NOW_MS),
        filter=_tree(),
    )
    return message


_SERIES: Final = "Series"
_STATEMENTS: Final = {
    "of rows": "SELECT k, n AS v, count(*), max(old) FROM {0} WHERE k >= 'a' AND (k LIKE 'x%' OR "
    "k IN ('a', 'b') OR NOT n BETWEEN 1 AND 2.5e0) GROUP BY k, n HAVING count(*) > 0 "
    "ORDER BY k DESC, 2 LIMIT 3 OFFSET 1",
    "of a join": "SELECT x.k, concat(upper(y.k), '-', ifnull(y.old, 'none')) FROM {0} x LEFT JOIN "
    "(SELECT DISTINCT k, old FROM {0}) y ON x.k = y.k WHERE x.k IN (SELECT k FROM {0})",
    "of functions": "SELECT from_unixtime(1600000000), round(-2.5, 1) DIV 2, cast('12ab' AS "
    "SIGNED), CASE WHEN 1 <=> NULL THEN x'ff' ELSE date_add('2020-01-31', INTERVAL 1 MONTH) END",
    "of a plan": "EXPLAIN ANALYZE SELECT * FROM {0} WHERE k = 'x'",
    "of a mapping": "CREATE TABLE IF NOT EXISTS {0} (k VARCHAR(1024), n BIGINT(20), old BIGINT, "
    "c MEDIUMTEXT, PRIMARY KEY (k, n)) ENGINE='tablestore' "
    'ENGINE_ATTRIBUTE=\'{{"consistency": "strong"}}\'',
    "of a change": "INSERT INTO {0} (k, n, old) VALUES ('q', 1, 2), ('q', 2, NULL)",
    "of an update": "UPDATE {0} SET old = old + 1 WHERE k = 'x' AND n = 1",
    "of points": "SELECT _m_name, time_bin(_time, '10s') AS t, avg(_double_value) FROM Series "
    "WHERE tag_value_at(_tags, 'n') = 'v' AND _tags LIKE '%\"n=v\"%' AND _time < 5 "
    "GROUP BY _m_name, t",
    "of columns": "SHOW FULL COLUMNS FROM {0} LIKE '%c%'",
}


def _statement(text: str) -> Callable[[str], Message]:
    return lambda table: q.SQLQueryRequest(query=text.format(table), version=2)


def _flat_points(table: str) -> p.PutTimeseriesDataRequest:
    rows = p.TimeseriesRows(type=0, rows_data=FLAT_POINT)
    return p.PutTimeseriesDataRequest(table_name=table, rows_data=rows, supported_table_version=1)


VARIANTS: Final[dict[str, tuple[str, Callable[[str], Message]]]] = {
    "every option": ("CreateTable", _every_option),
    "every change": ("UpdateTable", _every_change),
    "defined columns": (
        "AddDefinedColumn",
        lambda table: m.AddDefinedColumnRequest(
            table_name=table, columns=[m.DefinedColumnSchema(name="d", type=4)]
        ),
    ),
    "no defined columns": (
        "DeleteDefinedColumn",
        lambda table: m.DeleteDefinedColumnRequest(table_name=table, columns=["d"]),
    ),
    "every type": ("PutRow", _every_type),
    "every operation": ("UpdateRow", _every_operation),
    "every change of rows": (
        "BatchWriteRow",
        lambda table: _every_change_of_rows(table, atomic=False),
    ),
    "atomic": ("BatchWriteRow", lambda table: _every_change_of_rows(table, atomic=True)),
    "numbered": ("PutRow", lambda _: _numbered("Numbered")),
    "of times": ("GetRow", _of_times),
    "of columns": ("GetRow", _of_columns),
    "backward": ("GetRange", _backward),
    "of two tables": ("BatchGetRow", _of_two_tables),
    "in FlatBuffers": ("PutTimeseriesData", _flat_points),
    **{name: ("SQLQuery", _statement(text)) for name, text in _STATEMENTS.items()},
}


def _name_for(action: str, table: str) -> str:
    """The table that an action is asked about: one of its kind, or one that is not there yet."""
    if "Timeseries" in action:
        return f"New{_SERIES}" if action == "CreateTimeseriesTable" else _SERIES
    return "New" if action == "CreateTable" else table


def recorded(table: str) -> list[tuple[str, str, bytes]]:
    """Action, variant and body of right requests; every action is among them."""
    plain = [
        (action, "plain", make(_name_for(action, table)))
        for action, make in {
            **BODIES,
            **STREAM_BODIES,
            **TUNNEL_BODIES,
            **DELIVERY_BODIES,
            **SEARCH_BODIES,
            **SERIES_BODIES,
            **SQL_BODIES,
        }.items()
    ]
    varied = [
        (action, variant, make(_name_for(action, table)).SerializeToString())
        for variant, (action, make) in VARIANTS.items()
    ]
    assert {action for action, *_ in plain + varied} == set(OPERATIONS)
    return plain + varied
