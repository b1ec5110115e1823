"""The page of one series: its fields over time as curves, and its newest points as a grid."""

from collections.abc import Sequence
from typing import Any, Final

from widerow.console.forms import kind_name, shown
from widerow.console.grid import (
    files_of,
    grid_columns,
    grid_place,
    names_chosen,
    next_address,
    usual_columns,
)
from widerow.console.moments import moment_asked, moment_text, tick_text
from widerow.console.parts import ConsoleRefused, PageDocument, Visit, address
from widerow.console.places import TablePlace, asked_table, series_engine, the_series_table
from widerow.console.refusals import with_refusal
from widerow.console.series_page import series_address, series_asked, series_form
from widerow.limits import CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX, INT64_MAX, SERIES_PAGE_POINTS_MAX
from widerow.model.timeseries.points import StoredPoint
from widerow.model.timeseries.requests import PointPage, PointQuery
from widerow.model.timeseries.series import tags_text
from widerow.model.timeseries.table import TimeseriesTable
from widerow.pictures.curves import Curve, curve, in_runs, time_ticks

__all__ = ["point_record", "points_asked", "show_points"]

_SPANS: Final = {"1h": 3600, "24h": 86_400, "7d": 7 * 86_400}
_ALL: Final = "all"
_WIDTH: Final = 960
_HEIGHT: Final = 130
_COLUMNS: Final = 160  # of a curve, each with two points at most
_CURVES_MAX: Final = 6
_PLACE: Final = ("after", "seen")  # of an address: which page of the points


def show_points(visit: Visit) -> PageDocument:
    """The newest points of a series.

    Parameters: `measurement`, `source`, `tags`; `span` of time up to now, or `from` and `to` (in
    front of which the points end); `show.NAME`, the fields; `limit`, `after` of the grid.

    Cost: 5000 points at most are read, and the curves are of these; the page says where there are
    older ones.
    """
    name = asked_table(visit)
    table = the_series_table(visit, name)
    form: PageDocument = {
        **name.parameters,
        "series": series_form(visit),
        "asked": {each: visit.asked.get(each, "") for each in ("from", "to", "limit")},
        "span": _span(visit),
        "spans": [*_SPANS, _ALL],
        "chosen": names_chosen(visit.asked),
        "limit": visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX),
        "columns": [],
        "known": [],
        "keys": [{"name": each.name, "type": each.type.value} for each in table.field_keys],
        "rows": [],
        "charts": [],
        "place": None,
        "more": "",
    }
    return with_refusal(form, lambda: _page(visit, name, table))


def points_asked(visit: Visit, limit: int) -> PointQuery:
    """The query of an address, the newest point first. Raises as `moment_asked`."""
    begin_us, end_us = 0, INT64_MAX
    span = _span(visit)
    if span in _SPANS:
        now_us = visit.parts.engine_clock.now_us()
        begin_us, end_us = max(0, now_us - _SPANS[span] * 1_000_000), now_us + 1
    if visit.asked.get("from"):
        begin_us = moment_asked("from", visit.asked["from"])
    if visit.asked.get("to"):
        end_us = moment_asked("to", visit.asked["to"])
    try:
        after = bytes.fromhex(visit.asked.get("after", ""))
    except ValueError as error:
        raise ConsoleRefused(400, "The address of the page is broken.", "Begin again.") from error
    series = series_asked(visit)
    return PointQuery(series, begin_us, end_us, backward=True, limit=limit, after=after)


def point_record(point: StoredPoint, table: TimeseriesTable) -> dict[str, Any]:
    """A point as a record of values: its series, its time in UTC, its fields."""
    measurement, source, tags = point.series
    return {
        "_m_name": measurement,
        "_data_source": source,
        "_tags": tags_text(tags),
        "_time": moment_text(point.time_us, "T") + "Z",
        **dict(zip([each.name for each in table.field_keys], point.keys, strict=True)),
        **point.fields,
    }


def _span(visit: Visit) -> str:
    """The span that the address asks for; "" where it has times."""
    if visit.asked.get("from") or visit.asked.get("to"):
        return ""
    span = visit.asked.get("span", _ALL)
    return span if span in _SPANS else _ALL


