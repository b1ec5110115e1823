"""The records of timeseries tables are those of docs/formats/timeseries.md."""

import re
from pathlib import Path

from widerow.engine.timeseries.lastpoints import LastPoint, decode_last
from widerow.engine.timeseries.stored import point_fields, record_head
from widerow.keys.series import canonical_key, meta_key, meta_of_key, series_hash, series_of
from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import Value
from widerow.rows.points import Layouts
from widerow.rows.series import SeriesRecord, decode_meta, decode_series, encode_meta

PAGE = Path(__file__).parents[2] / "docs" / "formats" / "timeseries.md"
SERIES = SeriesKey("cpu", "h1", (("os", "linux"),))
FIELDS: dict[str, Value] = {"x": b"\x00", "s": "ü", "i": -2, "d": 0.5, "b": True}


def vectors() -> dict[str, bytes]:
    row = re.compile(r"^\| ([a-z][\w ]+) \| `([0-9a-f]+)` \|$", re.MULTILINE)
    rows = row.findall(PAGE.read_text("utf-8"))
    return {name: bytes.fromhex(record) for name, record in rows}


def test_records_are_written_as_the_page_says() -> None:
    layouts = Layouts(1000, lambda _: None)
    canonical = canonical_key(SERIES)
    layout, values = layouts.pack(FIELDS)
    record = SeriesRecord(canonical, 5, 7, [])
    number = record.number(layout.encoded)
    last = LastPoint()
    last.add(9, {"i": -2})
    last.add(4, {"i": 1, "s": "ü"})
    assert vectors() == {
        "canonical key": canonical,
        "hash": series_hash(canonical),
        "meta key of table 8": meta_key(8, canonical),
        "layout": layout.encoded,
        "point with number 1": record_head(number, layout) + values,
        "point with its layout": record_head(0, layout) + values,
        "record of the series": record.encode(),
        "last point": last.encode(layouts),
        "meta": encode_meta(7, (("a", "1"),)),
    }


def test_records_of_the_page_are_read() -> None:
    layouts, found = Layouts(1000, lambda _: None), vectors()
    series = decode_series(found["record of the series"])
    assert (series.canonical, series.epoch_us, series.refreshed_us, series.layouts) == (
        *(found["canonical key"], 5, 7),
        [found["layout"]],
    )
    assert series_of(meta_of_key(found["meta key of table 8"])) == SERIES
    for name in ("point with number 1", "point with its layout"):
        fields = point_fields(layouts, series, found[name])
        assert (fields, list(fields)) == (FIELDS, sorted(FIELDS))
    last = decode_last(layouts, found["last point"])
    assert (last.time_us, last.times, last.fields) == (9, {"i": 9, "s": 4}, {"i": -2, "s": "ü"})
    assert decode_meta(found["meta"]) == (7, (("a", "1"),))
