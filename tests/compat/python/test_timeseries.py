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