def _page(visit: Visit, name: TablePlace, table: TimeseriesTable) -> PageDocument:
    limit = visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX)
    with visit.parts.long_work():
        page, drawn, is_cut = _read(visit, table, limit)
    chosen = names_chosen(visit.asked)
    kinds: dict[str, set[str]] = {}
    for point in (*drawn, *page.points):
        for field, value in point.fields.items():
            kinds.setdefault(field, set()).add(kind_name(value))
    known = {each["name"]: each for each in grid_columns(sorted(kinds.items()))}
    absent = {"type": "", "number": False}
    fields = chosen or usual_columns([point.fields for point in drawn])
    count = len(page.points)
    more = next_address(visit, "points", page.next.hex(), count) if page.next else ""
    asked = {each: text for each, text in visit.asked.items() if each not in _PLACE}
    query = points_asked(visit, limit)
    return {
        "hash": series_engine(visit).hash_of(query.series),
        "tags": [{"name": tag, "value": value} for tag, value in query.series.tags],
        "columns": [known.get(each, {"name": each, **absent}) for each in fields],
        "known": [{**each, "shown": each["name"] in fields} for each in known.values()],
        "rows": [_row(each) for each in page.points],
        "place": grid_place(visit, len(page.points), more, None),
        "more": more,
        "files": files_of(visit, "points"),
        "spans_at": [
            {"span": each, "address": _with_span(asked, each)} for each in (*_SPANS, _ALL)
        ],
        **_pictures(query, drawn, fields, is_cut=is_cut),
        "earlier": _earlier(visit, name, drawn) if is_cut else "",
    }


def _read(
    visit: Visit, table: TimeseriesTable, limit: int
) -> tuple[PointPage, Sequence[StoredPoint], bool]:
    """The points of the grid, those of the curves, and whether there are older ones than these."""
    engine = series_engine(visit)
    query = points_asked(visit, limit)
    page = engine.read(table, query)
    rest = query._replace(limit=SERIES_PAGE_POINTS_MAX - limit, after=b"")
    if query.after:
        drawn = engine.read(table, rest)
        return page, drawn.points, bool(drawn.next)
    if not page.next:
        return page, page.points, False
    older = engine.read(table, rest._replace(after=page.next))
    return page, [*page.points, *older.points], bool(older.next)


def _with_span(asked: dict[str, str], span: str) -> str:
    kept = {each: text for each, text in asked.items() if each not in ("from", "to", "span")}
    return address("points", **kept, span=span)


def _earlier(visit: Visit, name: TablePlace, drawn: Sequence[StoredPoint]) -> str:
    """The address of the points before those that are drawn; that of the oldest is drawn again."""
    oldest, newest = drawn[-1].time_us, drawn[0].time_us
    to = moment_text(oldest + 1 if oldest < newest else oldest)
    chosen = {each: text for each, text in visit.asked.items() if each.startswith("show.")}
    since = {"from": visit.asked["from"]} if visit.asked.get("from") else {}
    return series_address("points", name, series_asked(visit), **since, **chosen, to=to)


def _row(point: StoredPoint) -> PageDocument:
    return {
        "time_us": point.time_us,
        "time": moment_text(point.time_us),
        "keys": [shown(each) for each in point.keys],
        "values": {field: shown(value) for field, value in point.fields.items()},
    }


# --- curves ---------------------------------------------------------------------------------------


def _pictures(
    query: PointQuery, drawn: Sequence[StoredPoint], fields: list[str], *, is_cut: bool
) -> PageDocument:
    """The curves of the first fields that have numbers, with one axis of time for all of them."""
    if not drawn:
        return {"charts": [], "times": [], "drawn": None, "charts_left_out": 0}
    window = _window(query, drawn, is_cut=is_cut)
    found = []
    for field in fields:
        samples = in_runs(
            (point.time_us, value)
            for point in reversed(drawn)
            if isinstance(value := point.fields.get(field), int | float)
            and not isinstance(value, bool)
        )
        if samples:
            found.append((field, samples))
    step, ticks = time_ticks(*window)
    return {
        "charts": [
            _picture(field, curve(samples, window, (_WIDTH, _HEIGHT), _COLUMNS), len(samples))
            for field, samples in found[:_CURVES_MAX]
        ],
        "charts_left_out": max(0, len(found) - _CURVES_MAX),
        "times": [
            {
                "percent": round(100 * (each - window[0]) / (window[1] - window[0]), 2),
                "text": tick_text(each, step),
            }
            for each in ticks
        ],
        "drawn": {
            "points": len(drawn),
            "from": moment_text(drawn[-1].time_us),
            "to": moment_text(drawn[0].time_us),
            "is_cut": is_cut,
        },
    }


def _window(query: PointQuery, drawn: Sequence[StoredPoint], *, is_cut: bool) -> tuple[int, int]:
    """The times of the left and the right side: those that were asked for, or of the points."""
    since = query.begin_us if query.begin_us and not is_cut else drawn[-1].time_us
    until = query.end_us if query.end_us < INT64_MAX else drawn[0].time_us
    return since, max(until, since + 1)


def _picture(field: str, found: Curve, points: int) -> PageDocument:
    """Where the lines, marks and labels of a curve are."""
    return {
        "field": field,
        "points": points,
        "width": _WIDTH,
        "height": _HEIGHT,
        "path": found.path,
        "marks": [
            {
                "x": each.x,
                "y": each.y,
                "time": moment_text(each.sample.time_us),
                "value": each.sample.value,
            }
            for each in found.marks
        ],
        "ticks": [
            {"y": _HEIGHT - round(found.axis.part(value) * _HEIGHT), "text": text}
            for value, text in zip(found.axis.ticks, found.axis.labels, strict=True)
        ],
    }
