"""Formats of typed tables are what docs/formats says, vectors read out of the pages."""

import ast
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.record import decode_typed_table, encode_typed_table
from widerow.errors import StoreDamaged
from widerow.keys.typed import decoder_of, encoder_of
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.coerce import coerce
from widerow.model.typed.table import Index, IndexField, TableLimits, TimeToLive, TypedTable
from widerow.model.typed.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    JSON,
    LONG,
    NUMBER,
    STRING,
    UUID,
    Field,
    FieldType,
    Kind,
    array_of,
    enum_of,
    map_of,
    record_of,
    timestamp,
)
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.rows.typed import (
    TypedHeader,
    pack_value,
    typed_header,
    typed_record,
    unpack_value,
)

FORMATS = Path(__file__).resolve().parents[2] / "docs" / "formats"
TYPES: dict[str, FieldType] = {
    "INTEGER": INTEGER,
    "LONG": LONG,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "NUMBER": NUMBER,
    "STRING": STRING,
    "UUID": UUID,
    "BOOLEAN": BOOLEAN,
    "BINARY": BINARY,
    "JSON": JSON,
    "TIMESTAMP": timestamp(9),
    "ENUM(z,a,m)": enum_of("zam"),
    "ENUM(blue,red)": enum_of(["blue", "red"]),
    "ARRAY(ENUM(a,b))": array_of(enum_of("ab")),
    "MAP(INTEGER)": map_of(INTEGER),
    "RECORD(street STRING, no INTEGER)": record_of(Field("street", STRING), Field("no", INTEGER)),
}


def rows(document: str, heading: str) -> list[tuple[str, ...]]:
    """The rows of the one table whose head is `heading`."""
    lines = (FORMATS / document).read_text(encoding="utf-8").splitlines()
    assert lines.count(heading) == 1
    found: list[tuple[str, ...]] = []
    for line in lines[lines.index(heading) + 2 :]:
        if not line.startswith("|"):
            break
        found.append(tuple(cell.strip().strip("`") for cell in line.strip("|").split("|")))
    assert found
    return found


def shown(kind: FieldType, text: str) -> Any:  # noqa: ANN401  # whatever the document shows
    """The value that a cell of a vector table means."""
    if text == "JSON_NULL":
        return JSON_NULL
    if text.startswith("Decimal"):
        return Decimal(text[9:-2])
    value = ast.literal_eval(text)
    if kind.kind in (Kind.FLOAT, Kind.DOUBLE):
        return float(value)
    return Decimal(value) if kind.kind is Kind.NUMBER else value


KEYS = rows("keys.md", "| Typed | Value | Hex |")
VALUES = rows("rows.md", "| Typed | Python | Hex |")


@pytest.mark.parametrize(("name", "text", "code"), KEYS)
def test_key_values(name: str, text: str, code: str) -> None:
    kind = TYPES[name]
    value = coerce(shown(kind, text), kind, "k")
    encoded = bytes.fromhex(code)
    assert encoder_of(kind)(value) == encoded
    decoded, end = decoder_of(kind)(b"\x00" + encoded + b"\x00", 1)
    assert (repr(decoded), end) == (repr(value), 1 + len(encoded))


def test_key_vectors_stand_in_the_order_of_the_model() -> None:
    for name in {name for name, _, _ in KEYS}:
        codes = [bytes.fromhex(code) for each, _, code in KEYS if each == name]
        assert len(codes) > 1
        assert codes == sorted(codes)


@pytest.mark.parametrize(("name", "text", "code"), VALUES)
def test_stored_values(name: str, text: str, code: str) -> None:
    kind = TYPES[name]
    value = coerce(shown(kind, text), kind, "v")
    assert pack_value(value, kind).hex() == code
    assert unpack_value(bytes.fromhex(code), kind) == value


def example() -> TypedTable:
    page = (FORMATS / "catalog.md").read_text(encoding="utf-8")
    found = re.search(r"```typed\n(.*)\n```", page)
    assert found is not None
    table = decode_typed_table(found[1].encode())
    assert encode_typed_table(table).decode() == found[1]
    return table


def test_the_catalogue_example_is_what_is_written() -> None:
    table = example()
    assert (table.qualified, table.id, table.shard_key) == ("shop:users", 7, ("id",))
    assert table.ttl is not None
    assert table.ttl.text() == "5 DAYS"
    assert table.splits == (encoder_of(LONG)(7),)
    assert table.limits == TableLimits(50, 60, 2)


def test_a_record_from_before_there_were_partitions_is_read() -> None:
    former = encode_typed_table(example()).replace(b'"splits":["8000000000000007"],', b"")
    assert decode_typed_table(former) == replace(example(), splits=())
    assert b"splits" not in encode_typed_table(replace(example(), splits=()))


def test_what_a_table_was_never_told_is_not_in_its_record() -> None:
    record = encode_typed_table(example())
    told = replace(example(), frozen=True, before_image=TimeToLive.hours(24))
    members = b',"frozen":true,"before_image":[24,"HOURS"]}'
    assert encode_typed_table(told) == record[:-1] + members
    assert decode_typed_table(record[:-1] + members) == told
    index = Index("i", (IndexField("s"), IndexField("j.p", Kind.STRING, "J.p")), id=9)
    indexed = replace(example(), indexes=(index,))
    assert b'"fields":[["s",null],["j.p","STRING","J.p"]]' in encode_typed_table(indexed)
    assert decode_typed_table(encode_typed_table(indexed)) == indexed
    removed = replace(example(), dropped=(Field("was", enum_of("ab"), number=6),))
    column = b'{"name":"was","type":{"kind":"ENUM","symbols":["a","b"]},"number":6}'
    assert encode_typed_table(removed) == record[:-1] + b',"dropped":[' + column + b"]}"
    assert decode_typed_table(encode_typed_table(removed)) == removed


def test_the_page_names_every_field_of_a_record() -> None:
    page = (FORMATS / "catalog.md").read_text(encoding="utf-8").partition("| typed field |")[2]
    named = set(re.findall(r"`(\w+)`", page))
    assert named >= set(ast.literal_eval(str(list(TypedTable.__dataclass_fields__))))


def test_a_record_with_an_unknown_field_is_refused() -> None:
    record = encode_typed_table(example())
    for changed in (b'{"more":1,' + record[1:], record.replace(b'"format":1', b'"format":2')):
        with pytest.raises(StoreDamaged):
            decode_typed_table(changed)


@pytest.mark.parametrize(("name", "values", "code"), rows("keys.md", "| Table | Values | Hex |"))
def test_row_keys(name: str, values: str, code: str) -> None:
    parent = example()
    tables = {
        "users": parent,
        "users.kid": replace(
            TableBuilder("kid", parent=parent).add_field("k", STRING).primary_key("k").build(),
            id=9,
            path=(7, 9),
        ),
    }
    assert TableForm(tables[name]).key.encode(ast.literal_eval(values)).hex() == code


def test_a_typed_record() -> None:
    page = (FORMATS / "rows.md").read_text(encoding="utf-8")
    found = re.search(r"^`(04[0-9a-f]+)`$", page, re.MULTILINE)
    assert found is not None
    header = TypedHeader(4, 0, 1, 7, 412_000, 1_468_944_000_000, bytes(range(16)))
    table = replace(TableBuilder("t").add_field("k", LONG).primary_key("k").build(), id=7)
    record = typed_record(table, *header[4:], b"\x90")
    assert record.hex() == found[1]
    assert typed_header(record) == header


def test_timestamps_are_pairs() -> None:
    assert Timestamp.parse("1970-01-01T00:00:01.5") == (1, 500_000_000)
