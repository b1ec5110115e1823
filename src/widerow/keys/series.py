"""Keys of series, their points and their metas (docs/formats/timeseries.md, "Keys").

A series is one shard: its keys begin with a hash of its canonical key and a counter, which is 0
but for the second of two series whose hashes are equal. Compiled: every point has such a key.
"""

import hashlib
import json
from typing import Final

from librt.strings import BytesWriter, write_i64_be

from widerow.errors import StoreDamaged
from widerow.keys.decode import unescape
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import ROW_PREFIX_BYTES, local_index_prefix, row_prefix
from widerow.limits import INT64_MAX
from widerow.model.timeseries.series import SeriesKey, tags_text

__all__ = [
    "HASH_BYTES",
    "SERIES_COUNTER_AT",
    "TIME_AT",
    "canonical_key",
    "key_parts",
    "meta_key",
    "meta_of_key",
    "series_hash",
    "series_of",
    "series_shards",
    "time_bytes",
]

HASH_BYTES: Final = 8
SERIES_COUNTER_AT: Final = ROW_PREFIX_BYTES + HASH_BYTES
TIME_AT: Final = SERIES_COUNTER_AT + 1
_SEPARATOR: Final = b"\x00"


def canonical_key(series: SeriesKey) -> bytes:
    """The text that names a series: measurement, data source, tags, with 00 between them.

    A measurement has no control character, and tags as a text have none, so it is read without
    doubt. Sorted, these are in the order of measurement and data source.
    """
    return f"{series.measurement}\0{series.source}\0{tags_text(series.tags)}".encode()


def series_of(canonical: bytes) -> SeriesKey:
    """The series of a canonical key. Raises `StoreDamaged`."""
    measurement, source, tags = key_parts(canonical)
    try:
        pairs = [text.split("=", 1) for text in json.loads(tags)]
        return SeriesKey(measurement, source, tuple([(n, v) for n, v in pairs]))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamaged(f"no key of a series: {canonical[:200]!r}") from error


def key_parts(canonical: bytes) -> tuple[str, str, str]:
    """Measurement, data source and tags as one text, of a canonical key. Raises `StoreDamaged`."""
    measurement, _, rest = canonical.partition(_SEPARATOR)
    source, mark, tags = rest.rpartition(_SEPARATOR)
    try:
        found = measurement.decode(), source.decode(), tags.decode()
    except UnicodeDecodeError as error:
        raise StoreDamaged(f"no key of a series: {canonical[:200]!r}") from error
    if not mark:
        raise StoreDamaged(f"no key of a series: {canonical[:200]!r}")
    return found


def series_hash(canonical: bytes) -> bytes:
    """The hash of a series: its partition key, as it stands in keys."""
    return hashlib.blake2b(canonical, digest_size=HASH_BYTES).digest()


def series_shards(table_id: int, digest: bytes) -> tuple[bytes, bytes]:
    """The prefixes of the shard of a series: of its points, and of its series record."""
    return row_prefix(table_id) + digest, local_index_prefix(table_id) + digest


def time_bytes(time_us: int) -> bytes:
    """A time as it stands in the keys of points. `time_us`: 0 or more, below 2 ** 64."""
    if not 0 <= time_us <= INT64_MAX:
        return time_us.to_bytes(8, "big")
    writer = BytesWriter()  # at half the cost
    write_i64_be(writer, time_us)
    return writer.getvalue()


def meta_key(meta_id: int, canonical: bytes) -> bytes:
    """The key of a meta, a shard of its own."""
    return row_prefix(meta_id) + encode_key_value(canonical)


def meta_of_key(key: bytes) -> bytes:
    """The canonical key of the series of a meta. Raises `StoreDamaged`."""
    canonical, end = unescape(key, ROW_PREFIX_BYTES)
    if end != len(key):
        raise StoreDamaged(f"bytes behind the key of a meta: {key.hex()}")
    return canonical
