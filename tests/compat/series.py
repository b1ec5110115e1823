"""What programs in three languages must see of timeseries tables, said once (timeseries §3-§11).

The programs for the SDKs of Python, Go and Java make the same tables and points and print answers
in the same form; the SDK of Node has no such calls. Stores and last-point indexes are described by
Go and Java, scans are made by Java. Changes are read by Go, as rows, and by Java; the SDK of Python
has no calls for streams and tunnels.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.compat.changes import said

__all__ = [
    "CHANGED",
    "CHANGED_ROWS",
    "KEYED",
    "LASTPOINTS",
    "MEASURED",
    "POINT_KEY",
    "SCANNED",
    "STORED",
    "T0",
    "TABLES",
    "Check",
    "check_options_of_metas",
]

Facts = Mapping[str, Any]
Check = Callable[[Facts], None]

T0: Final = 1_600_000_000_000_000
"""Microseconds: the first point of most series."""

_TEXT: Final = '值 \t\n"'
_FIRST: Final = ["cpu", "host1", {"os": "linux", "region": "杭州"}]
_SECOND: Final = ["cpu", "host2", {"region": "eu"}]
_BARE: Final = ["mem", "", {}]
_FILLED: Final = {
    "b": True,
    "d": {"double": 1.5},
    "l": 7,
    "n": {"binary": "00ff"},
    "s": _TEXT,
}
_UNKNOWN: Final = (404, "OTSObjectNotExist")


def point(series: list[Any], time: int, fields: Facts) -> list[Any]:
    return [*series, T0 + time, dict(fields)]


def refused(facts: Any) -> tuple[int, str]:  # noqa: ANN401  # what JSON holds
    """The status and the code; texts are free (timeseries §13)."""
    status, code, _ = said(facts)
    return status, code


INVALID: Final = (400, "OTSParameterInvalid")


# --- tables (timeseries §3, §9) --------------------------------------------------------------


def table(name: str, ttl: int, *keys: Any) -> Facts:  # noqa: ANN401  # what JSON holds
    columns, field_keys = keys or ([], [])
    return {"name": name, "ttl": ttl, "keys": columns, "field keys": field_keys}


def check_tables_are_made_changed_listed_and_deleted(seen: Facts) -> None:
    """Deleting one that is not there is an error."""
    assert seen["described"] == table("listed_tables", 864_000)
    assert seen["changed"] == table("listed_tables", 1_728_000)
    assert seen["listed"] == [
        table("listed_other", -1),
        table("listed_tables", 1_728_000),
    ]
    assert refused(seen["gone"]) == _UNKNOWN
    assert refused(seen["unknown"]) == _UNKNOWN


def check_names_are_shared_with_data_tables(seen: Facts) -> None:
    """And neither kind is listed with the other."""
    exists = (409, "OTSObjectAlreadyExist")
    assert refused(seen["again"]) == exists
    assert refused(seen["as data table"]) == exists
    assert seen["data tables"] == ["listed_data"]


TABLES: Final[tuple[Check, ...]] = (
    check_tables_are_made_changed_listed_and_deleted,
    check_names_are_shared_with_data_tables,
)
"""What `series tables` is held against."""


def check_options_of_metas(seen: Facts) -> None:
    """By the SDKs that have them; a table is ready at once (timeseries §3, §3.1)."""
    assert seen["options"] == [
        ["CREATED", -1, True],
        ["CREATED", 10_000_000, False],
    ]
    assert refused(seen["together"]) == INVALID


# --- points and metas (timeseries §4, §5, §6) ------------------------------------------------


def check_points_of_every_type_come_back(seen: Facts) -> None:
    """Of a series without a source and tags, too; a series that is not there has none."""
    assert seen["points"] == [
        point(_FIRST, 0, _FILLED),
        point(_FIRST, 1, {"l": 8}),
        point(_FIRST, 2, {"d": {"double": 2.0}, "l": 9}),
    ]
    assert seen["bare"] == [point(_BARE, 5, {"s": "x"})]
    assert seen["nothing"] == [[], False]
    assert seen["failed"] == []


def check_pages_of_points(seen: Facts) -> None:
    """There is a token where, and only where, points are left."""
    assert seen["pages"] == [[[T0, T0 + 1], True], [[T0 + 2], False]]
    assert seen["backward"] == [[[T0 + 2, T0 + 1], True], [[T0], False]]
    assert seen["between"] == [[[T0 + 1], False]]


def check_fields_by_name_and_type(seen: Facts) -> None:
    """Fields of another type are left out, and so is a point that has none of them."""
    assert seen["chosen"] == [point(_FIRST, at, {"l": 7 + at}) for at in range(3)]
    assert seen["rare"] == [point(_FIRST, 0, {"s": _TEXT})]


def check_points_are_merged(seen: Facts) -> None:
    """Fields that are given replace those that were there, whatever their types."""
    assert seen["merged"] == [
        point(_FIRST, 0, {**_FILLED, "l": "text"}),
        point(_FIRST, 1, {"d": {"double": 0.25}, "l": 8}),
        point(_FIRST, 2, {"d": {"double": 2.0}, "l": 9}),
    ]


def check_refused_points(seen: Facts) -> None:
    assert refused(seen["bad measurement"]) == INVALID
    assert refused(seen["no table"]) == _UNKNOWN


def check_metas_in_the_order_of_keys(seen: Facts) -> None:
    assert seen["metas"] == [[*each, {}] for each in (_FIRST, _SECOND, _BARE)]
    assert seen["stamped"] is True
    assert seen["counted"] == [[["cpu", "host1"]], 3, True]
    assert seen["rest"] == [[["cpu", "host2"], ["mem", ""]], False]


def check_conditions_on_metas(seen: Facts) -> None:
    first, second, bare = ["cpu", "host1"], ["cpu", "host2"], ["mem", ""]
    assert seen["found"] == {
        "measurement": [bare],
        "at least": [first, second, bare],
        "source prefix": [first, second],
        "no source": [bare],
        "tag": [first],
        "tag greater": [first],
        "and": [second],
        "or": [first, bare],
        "not": [bare],
        "before": [first, second, bare],
        "after": [],
    }


def check_metas_are_written_and_deleted(seen: Facts) -> None:
    """An update makes series that have no points. Deleted metas leave the points, and the next put
    makes the meta again, whatever the SDK has in its cache.
    """
    disk = ["disk", "d1", {"id": "0"}]
    assert seen["written"] == []
    assert seen["attributes"] == [
        [*_FIRST, {"owner": "me", "room": "1"}],
        [*_SECOND, {}],
        [*disk, {"kind": "ssd"}],
        [*_BARE, {}],
    ]
    assert seen["by attribute"] == [["disk", "d1"]]
    assert seen["deleted"] == []
    assert seen["left"] == [["cpu", "host1"], ["mem", ""]]
    assert seen["kept"] == [[[T0], False]]
    assert seen["made again"] == [["cpu", "host1"], ["cpu", "host2"], ["mem", ""]]


MEASURED: Final[tuple[Check, ...]] = (
    check_points_of_every_type_come_back,
    check_pages_of_points,
    check_fields_by_name_and_type,
    check_points_are_merged,
    check_refused_points,
    check_metas_in_the_order_of_keys,
    check_conditions_on_metas,
    check_metas_are_written_and_deleted,
)
"""What `series` is held against."""


# --- keys of one's own (timeseries §8) -------------------------------------------------------


def check_points_under_a_key_of_ones_own(seen: Facts) -> None:
    """Of one time in the order of the fields that are key columns; the table has no source."""
    keys = ["_m_name", "cluster"]
    field_keys = [["core", "INTEGER"], ["label", "STRING"]]
    assert seen["described"] == table("series_keyed", -1, keys, field_keys)
    series = ["cpu", "", {"cluster": "a"}]
    rows = [
        {"core": 0, "label": "a", "v": {"double": 3.0}},
        {"core": 0, "label": "z", "v": {"double": 2.0}},
        {"core": 1, "label": "b", "v": {"double": 1.0}},
    ]
    assert seen["points"] == [point(series, 0, each) for each in rows]
    assert seen["metas"] == [[*series, {}]]


def check_a_key_has_all_its_columns_and_no_other(seen: Facts) -> None:
    assert refused(seen["no field key"]) == INVALID
    assert "missing primary key fields" in seen["no field key"]["message"]
    assert refused(seen["other tag"]) == INVALID
    assert refused(seen["source"]) == INVALID


KEYED: Final[tuple[Check, ...]] = (
    check_points_under_a_key_of_ones_own,
    check_a_key_has_all_its_columns_and_no_other,
)
"""What `keyed series` is held against."""


# --- analytical stores (timeseries §3, §11) --------------------------------------------------


def store(name: str, ttl: int, option: str, phase: str) -> list[Any]:
    """The time that a store is behind is 0 while it is not told, its size never is."""
    return [[name, ttl, option], phase, 0, None]


def check_stores_of_tables(seen: Facts) -> None:
    """A list that is given wins over the switch; without one, the switch makes one of its own."""
    assert seen["listed"] == [["first", -1, "FULL"]]
    assert seen["by default"] == [["default_analytical_store", -1, "FULL"]]
    assert seen["none"] == []


def check_stores_are_made_changed_and_deleted(seen: Facts) -> None:
    """One that is made for all points of a table is in its first phase at first."""
    assert seen["described"] == store("first", -1, "FULL", "INCR")
    assert seen["changed"] == store("first", 2_592_000, "FULL", "INCR")
    assert refused(seen["second"]) == INVALID
    assert refused(seen["gone"]) == _UNKNOWN
    assert seen["full"] == store("late", 5_184_000, "FULL", "FULL")


STORED: Final[tuple[Check, ...]] = (
    check_stores_of_tables,
    check_stores_are_made_changed_and_deleted,
)
"""What `analytical stores` is held against."""


# --- last-point indexes (timeseries §9, §10) -------------------------------------------------


def cell(name: str, value: Any, time: int) -> list[Any]:  # noqa: ANN401  # what JSON holds
    """Name, value and version, which is the time of its point in milliseconds."""
    return [name, value, (T0 + time) // 1000]


def row(series: list[Any], tags: str, *cells: list[Any]) -> list[Any]:
    measurement, source, _ = series
    return [[measurement, source, tags], [*cells]]


_FIRST_ROW: Final = row(
    _FIRST,
    '["os=linux","region=杭州"]',
    cell("_time", T0 + 4000, 4000),
    cell("d", {"double": 2.0}, 4000),
    cell("l", 8, 2000),
    cell("s", "x", 0),
)
_SECOND_ROW: Final = row(_SECOND, '["region=eu"]', cell("_time", T0, 0), cell("l", 1, 0))


def check_rows_of_last_points(seen: Facts) -> None:
    """Each field has the value of the newest point that had it, in whatever order points came."""
    assert sorted(seen["rows"]) == [_FIRST_ROW, _SECOND_ROW]
    assert seen["row"] == _FIRST_ROW
    assert seen["batch"] == [_FIRST_ROW]


def check_indexes_made_later(seen: Facts) -> None:
    """With the points that are there, or with those that come."""
    assert sorted(seen["with points"]) == [_FIRST_ROW, _SECOND_ROW]
    assert seen["without"] == []
    later = row(
        _SECOND, '["region=eu"]', cell("_time", T0 + 9000, 9000), cell("d", {"double": 0.5}, 9000)
    )
    assert seen["then"] == [later]


def check_indexes_are_described_and_deleted(seen: Facts) -> None:
    """As tables, too; they are not listed among these."""
    assert seen["listed"] == ["last_made", "last_full", "last_bare"]
    key = [
        ["_#h", "STRING"],
        ["_m_name", "STRING"],
        ["_data_source", "STRING"],
        ["_tags", "STRING"],
    ]
    assert seen["described"] == key
    assert seen["data tables"] == []
    assert refused(seen["written"]) == INVALID
    assert seen["left"] == []
    assert refused(seen["gone"]) == _UNKNOWN
    assert refused(seen["unknown"]) == _UNKNOWN


LASTPOINTS: Final[tuple[Check, ...]] = (
    check_rows_of_last_points,
    check_indexes_made_later,
    check_indexes_are_described_and_deleted,
)
"""What `last points` is held against."""


# --- changes (timeseries §9) -----------------------------------------------------------------


def check_the_stream_of_points_is_not_described_to_who_does_not_say_so(seen: Facts) -> None:
    """The Java SDK's tests compare the text."""
    assert seen["listed"] == 1
    text = "Table [changed_series] is a timeseries table, not support DescribeStream"
    assert said(seen["not said"]) == (400, "OTSParameterInvalid", text)


