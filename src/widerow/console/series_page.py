"""The page of a timeseries table's series: found by measurement, data source and tags."""

from itertools import islice
from typing import Final

from widerow.console.grid import grid_place, next_address
from widerow.console.parts import ConsoleRefused, PageDocument, Visit, address
from widerow.console.places import TablePlace, asked_table, series_engine, the_series_table
from widerow.console.refusals import with_refusal
from widerow.engine.timeseries.meta_conditions import holds, leading_text
from widerow.engine.timeseries.metas import walk_metas
from widerow.limits import CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX, RANGE_ROWS_MAX
from widerow.model.timeseries.requests import (
    AllOf,
    MetaComparator,
    MetaCondition,
    MetaField,
    MetaMatch,
)
from widerow.model.timeseries.series import (
    SeriesKey,
    SeriesMeta,
    tags_of_pairs,
    tags_of_text,
    tags_text,
)
from widerow.model.timeseries.table import TimeseriesTable

__all__ = ["series_address", "series_asked", "series_form", "show_series"]

_FIELDS: Final = ("measurement", "source", "tags")
_ANY: Final = "*"  # at the end of a text: the wanted one begins with what stands before


def series_form(visit: Visit) -> dict[str, str]:
    """The parameters of the address that name a series, or a part of one."""
    return {each: visit.asked.get(each, "").strip() for each in _FIELDS}


def series_asked(visit: Visit) -> SeriesKey:
    """The series that the address names. Raises: `InvalidRequest`, `ConsoleRefused`."""
    form = series_form(visit)
    return SeriesKey(form["measurement"], form["source"], tags_of_pairs(_pairs(form["tags"])))


def series_address(page: str, name: TablePlace, series: SeriesKey, **more: str | int) -> str:
    """The address of a page about one series."""
    return address(
        page,
        **name.parameters,
        measurement=series.measurement,
        source=series.source,
        tags=tags_text(series.tags) if series.tags else "",
        **more,
    )


def show_series(visit: Visit) -> PageDocument:
    """A page of series, at most a hundred, in the order of measurement, source and tags.

    Parameters: `measurement`, `source`, `tags` (`host=web-1, region=eu*`, or as series have them),
    each with `*` at the end for a beginning; `limit`; `after`, the series behind which the page
    begins.

    A table without an index of metas lists none. Cost: 5000 metas at most are looked at.
    """
    name = asked_table(visit)
    table = the_series_table(visit, name)
    form: PageDocument = {
        **name.parameters,
        "asked": series_form(visit),
        "limit": visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX),
        "meta_index": table.meta_index,
        "series": [],
        "place": None,
        "more": "",
        "first": "",
    }
    if not table.meta_index:
        return form
    return with_refusal(form, lambda: _page(visit, name, table))


def _page(visit: Visit, name: TablePlace, table: TimeseriesTable) -> PageDocument:
    limit = visit.number("limit", CONSOLE_ROWS_DEFAULT, CONSOLE_ROWS_MAX)
    condition = _condition(series_form(visit))
    with visit.parts.long_work():
        found, following = _read(visit, table, condition, limit)
    asked = {each: text for each, text in visit.asked.items() if each not in ("after", "seen")}
    more = next_address(visit, "series", following, len(found)) if following else ""
    return {
        "series": [
            {
                "measurement": each.key.measurement,
                "source": each.key.source,
                "tags": [{"name": tag, "value": value} for tag, value in each.key.tags],
                "attributes": [{"name": tag, "value": value} for tag, value in each.attributes],
                "updated_ms": each.updated_us // 1000,
                "points": series_address("points", name, each.key),
            }
            for each in found
        ],
        "place": grid_place(visit, len(found), more, None),
        "more": more,
        "first": address("series", **asked) if visit.asked.get("after") else "",
    }


def _read(
    visit: Visit, table: TimeseriesTable, condition: MetaCondition | None, limit: int
) -> tuple[list[SeriesMeta], str]:
    """The metas of a page, and the key in hexadecimal digits behind which the next one begins."""
    engine = series_engine(visit)
    try:
        after = bytes.fromhex(visit.asked.get("after", ""))
    except ValueError as error:
        raise ConsoleRefused(400, "The address of the page is broken.", "Search again.") from error
    reader, leading = engine.core.store.snapshot(), leading_text(condition)
    walked = walk_metas(engine.context, reader, table, leading, after)
    found: list[SeriesMeta] = []
    last = b""
    for number, (key, meta) in enumerate(islice(walked, RANGE_ROWS_MAX + 1)):
        if len(found) == limit or number == RANGE_ROWS_MAX:
            return found, last.hex()
        last = key
        if condition is None or holds(condition, meta):
            found.append(meta)
    return found, ""


def _condition(form: dict[str, str]) -> MetaCondition | None:
    """What a form asks for; None: every series."""
    named = ((MetaField.MEASUREMENT, form["measurement"]), (MetaField.SOURCE, form["source"]))
    parts: list[MetaCondition] = [_match(field, text) for field, text in named if text]
    parts += [_match(MetaField.TAG, value, name) for name, value in _pairs(form["tags"])]
    return AllOf(tuple(parts)) if parts else None


def _match(field: MetaField, text: str, name: str = "") -> MetaMatch:
    if text.endswith(_ANY):
        return MetaMatch(field, MetaComparator.PREFIX, text.removesuffix(_ANY), name)
    return MetaMatch(field, MetaComparator.EQUAL, text, name)


def _pairs(text: str) -> list[tuple[str, str]]:
    """Tags as they are typed, `host=web-1, region=eu`, or as answers have them."""
    if text.startswith("["):
        return list(tags_of_text(text))
    found: list[tuple[str, str]] = []
    for each in filter(None, map(str.strip, text.split(","))):
        name, sign, value = each.partition("=")
        if not (name and sign and value):
            raise ConsoleRefused(
                400,
                f"tags: {each[:60]!r} is not a tag.",
                'Write host=web-1, region=eu*, or ["host=web-1","city=Delft, NL"].',
            )
        found.append((name.strip(), value.strip()))
    return found
