"""Commands on points and series: putts, getts, import_timeseries, qtm and more (ts-cli)."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from widerow.cli.command import CommandFailed
from widerow.cli.flags import listed
from widerow.cli.progress import row_bar
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.cli.tablestore.documents import row_grid
from widerow.cli.tablestore.grid import Grid
from widerow.cli.tablestore.times import shown_time
from widerow.cli.tablestore.words import WordInvalid
from widerow.cli.ts.command import TsCommand, TsUsage, int32_of
from widerow.cli.ts.json_rows import attribute_edits
from widerow.cli.ts.session import TsSession
from widerow.client.failures import RequestFailed
from widerow.client.series import put_points
from widerow.client.series_reading import PointsWanted, change_metas, fetch_metas, fetch_points
from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import (
    AllOf,
    MetaChange,
    MetaComparator,
    MetaCondition,
    MetaField,
    MetaMatch,
)
from widerow.model.timeseries.series import SeriesKey, Tags, tags_of_pairs, tags_text
from widerow.model.values import Value
from widerow.row_files.source import FileSource
from widerow.system import SystemClock
from widerow.transfer.points import PointImport, import_points
from widerow.written_numbers import whole_number

__all__ = [
    "GET_POINTS",
    "IMPORT_POINTS",
    "PUT_POINT",
    "QUERY_METAS",
    "UPDATE_META",
    "fields_of_json",
    "meta_condition",
    "series_of_json",
]

_T = TypeVar("_T")

_SHOWN: Final = 100
_KEY_FORM: Final = '["cpu","host_1",["region=hangzhou","os=ubuntu"]]'
_TAGS_FORM: Final = '["region=hangzhou","os=ubuntu"]'
_FIELDS_FORM: Final = '[{"c":"usage","v":1.5},{"c":"n","v":1,"isint":true}]'
_ANYTHING: Final = "*"
_LEFT_OUT: Final[tuple[Any, ...]] = ("", "", [])


# --- what is typed -------------------------------------------------------------------------------


def _tags(given: object, flag: str) -> Tags:
    pairs = []
    for each in given if isinstance(given, list) else [None]:
        name, equals, value = str(each).partition("=")
        if not isinstance(each, str) or not equals:
            raise WordInvalid(f"{flag}: tags are a list such as {_TAGS_FORM}")
        pairs.append((name, value))
    try:
        return tags_of_pairs(pairs)
    except InvalidRequest as error:
        raise WordInvalid(f"{flag}: {error}") from error


def _json(flag: str, word: str, form: str) -> Any:  # noqa: ANN401  # whatever JSON holds
    try:
        return json.loads(word)
    except (ValueError, RecursionError) as error:
        raise WordInvalid(f"{flag} {word!r} is not JSON such as {form}: {error}") from error


def series_of_json(word: str) -> SeriesKey:
    """The series of `--k`: measurement, data source and tags, of which the last may be left out.

    Raises: `WordInvalid`.
    """
    parts = _json("--k", word, _KEY_FORM)
    if not isinstance(parts, list) or not 1 <= len(parts) <= 3:
        raise WordInvalid(f"--k {word}: a series is {_KEY_FORM}")
    measurement, source, tags = (*parts, *_LEFT_OUT[len(parts) :])
    if not (isinstance(measurement, str) and isinstance(source, str)):
        raise WordInvalid(f"--k {word}: a measurement and a data source are texts: {_KEY_FORM}")
    return SeriesKey(measurement, source, _tags(tags, "--k"))


def fields_of_json(word: str) -> dict[str, Value]:
    """The fields of `--field`. Raises: `WordInvalid`."""
    fields: dict[str, Value] = {}
    for each in attribute_edits(word):
        if each.version is not None:
            raise WordInvalid(f"{each.column}: a field has no ts; --time is that of the point")
        if each.column in fields:
            raise WordInvalid(f"the field {each.column} is given twice")
        assert each.value is not None, "columns that are put have values"
        fields[each.column] = each.value
    return fields


def _match(field: MetaField, word: str, name: str = "") -> MetaMatch:
    if word.endswith(_ANYTHING):
        return MetaMatch(field, MetaComparator.PREFIX, word.removesuffix(_ANYTHING), name)
    return MetaMatch(field, MetaComparator.EQUAL, word, name)


def meta_condition(given: Arguments) -> MetaCondition | None:
    """What `qtm` asks for: everything that is given has to hold. Raises: `WordInvalid`."""
    parts: list[MetaCondition] = []
    for flag, field in _TEXTS.items():
        if given.has(flag):
            parts.append(_match(field, given.need(flag)))
    for flag, field in _NAMED.items():
        if given.has(flag):
            tags = _tags(_json(flag, given.need(flag), _TAGS_FORM), flag)
            parts += [_match(field, value, name) for name, value in tags]
    if len(parts) < 2:
        return parts[0] if parts else None
    return AllOf(tuple(parts))


_TEXTS: Final = {"--measurement": MetaField.MEASUREMENT, "--datasource": MetaField.SOURCE}
_NAMED: Final = {"--tags": MetaField.TAG, "--attrs": MetaField.ATTRIBUTE}


def _time_us(given: Arguments, flag: str, default: int) -> int:
    word = given.get(flag)
    if word is None:
        return default
    try:
        time_us = whole_number(word)
    except ValueError as error:
        raise TsUsage(f"{flag} {word}: write microseconds since 1970") from error
    if not 0 <= time_us <= INT64_MAX:
        raise TsUsage(f"{flag} {word}: write microseconds since 1970")
    return time_us


def _limit(given: Arguments) -> int:
    limit = int32_of(given, "--limit")
    if limit is not None and limit < 1:
        raise TsUsage("--limit is 1 or more")
    return limit or _SHOWN


# --- the commands --------------------------------------------------------------------------------


def _put(session: TsSession, given: Arguments) -> None:
    table = session.series(given.get("--table"))
    time_us = _time_us(given, "--time", SystemClock().now_us())
    fields = fields_of_json(given.need("--field"))
    point = Point(series_of_json(given.need("--k")), time_us, fields)
    for reason in put_points(session.client, table, [point]).values():
        raise RequestFailed(reason)
    session.write("Success.")


def _get(session: TsSession, given: Arguments) -> None:
    table = session.series(given.get("--table"))
    limit = _limit(given)
    wanted = PointsWanted(
        series_of_json(given.need("--k")),
        _time_us(given, "--time_start", 0),
        _time_us(given, "--time_end", INT64_MAX),
        given.has("--backward"),
        listed(given.get("--columns")),
    )
    rows, more = _cut(fetch_points(session.client, table, wanted, limit + 1), limit)
    if not rows:
        session.write("No point.")
        return
    session.saw(table, {cell.column for row in rows for cell in row.cells})
    session.show(row_grid(rows, [name for name, _ in rows[0].key]))
    if more:
        session.write(f"There are more points: --limit {2 * limit} shows more.")


def _cut(found: Iterator[_T], limit: int) -> tuple[Sequence[_T], bool]:
    """The first ones, and whether there are more."""
    listing = list(found)
    return listing[:limit], len(listing) > limit


def _query(session: TsSession, given: Arguments) -> None:
    table = session.series(given.get("--table"))
    limit = _limit(given)
    metas, more = _cut(fetch_metas(session.client, table, meta_condition(given), limit + 1), limit)
    if not metas:
        session.write("No series.")
        return
    lines = [
        [
            meta.key.measurement,
            meta.key.source,
            tags_text(meta.key.tags),
            tags_text(meta.attributes),
            shown_time(meta.updated_us // 1000),
        ]
        for meta in metas
    ]
    session.show(Grid(("measurement", "data_source", "tags", "attributes", "update_time"), lines))
    if more:
        session.write(f"There are more series: --limit {2 * limit} shows more.")


def _update_meta(session: TsSession, given: Arguments) -> None:
    table = session.series(given.get("--table"))
    attributes = _tags(_json("--attrs", given.need("--attrs"), _TAGS_FORM), "--attrs")
    change = MetaChange(series_of_json(given.need("--k")), attributes)
    change_metas(session.client, table, [change])
    session.write("Success.")


def _import(session: TsSession, given: Arguments) -> None:
    table = session.series(given.get("--table"))
    wish = PointImport(Path(given.need("--input")), table, limit=_import_limit(given))
    with row_bar(f"importing {wish.path.name}", FileSource(wish.path).total) as bar:
        done = import_points(
            session.endpoint, wish, lambda step: bar(step.behind, step.rows, step.rejected)
        )
    session.write(f"{done.points:,} point{'' if done.points == 1 else 's'} imported.")
    if done.rejected:
        raise CommandFailed(
            f"{done.rejected:,} lines were refused, which {wish.rejected} has; the first: "
            f"{done.first_rejected}"
        )


def _import_limit(given: Arguments) -> int | None:
    return _limit(given) if given.has("--limit") else None


_TABLE: Final = ShellFlag("--table", "TABLE", "the table, if not the one in use", short="-t")
_KEY: Final = ShellFlag("--k", "JSON", f"the series: {_KEY_FORM}", required=True, short="-k")
_LIMIT: Final = ShellFlag("--limit", "N", f"at most so many; {_SHOWN} if not given", short="-l")
_EXAMPLE_KEY: Final = """'["cpu","host_1",["region=hangzhou"]]'"""

PUT_POINT: Final = TsCommand(
    name="putts",
    description="Puts a point of a series.",
    run=_put,
    flags=(
        _KEY,
        ShellFlag("--field", "JSON", _FIELDS_FORM, required=True),
        ShellFlag("--time", "US", "microseconds since 1970; now if not given"),
        _TABLE,
    ),
    example=f"""putts --k {_EXAMPLE_KEY} --field '[{{"c":"n","v":1.5}}]' --time 1635162859000000""",
)
GET_POINTS: Final = TsCommand(
    name="getts",
    description="Shows points of a series in the order of time.",
    run=_get,
    flags=(
        _KEY,
        ShellFlag("--time_start", "US", "from this time on, in microseconds since 1970"),
        ShellFlag("--time_end", "US", "before this time"),
        _LIMIT,
        ShellFlag("--backward", "", "from the newest to the oldest"),
        ShellFlag("--columns", "A,B", "only these fields", short="-c"),
        _TABLE,
    ),
    example=f"getts --k {_EXAMPLE_KEY} --limit 5",
)
IMPORT_POINTS: Final = TsCommand(
    name="import_timeseries",
    description="Puts the points of a file in line protocol, with times in nanoseconds.",
    run=_import,
    flags=(
        ShellFlag("--input", "FILE", "the file", required=True, short="-i"),
        ShellFlag("--limit", "N", "so many points at most; all if not given", short="-l"),
        _TABLE,
    ),
    example="import_timeseries --input points.txt",
)
QUERY_METAS: Final = TsCommand(
    name="qtm",
    description="Shows series, of which everything that is given holds.",
    run=_query,
    flags=(
        ShellFlag("--measurement", "NAME", "the measurement, or with * what it begins with"),
        ShellFlag("--datasource", "SOURCE", "the data source, or with * what it begins with"),
        ShellFlag("--tags", "JSON", f"tags that it has: {_TAGS_FORM}; values may end with *"),
        ShellFlag("--attrs", "JSON", "attributes that it has, as --tags"),
        _LIMIT,
        _TABLE,
    ),
    aliases=("query_ts_meta",),
    example="""qtm --measurement cpu --tags '["region=hang*"]' --limit 10""",
)
UPDATE_META: Final = TsCommand(
    name="update_timeseries_meta",
    description="Replaces the attributes of a series, which is made if it is not there.",
    run=_update_meta,
    flags=(
        _KEY,
        ShellFlag("--attrs", "JSON", f"all its attributes: {_TAGS_FORM}", required=True),
        _TABLE,
    ),
    aliases=("update_ts_meta", "utm"),
    example=f"""update_timeseries_meta --k {_EXAMPLE_KEY} --attrs '["city=yuhang"]'""",
)