def check_the_stream_of_points_is_described_to_who_knows_it(seen: Facts) -> None:
    assert seen["described"] == ["changed_series", 168, 1]


def check_points_are_puts(seen: Facts) -> None:
    key = ["_m_name", "_data_source", "_tags", "_time"]
    cells = [[["time", "now"], ["v", str(at)]] for at in range(10)]
    assert seen["records"] == [["PUT", key, each] for each in cells]


def check_last_points_are_updates(seen: Facts) -> None:
    """One for each point, with `_time` among its columns."""
    key = ["_#h", "_m_name", "_data_source", "_tags"]
    cells = [[["_time", str(T0 + 1000 * at)], ["time", "now"], ["v", str(at)]] for at in range(10)]
    assert seen["updates"] == [["UPDATE", key, each] for each in cells]


POINT_KEY: Final = ["_#h", "_m_name", "_data_source", "_tags", "_time"]
"""The columns of the key of a point that is handed out as a row."""

_AS_ROWS: Final = [["PUT", POINT_KEY, [["time:s", "now"], ["v:l", str(at)]]] for at in range(10)]


def check_a_tunnel_hands_points_out(seen: Facts) -> None:
    assert seen["tunnel"] == _AS_ROWS


def check_points_are_rows_to_who_does_not_read_points(seen: Facts) -> None:
    """Types stand behind the names of fields, as in `TABLE#timeseries`."""
    assert seen["rows"] == _AS_ROWS


