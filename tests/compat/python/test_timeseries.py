"""Timeseries tables through the vendor's Python SDK (timeseries §14, P)."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
import tablestore as ts
from tablestore.timeseries_condition import (
    AttributeMetaQueryCondition,
    CompositeMetaQueryCondition,
    DataSourceMetaQueryCondition,
    MeasurementMetaQueryCondition,
    MetaQueryCompositeOperator,
    MetaQuerySingleOperator,
    TagMetaQueryCondition,
    UpdateTimeMetaQueryCondition,
)
from tests.compat.series import KEYED, MEASURED, T0, TABLES, check_options_of_metas

from widerow.system import SystemClock

# The SDK encodes points by a deprecated call of its FlatBuffers library.
pytestmark = pytest.mark.filterwarnings("ignore:numElems is deprecated:DeprecationWarning")

Facts = dict[str, Any]
DATA_TYPES: Final = {"LONG": 1, "STRING": 4}
Series = tuple[str, str, dict[str, str]]
FIRST: Final[Series] = ("cpu", "host1", {"region": "杭州", "os": "linux"})
SECOND: Final[Series] = ("cpu", "host2", {"region": "eu"})
BARE: Final[Series] = ("mem", "", {})


def printed(value: Any) -> Any:  # noqa: ANN401  # of a field
    """Keeps the type of a value visible, as the programs of the other SDKs do."""
    if isinstance(value, float):
        return {"double": value}
    if isinstance(value, bytes | bytearray):
        return {"binary": bytes(value).hex()}
    return value


def refusal(call: Callable[[], object]) -> Any:  # noqa: ANN401  # facts, or a text
    try:
        call()
    except ts.OTSServiceError as error:
        return {
            "status": error.get_http_status(),
            "code": error.get_error_code(),
            "message": error.get_error_message(),
        }
    return "no error"


def meta_of(name: str, ttl: int | None = None) -> ts.TimeseriesTableMeta:
    options = None if ttl is None else ts.TimeseriesTableOptions(ttl)
    return ts.TimeseriesTableMeta(name, options)


def made(client: ts.OTSClient, meta: ts.TimeseriesTableMeta) -> None:
    client.create_timeseries_table(ts.CreateTimeseriesTableRequest(meta))


def told(meta: ts.TimeseriesTableMeta) -> Facts:
    return {
        "name": meta.timeseries_table_name,
        "ttl": meta.timeseries_table_options.time_to_live,
        "keys": meta.timeseries_keys,
        "field keys": [[*each] for each in meta.field_primary_keys or ()],
    }


def described(client: ts.OTSClient, name: str) -> ts.TimeseriesTableMeta:
    return client.describe_timeseries_table(name).table_meta


def options_of(meta: ts.TimeseriesTableMeta) -> list[Any]:
    options = meta.timeseries_meta_options
    return [meta.status, options.meta_time_to_live, options.allow_update_attributes]


def data_table(client: ts.OTSClient, name: str) -> None:
    client.create_table(
        ts.TableMeta(name, [("pk", "STRING")]),
        ts.TableOptions(),
        ts.ReservedThroughput(ts.CapacityUnit(0, 0)),
    )


def tables(client: ts.OTSClient) -> Facts:
    made(client, meta_of("listed_tables", 864_000))
    made(client, meta_of("listed_other"))
    data_table(client, "listed_data")
    first = described(client, "listed_tables")
    seen: Facts = {
        "described": told(first),
        "again": refusal(lambda: made(client, meta_of("listed_tables"))),
        "as data table": refusal(lambda: data_table(client, "listed_other")),
    }
    client.update_timeseries_table(meta_of("listed_tables", 1_728_000))
    seen["changed"] = told(described(client, "listed_tables"))
    seen["listed"] = [told(each) for each in client.list_timeseries_table()]
    seen["data tables"] = [*client.list_table()]
    change = ts.TimeseriesMetaOptions(10_000_000, allow_update_attributes=False)
    client.update_timeseries_table(
        ts.TimeseriesTableMeta("listed_tables", timeseries_meta_options=change)
    )
    seen["options"] = [options_of(first), options_of(described(client, "listed_tables"))]
    both = ts.TimeseriesTableMeta("listed_tables", ts.TimeseriesTableOptions(864_000), change)
    seen["together"] = refusal(lambda: client.update_timeseries_table(both))
    client.delete_timeseries_table("listed_tables")
    seen["gone"] = refusal(lambda: described(client, "listed_tables"))
    seen["unknown"] = refusal(lambda: client.delete_timeseries_table("listed_tables"))
    return seen


# --- points and metas ------------------------------------------------------------------------


def key(series: Series) -> ts.TimeseriesKey:
    return ts.TimeseriesKey(*series)


def put(
    client: ts.OTSClient,
    table: str,
    series: Series,
    *points: tuple[int, dict[str, Any]],
) -> list[Any]:
    rows = [ts.TimeseriesRow(key(series), fields, T0 + at) for at, fields in points]
    return client.put_timeseries_data(table, rows).failedRows or []


def fetched(
    client: ts.OTSClient,
    table: str,
    series: Series,
    **more: Any,  # noqa: ANN401  # of the request
) -> tuple[list[ts.TimeseriesRow], bytes | None]:
    times = {"beginTimeInUs": 0, "endTimeInUs": T0 + 1_000_000}
    request = ts.GetTimeseriesDataRequest(table, key(series), **(times | more))
    answer = client.get_timeseries_data(request)
    return answer.rows or [], answer.nextToken


def points(
    client: ts.OTSClient,
    table: str,
    series: Series,
    **more: Any,  # noqa: ANN401  # of the request
) -> list[Any]:
    return [
        [
            each.timeseries_key.measurement_name,
            each.timeseries_key.data_source or "",
            each.timeseries_key.tags,
            each.time_in_us,
            {name: printed(value) for name, value in each.fields.items()},
        ]
        for each in fetched(client, table, series, **more)[0]
    ]


def pages(
    client: ts.OTSClient,
    series: Series,
    **more: Any,  # noqa: ANN401  # of the request
) -> list[list[Any]]:
    """Page after page, as long as there is a token."""
    read: list[list[Any]] = []
    token = None
    while not read or token:
        rows, token = fetched(client, "series", series, nextToken=token, **more)
        read.append([[each.time_in_us for each in rows], token is not None])
    return read


def metas(client: ts.OTSClient, table: str = "series", **more: Any) -> Any:  # noqa: ANN401  # the SDK's
    return client.query_timeseries_meta(ts.QueryTimeseriesMetaRequest(table, **more))


def told_metas(client: ts.OTSClient, table: str = "series") -> list[Any]:
    return [
        [
            each.timeseries_key.measurement_name,
            each.timeseries_key.data_source or "",
            each.timeseries_key.tags or {},
            each.attributes or {},
        ]
        for each in metas(client, table).timeseriesMetas
    ]


def named(answer: Any) -> list[list[str]]:  # noqa: ANN401  # the SDK's
    keys = (each.timeseries_key for each in answer.timeseriesMetas)
    return [[each.measurement_name, each.data_source or ""] for each in keys]


def conditions() -> dict[str, Any]:
    single, several = MetaQuerySingleOperator, MetaQueryCompositeOperator
    linux = TagMetaQueryCondition(single.OP_EQUAL, "os", "linux")
    cpu = MeasurementMetaQueryCondition(single.OP_EQUAL, "cpu")
    mem = MeasurementMetaQueryCondition(single.OP_EQUAL, "mem")
    later = DataSourceMetaQueryCondition(single.OP_GREATER_THAN, "host1")
    tomorrow = SystemClock().now_us() + 86_400_000_000
    return {
        "measurement": mem,
        "at least": MeasurementMetaQueryCondition(single.OP_GREATER_EQUAL, ""),
        "source prefix": DataSourceMetaQueryCondition(single.OP_PREFIX, "host"),
        "no source": DataSourceMetaQueryCondition(single.OP_EQUAL, ""),
        "tag": linux,
        "tag greater": TagMetaQueryCondition(single.OP_GREATER_THAN, "region", "eu"),
        "and": CompositeMetaQueryCondition(several.OP_AND, [cpu, later]),
        "or": CompositeMetaQueryCondition(several.OP_OR, [mem, linux]),
        "not": CompositeMetaQueryCondition(several.OP_NOT, [cpu]),
        "before": UpdateTimeMetaQueryCondition(single.OP_LESS_THAN, tomorrow),
        "after": UpdateTimeMetaQueryCondition(single.OP_GREATER_EQUAL, tomorrow),
    }


def measured(client: ts.OTSClient) -> Facts:
    made(client, meta_of("series"))
    filled = {"b": True, "d": 1.5, "l": 7, "n": bytearray(b"\x00\xff"), "s": '值 \t\n"'}
    failed = put(client, "series", FIRST, (2, {"d": 2.0, "l": 9}), (0, filled), (1, {"l": 8}))
    failed += put(client, "series", SECOND, (0, {"l": 1}))
    failed += put(client, "series", BARE, (5, {"s": "x"}))
    rows, token = fetched(client, "series", ("none", "", {}))
    seen = {
        "failed": failed,
        "points": points(client, "series", FIRST),
        "bare": points(client, "series", BARE),
        "nothing": [rows, token is not None],
        "pages": pages(client, FIRST, limit=2),
        "backward": pages(client, FIRST, limit=2, backward=True),
        "between": pages(client, FIRST, beginTimeInUs=T0 + 1, endTimeInUs=T0 + 2),
        "chosen": chosen(client, l="LONG", d="STRING"),
        "rare": chosen(client, s="STRING"),
    }
    put(client, "series", FIRST, (1, {"d": 0.25}), (0, {"l": "text"}))
    seen["merged"] = points(client, "series", FIRST)
    bad: Series = ("##AA##", "", {})
    seen["bad measurement"] = refusal(lambda: put(client, "series", bad, (0, {"l": 1})))
    seen["no table"] = refusal(lambda: put(client, "series_none", BARE, (0, {"l": 1})))
    of_metas(client, seen)
    return seen


def chosen(client: ts.OTSClient, **types: str) -> list[Any]:
    fields = {name: DATA_TYPES[each] for name, each in types.items()}
    return points(client, "series", FIRST, fieldsToGet=fields)


def of_metas(client: ts.OTSClient, seen: Facts) -> None:
    every = metas(client).timeseriesMetas
    counted = metas(client, getTotalHits=True, limit=1)
    rest = metas(client, limit=5, nextToken=counted.nextToken)
    seen |= {
        "metas": told_metas(client),
        "stamped": all(each.update_time_in_us > 0 for each in every),
        "counted": [named(counted), counted.totalHits, counted.nextToken is not None],
        "rest": [named(rest), rest.nextToken is not None],
        "found": {
            name: named(metas(client, condition=each)) for name, each in conditions().items()
        },
    }
    disk = ("disk", "d1", {"id": "0"})
    changes = [(FIRST, {"room": "1", "owner": "me"}), (disk, {"kind": "ssd"})]
    request = ts.UpdateTimeseriesMetaRequest(
        "series", [ts.TimeseriesMeta(key(each), attributes) for each, attributes in changes]
    )
    seen["written"] = failed(client.update_timeseries_meta(request).failedRows)
    seen["attributes"] = told_metas(client)
    ssd = AttributeMetaQueryCondition(MetaQuerySingleOperator.OP_EQUAL, "kind", "ssd")
    seen["by attribute"] = named(metas(client, condition=ssd))
    deletion = ts.DeleteTimeseriesMetaRequest("series", [key(SECOND), key(disk)])
    seen["deleted"] = failed(client.delete_timeseries_meta(deletion).failedRows)
    seen["left"] = named(metas(client))
    seen["kept"] = pages(client, SECOND)
    put(client, "series", SECOND, (1, {"l": 2}))
    seen["made again"] = named(metas(client))


def failed(rows: Iterable[Any] | None) -> list[Any]:
    return [each.index for each in rows or ()]


def keyed(client: ts.OTSClient) -> Facts:
    field_keys = [("core", "INTEGER"), ("label", "STRING")]
    made(
        client,
        ts.TimeseriesTableMeta(
            "series_keyed", timeseries_keys=["_m_name", "cluster"], field_primary_keys=field_keys
        ),
    )

    def write(fields: dict[str, Any], source: str = "", **tags: str) -> Callable[[], list[Any]]:
        series = ("cpu", source, {"cluster": "a", **tags})
        return lambda: put(client, "series_keyed", series, (0, fields))

    full = {"core": 0, "label": "a", "v": 3.0}
    for fields in ({"core": 1, "label": "b", "v": 1.0}, {"core": 0, "label": "z", "v": 2.0}, full):
        write(fields)()
    return {
        "described": told(described(client, "series_keyed")),
        "points": points(client, "series_keyed", ("cpu", "", {"cluster": "a"})),
        "metas": told_metas(client, "series_keyed"),
        "no field key": refusal(write({"core": 1, "v": 1.0})),
        "other tag": refusal(write(full, more="b")),
        "source": refusal(write(full, source="host")),
    }


# --- rows of last points and of points --------------------------------------------------------


def indexed(client: ts.OTSClient) -> None:
    """A table with a last-point index, and points of two series."""
    request = ts.CreateTimeseriesTableRequest(
        meta_of("t"),
        analytical_stores=[ts.metadata.TimeseriesAnalyticalStore("store")],
        lastpoint_index_metas=[ts.metadata.LastpointIndexMeta("last")],
    )
    client.create_timeseries_table(request)
    put(client, "t", FIRST, (4000, {"d": 2.0}), (0, {"d": 0.5, "l": 7, "s": "x"}), (2000, {"l": 8}))
    put(client, "t", SECOND, (0, {"l": 1, "b": True}), (3, {"n": bytearray(b"\xff")}))
    put(client, "t", BARE, (5, {"l": -3}))


def names_of(client: ts.OTSClient, table: str) -> list[str]:
    return [name for name, *_ in client.describe_table(table).table_meta.schema_of_primary_key]


def rows_in(client: ts.OTSClient, table: str, **more: Any) -> list[Any]:  # noqa: ANN401  # of the request
    """All rows, page after page: the values of their keys, and their cells."""
    names = names_of(client, table)
    direction = more.pop("direction", "FORWARD")
    bounds = [ts.INF_MIN, ts.INF_MAX]
    start, end = bounds if direction == "FORWARD" else reversed(bounds)
    following, last = [(name, start) for name in names], [(name, end) for name in names]
    found: list[Any] = []
    while following:
        _, following, rows, _ = client.get_range(table, direction, following, last, **more)
        found += [[[value for _, value in row.primary_key], row.attribute_columns] for row in rows]
    return found


def filtered(name: str, least: int) -> ts.SingleColumnCondition:
    return ts.SingleColumnCondition(name, least, ts.ComparatorType.GREATER_EQUAL)


def ways(cell: str) -> list[dict[str, Any]]:
    """Ways to read a range. `cell`: a column of numbers."""
    made: list[dict[str, Any]] = [
        {},
        {"limit": 1},
        {"columns_to_get": [cell]},
        {"columns_to_get": ["nothing"]},
        {"columns_to_get": ["_m_name", cell]},
        {"column_filter": filtered(cell, 1)},
        {"column_filter": filtered(cell, 1), "limit": 2, "columns_to_get": ["nothing"]},
        {"start_column": "d", "end_column": "m"},
    ]
    return [
        {"max_version": 1, "direction": direction, **each}
        for each in made
        for direction in ("FORWARD", "BACKWARD")
    ]


@pytest.mark.parametrize(("table", "cell"), [("last", "l"), ("t#timeseries", "l:l")])
def test_rows_are_read_as_those_of_a_table(ots: ts.OTSClient, table: str, cell: str) -> None:
    """Every read of an index, or of points, as of a table with the same rows (timeseries §9)."""
    indexed(ots)
    schema = ots.describe_table(table).table_meta.schema_of_primary_key
    rows = rows_in(ots, table, max_version=1)
    assert len(rows) == {"last": 3, "t#timeseries": 6}[table]
    # The first column may not have that name in a table, nor one have so many.
    kept = schema[1:] if len(schema) > 4 else schema
    key = [("h" if name == "_#h" else name, kind) for name, kind, *_ in kept]
    own = len(schema) - len(key)
    options = ts.TableOptions(max_time_deviation=10**9)
    throughput = ts.ReservedThroughput(ts.CapacityUnit(0, 0))
    ots.create_table(ts.TableMeta("copy", key), options, throughput)
    for values, cells in rows:
        names = [name for name, _ in key]
        kept = cells if table == "last" else [each[:2] for each in cells]  # points have no versions
        ots.put_row("copy", ts.Row([*zip(names, values[own:], strict=True)], kept))

    def compared(found: list[Any]) -> list[Any]:
        """What is the same: with versions and in order if the table is an index."""
        if table == "last":
            return found
        return sorted([[key, [each[:2] for each in cells]] for key, cells in found], key=str)

    for way in ways(cell):
        seen = [[values[own:], cells] for values, cells in rows_in(ots, table, **way)]
        assert compared(seen) == compared(rows_in(ots, "copy", **way))
    for values, _ in rows:
        of_table = [*zip([name for name, *_ in schema], values, strict=True)]
        of_copy = [*zip([name for name, _ in key], values[own:], strict=True)]
        for way in ({}, {"columns_to_get": [cell]}, {"column_filter": filtered(cell, 1)}):
            _, row, _ = ots.get_row(table, of_table, max_version=1, **way)
            _, same, _ = ots.get_row("copy", of_copy, max_version=1, **way)
            told, expected = (
                [[[], each.attribute_columns]] if each else [] for each in (row, same)
            )
            assert compared(told) == compared(expected)


def test_points_are_written_as_rows(ots: ts.OTSClient) -> None:
    """A row of `#timeseries` is a point, whatever hash it begins with (timeseries §9)."""
    indexed(ots)
    key_values = ("", "cpu", "host9", '["os=linux"]', T0)
    columns = [*zip(names_of(ots, "t#timeseries"), key_values, strict=True)]
    row = ts.Row(columns, [("load1:d", 0.25), ("cores:l", 4)])
    request = ts.BatchWriteRowRequest()
    item = ts.PutRowItem(row, ts.Condition(ts.RowExistenceExpectation.IGNORE))
    request.add(ts.TableInBatchWriteRowItem("t#timeseries", [item]))
    assert ots.batch_write_row(request).is_all_succeed()
    ots.put_row("t#timeseries", ts.Row(columns, [("s:s", "x")]))
    series = ("cpu", "host9", {"os": "linux"})
    fields = {"load1": {"double": 0.25}, "cores": 4, "s": "x"}
    assert points(ots, "t", series) == [[*series, T0, fields]]
    assert ["cpu", "host9"] in named(metas(ots, "t"))
    assert any(values[2] == "host9" for values, _ in rows_in(ots, "last", max_version=1))
    refused = [
        refusal(lambda: ots.put_row("t#timeseries", ts.Row(columns, [("cores:d", 4)]))),
        refusal(lambda: ots.put_row("t#timeseries", ts.Row(columns, [("cores", 4)]))),
        refusal(lambda: ots.put_row("last", ts.Row(columns[:4], [("cores", 4)]))),
        refusal(lambda: ots.put_row("last#timeseries", row)),
        refusal(lambda: rows_in(ots, "t", max_version=1)),
        refusal(lambda: ots.delete_row("t#timeseries", columns)),
    ]
    assert [each["code"] for each in refused] == [
        *["OTSParameterInvalid"] * 3,
        *["OTSObjectNotExist"] * 2,
        "OTSUnsupportOperation",
    ]


def test_a_table_of_points_is_described(ots: ts.OTSClient) -> None:
    """Its stores stand among its indexes; it is not listed (timeseries §9)."""
    indexed(ots)
    seen = ots.describe_table("t#timeseries")
    assert seen.table_meta.schema_of_primary_key == [
        ("_#h", "STRING"),
        ("_m_name", "STRING"),
        ("_data_source", "STRING"),
        ("_tags", "STRING"),
        ("_time", "INTEGER"),
    ]
    assert [index.index_name for index in seen.secondary_indexes] == ["store"]
    assert ots.list_table() == ()


# --- what is judged --------------------------------------------------------------------------


def test_timeseries_tables_from_creation_to_deletion(ots: ts.OTSClient) -> None:
    seen = tables(ots)
    for check in (*TABLES, check_options_of_metas):
        check(seen)


def test_points_and_metas_through_the_sdk(ots: ts.OTSClient) -> None:
    seen = measured(ots)
    for check in MEASURED:
        check(seen)


def test_keys_of_ones_own_through_the_sdk(ots: ts.OTSClient) -> None:
    seen = keyed(ots)
    for check in KEYED:
        check(seen)
