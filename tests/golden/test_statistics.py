"""The records of docs/formats/statistics.md, read out of the page."""

import json
import re
from pathlib import Path

import pytest

from widerow.engine.partitions.history import decode_interval, encode_interval
from widerow.engine.partitions.records import (
    decode_counts,
    decode_ranges,
    encode_counts,
    encode_ranges,
)
from widerow.engine.partitions.shared_notes import LoadNote, decode_notes, encode_notes
from widerow.engine.partitions.sizes import Piece
from widerow.engine.sweep.record import decode_sweep, encode_sweep
from widerow.errors import StoreDamaged
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import row_prefix

PAGE = (Path(__file__).parents[2] / "docs" / "formats" / "statistics.md").read_text(
    encoding="utf-8"
)


def examples() -> tuple[bytes, ...]:
    return tuple(each.encode() for each in re.findall(r"```json\n(.*)\n```", PAGE))


def test_the_example_of_counts_is_what_is_written() -> None:
    sizes, consumed = decode_counts(examples()[0])
    assert encode_counts(sizes, consumed, is_known=True) == examples()[0]
    assert (consumed.read, consumed.write, consumed.additional_write) == (120, 4096, 30.5)
    assert sizes.pieces[1] == Piece(b"6666\x00\x01", 2097152, 1024, 2000000, b"6666\x00\x01")


def test_the_example_of_past_load_is_what_is_written() -> None:
    interval = decode_interval(1468944000, examples()[1])
    assert encode_interval(interval) == examples()[1]
    assert interval.partitions == ((b"", 40, 0), (b"6666\x00\x01", 0, 960))
    assert interval.bins[0] == (b"2222\x00\x01", 40.0)


def test_the_example_of_a_pass_is_what_is_written() -> None:
    record = decode_sweep(examples()[2])
    assert encode_sweep(record) == examples()[2]
    assert record.started_us == 1468944000000000
    assert record.ended_us == 1468944000250000
    assert record.first == 1468940400000
    assert decode_sweep(encode_sweep(record._replace(first=None))).first is None


def test_the_example_of_a_message_is_what_is_written() -> None:
    notes = decode_notes(examples()[3])
    assert encode_notes(notes) == examples()[3]
    assert notes == [LoadNote(7, b"6666\x00\x01", 12, 40, 3, -512)]


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"format":2}', b'{"format":1,"notes":[[1]]}'])
def test_a_message_that_is_not_understood_is_refused(damage: bytes) -> None:
    with pytest.raises(StoreDamaged, match="a record of a node's notes"):
        decode_notes(damage)


def test_the_example_of_ranges_is_what_is_written() -> None:
    bounds = decode_ranges(7, examples()[4])
    assert bounds == {row_prefix(7), row_prefix(7) + encode_key_value(100)}
    assert encode_ranges(7, bounds) == examples()[4]


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"format":2}', b'{"format":1,"begins":["x"]}'])
def test_ranges_that_are_not_understood_are_refused(damage: bytes) -> None:
    with pytest.raises(StoreDamaged, match="a record of ranges"):
        decode_ranges(7, damage)


def test_the_page_names_every_field() -> None:
    lines = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ", PAGE, re.MULTILINE)
    named = {name for line in lines for name in re.findall(r"\w+", line)}
    assert named == {name for each in examples() for name in json.loads(each)}


@pytest.mark.parametrize(
    ("field", "value"),
    [("format", 2), ("consumed", [1]), ("pieces", []), ("pieces", [["61", 0, 0, 0, None]])],
)
def test_counts_that_are_not_understood_are_refused(field: str, value: object) -> None:
    record = json.loads(examples()[0]) | {field: value}
    with pytest.raises(StoreDamaged):
        decode_counts(json.dumps(record).encode())


def test_past_load_that_is_not_understood_is_refused() -> None:
    with pytest.raises(StoreDamaged):
        decode_interval(0, b'{"seconds":10,"partitions":[["6",1,1]],"bins":[]}')


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"format":2}', b'{"format":1,"first":0}'])
def test_a_pass_that_is_not_understood_is_refused(damage: bytes) -> None:
    with pytest.raises(StoreDamaged, match="the record of a pass"):
        decode_sweep(damage)