CHANGED_ROWS: Final[tuple[Check, ...]] = (
    check_the_stream_of_points_is_not_described_to_who_does_not_say_so,
    check_points_are_rows_to_who_does_not_read_points,
    check_last_points_are_updates,
)
"""What `changes of points` is held against, of an SDK that knows no streams of points."""

CHANGED: Final[tuple[Check, ...]] = (
    check_the_stream_of_points_is_not_described_to_who_does_not_say_so,
    check_the_stream_of_points_is_described_to_who_knows_it,
    check_points_are_puts,
    check_last_points_are_updates,
    check_a_tunnel_hands_points_out,
)
"""What `changes of points` is held against."""


# --- scans (timeseries §7) -------------------------------------------------------------------


def check_splits_hold_every_point_once(seen: Facts) -> None:
    """As many as asked for, whatever the points; a table is a split of its own."""
    every = [
        [each, f"host{host}", T0 + at]
        for each in ("cpu", "mem")
        for host in range(5)
        for at in range(7)
    ]
    assert seen["splits"] == [1, 4, 256]
    assert seen["by splits"] == every
    assert seen["whole"] == every
    assert seen["of a measurement"] == [each for each in every if each[0] == "mem"]


def check_scans_take_times_fields_and_pages(seen: Facts) -> None:
    assert seen["between"] == [
        [each, f"host{host}", T0 + 2] for each in ("cpu", "mem") for host in range(5)
    ]
    assert seen["fields"] == ["l"]
    assert sum(seen["pages"]) == 70
    assert max(seen["pages"]) <= 16


SCANNED: Final[tuple[Check, ...]] = (
    check_splits_hold_every_point_once,
    check_scans_take_times_fields_and_pages,
)
"""What `scans` is held against."""
