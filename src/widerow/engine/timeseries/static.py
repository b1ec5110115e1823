"""Rules of timeseries tables that need no look at the store (timeseries §2, §3.1, §4, §8)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import (
    SERIES_FIELD_BYTES_MAX,
    SERIES_FIELD_KEYS_MAX,
    SERIES_FIELDS_MAX,
    SERIES_KEY_COLUMNS_MAX,
    SERIES_TEXT_BYTES_MAX,
)
from widerow.model.timeseries.requests import SeriesOptionsChange, TableRequest
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import (
    MEASUREMENT_COLUMN,
    SOURCE_COLUMN,
    TAGS_COLUMN,
    SeriesKey,
    Tags,
    tags_text,
)
from widerow.model.timeseries.table import (
    DEFAULT_KEY,
    FieldKey,
    TimeseriesOptions,
    TimeseriesTable,
)
from widerow.model.values import Value

__all__ = [
    "check_attributes",
    "check_field_names",
    "check_name",
    "check_options",
    "check_request",
    "check_series",
    "check_store_ttl",
    "check_values",
    "with_options",
]

_FOR_EVER: Final = -1
_TTL_MIN: Final = 86400
_META_TTL_MIN: Final = 604800
_STORE_TTL_MIN: Final = 2592000
_TABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_FIELD_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,127}")
_TAG_NAME: Final = re.compile(r"[!#-<>-~]+")  # visible ASCII without " and =
_KEY_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,127}")
_BAD_IN_MEASUREMENT: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f#]")
_MEASUREMENT_BYTES_MAX: Final = 128
_SOURCE_BYTES_MAX: Final = 256
_RESERVED: Final = frozenset((*DEFAULT_KEY, "_time", "_meta_update_time", "_attributes"))


def check_name(name: str, rule: TimeseriesRule = TimeseriesRule.TABLE_NAME) -> None:
    """Raise `InvalidRequest` for a name that no table, store or index may have."""
    if not _TABLE_NAME.fullmatch(name):
        raise InvalidRequest(rule, name=name[:200])


def check_request(request: TableRequest) -> None:
    """Raise `InvalidRequest` for a table that cannot be created (timeseries §3, §8, §11)."""
    check_name(request.name)
    check_options(request.options)
    _check_key(request.key)
    _check_field_keys(request.field_keys, request.key or ())
    for store in request.stores:
        check_name(store.name, TimeseriesRule.STORE_NAME)
        check_store_ttl(store.ttl_s)
    if len(request.stores) > 1:
        raise InvalidRequest(TimeseriesRule.STORE_COUNT)
    for name in request.lastpoints:
        check_name(name, TimeseriesRule.STORE_NAME)


def _check_key(key: Sequence[str] | None) -> None:
    """Raise `InvalidRequest` for columns that are not a key of series."""
    if key is None:
        return
    own = [name for name in key if name not in DEFAULT_KEY]
    good = all(_KEY_NAME.fullmatch(name) and name not in _RESERVED for name in own)
    if not key or len(set(key)) < len(key) or len(own) > SERIES_KEY_COLUMNS_MAX or not good:
        raise InvalidRequest(TimeseriesRule.KEY_SCHEMA, columns=", ".join(key)[:200])


def _check_field_keys(fields: Sequence[FieldKey], key: Sequence[str]) -> None:
    """Raise `InvalidRequest` for fields that cannot be key columns together."""
    names = [each.name for each in fields]
    if len(fields) > SERIES_FIELD_KEYS_MAX or len({*names, *key}) < len(names) + len(key):
        raise InvalidRequest(TimeseriesRule.FIELD_KEY_SCHEMA, columns=", ".join(names)[:200])
    check_field_names(names)


def check_options(options: TimeseriesOptions) -> None:
    """Raise `InvalidRequest` for options that do not go together (timeseries §3.1)."""
    ttl, meta_ttl = options.ttl_s, options.meta_ttl_s
    if ttl != _FOR_EVER and ttl < _TTL_MIN:
        raise InvalidRequest(TimeseriesRule.TABLE_TTL, value=ttl)
    if meta_ttl == _FOR_EVER:
        return
    if meta_ttl < _META_TTL_MIN:
        raise InvalidRequest(TimeseriesRule.META_TTL, value=meta_ttl)
    if options.update_attributes or ttl == _FOR_EVER or meta_ttl < ttl:
        raise InvalidRequest(TimeseriesRule.META_TTL_OPTIONS)


def with_options(options: TimeseriesOptions, change: SeriesOptionsChange) -> TimeseriesOptions:
    """Options after a change. Raises `InvalidRequest` (timeseries §3.1)."""
    of_metas = change.meta_ttl_s is not None or change.update_attributes is not None
    if change.ttl_s is not None and of_metas:
        raise InvalidRequest(TimeseriesRule.OPTIONS_TOGETHER)
    ttl, meta_ttl, attributes = change
    after = TimeseriesOptions(
        options.ttl_s if ttl is None else ttl,
        options.meta_ttl_s if meta_ttl is None else meta_ttl,
        options.update_attributes if attributes is None else attributes,
    )
    check_options(after)
    return after


def check_store_ttl(ttl_s: int) -> None:
    """Raise `InvalidRequest` for a time to live that no analytical store has (timeseries §11)."""
    if ttl_s != _FOR_EVER and ttl_s < _STORE_TTL_MIN:
        raise InvalidRequest(TimeseriesRule.STORE_TTL, value=ttl_s)


def check_series(table: TimeseriesTable, series: SeriesKey) -> None:
    """Raise `InvalidRequest` for a key that no series of the table has (timeseries §2, §8)."""
    measurement, source, tags = series
    if MEASUREMENT_COLUMN in table.key:
        size = len(measurement.encode())
        if not 0 < size <= _MEASUREMENT_BYTES_MAX or _BAD_IN_MEASUREMENT.search(measurement):
            raise InvalidRequest(TimeseriesRule.MEASUREMENT, value=measurement[:200])
    elif measurement:
        raise InvalidRequest(TimeseriesRule.KEY_COLUMNS, value=measurement[:200])
    if len(source.encode()) > _SOURCE_BYTES_MAX:
        raise InvalidRequest(TimeseriesRule.DATA_SOURCE, value=source[:200])
    if source and SOURCE_COLUMN not in table.key:
        raise InvalidRequest(TimeseriesRule.KEY_COLUMNS, value=source[:200])
    _check_pairs(tags, TimeseriesRule.TAGS_LENGTH)
    if table.custom_key:
        _check_columns(table, dict(tags))


def _check_columns(table: TimeseriesTable, tags: Mapping[str, str]) -> None:
    """Tags of a table that names columns of its own: each of them, others only in `_tags`."""
    own = {name for name in table.key if name not in DEFAULT_KEY}
    others = tags.keys() - own
    if own - tags.keys() or (others and TAGS_COLUMN not in table.key):
        raise InvalidRequest(TimeseriesRule.KEY_COLUMNS, value=", ".join(sorted(tags))[:200])


def _check_pairs(pairs: Tags, too_long: TimeseriesRule) -> None:
    for name, value in pairs:
        if not _TAG_NAME.fullmatch(name):
            raise InvalidRequest(TimeseriesRule.TAG_NAME, name=name[:200])
        if not value or '"' in value or "=" in value:
            raise InvalidRequest(TimeseriesRule.TAG_VALUE, name=name, value=value[:200])
    names = [name for name, _ in pairs]
    if names != sorted(set(names)):
        raise InvalidRequest(TimeseriesRule.TAG_NAME, name=", ".join(names)[:200])
    if len(tags_text(pairs).encode()) > SERIES_TEXT_BYTES_MAX:
        raise InvalidRequest(too_long, limit=SERIES_TEXT_BYTES_MAX)


def check_attributes(attributes: Tags) -> None:
    """Raise `InvalidRequest` for attributes that no meta has (timeseries §2)."""
    _check_pairs(attributes, TimeseriesRule.ATTRIBUTES_LENGTH)


def check_field_names(names: Sequence[str]) -> None:
    """Raise `InvalidRequest` for names that no fields have (timeseries §2)."""
    for name in names:
        if not _FIELD_NAME.fullmatch(name) or name in _RESERVED:
            raise InvalidRequest(TimeseriesRule.FIELD_NAME, name=name[:200])
    if len(names) > SERIES_FIELDS_MAX:
        raise InvalidRequest(TimeseriesRule.FIELD_COUNT, count=len(names))


def check_values(fields: Mapping[str, Value]) -> None:
    """Raise `InvalidRequest` for texts or bytes above their bound (timeseries §2)."""
    for name, value in fields.items():
        data: Any = value.encode() if isinstance(value, str) else value
        if isinstance(data, bytes) and len(data) > SERIES_FIELD_BYTES_MAX:
            raise InvalidRequest(TimeseriesRule.FIELD_LENGTH, name=name, size=len(data))
