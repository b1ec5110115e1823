"""No request costs more than its size deserves: what it repeats is counted before it is decoded.

docs/protocol/differences.md, "Size of requests".
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.wire.tablestore.repeated import Measured, cases

from widerow.errors import InvalidRequest
from widerow.limits import REQUEST_FIELDS_MAX
from widerow.rows.fields import varint
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as s
from widerow.wire.tablestore.bounds import (
    FIELD_BOUNDS,
    Crowded,
    FieldCounts,
    Unreadable,
    check_repeats,
)
from widerow.wire.tablestore.errors.answers import foreign
from widerow.wire.tablestore.operations.table import OPERATIONS, OWN

SECONDS_MAX = 0.3
MEGABYTES_MAX = 50
CROWDED = {"REQUEST_ELEMENTS", "SEARCH_TREE_SIZE", "FILTER_COUNT"}
CASES = list(cases())


def test_every_repeated_field_of_a_request_has_a_bound_and_nothing_else() -> None:
    found = {case.field for case in CASES if case.form in {"whole", "number"}}
    assert found == set(FIELD_BOUNDS)


def test_every_action_is_looked_at() -> None:
    assert {case.action for case in CASES} <= OPERATIONS.keys() | OWN.keys()


def measured(*words: str) -> list[Measured]:
    """What the cases cost, in processes of their own."""
    program = [sys.executable, "-m", "tests.unit.wire.tablestore.repeated", *words]
    said = subprocess.run(program, capture_output=True, check=True, text=True)  # noqa: S603  # ours
    return [Measured(*json.loads(line)) for line in said.stdout.splitlines()]


def check(found: Iterable[Measured]) -> None:
    for each in found:
        assert each.seconds < SECONDS_MAX, each
        assert each.megabytes < MEGABYTES_MAX, each


def test_a_request_that_repeats_a_field_costs_little() -> None:
    """4.5 MB of whole elements: it is refused before they are decoded."""
    found = measured("whole", "number", "cells", "key cells", "JSON")
    check(found)
    assert {each.said for each in found if each.beyond} <= CROWDED | {"BODY_UNREADABLE"}


@pytest.mark.night
def test_a_request_of_any_elements_costs_little() -> None:
    """Also one with as many as are decoded, which is refused for other reasons, if at all."""
    found = measured()
    check(found)
    assert "REQUEST_ELEMENTS" not in {each.said for each in found if not each.beyond}


# --- counting --------------------------------------------------------------------------------


def elements(message: Message) -> Counter[str]:
    """How many elements of each repeated field the parser has made."""
    found: Counter[str] = Counter()
    for field, value in message.ListFields():
        several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        if several:
            found[f"{message.DESCRIPTOR.name}.{field.name}"] += len(value)
        for each in value if several else (value,):
            if isinstance(each, Message):
                found += elements(each)
    return found


def batch(tables: Iterable[tuple[int, int]]) -> bytes:
    parts = [
        m.TableInBatchGetRowRequest(
            table_name="t", primary_key=[b"k"] * keys, columns_to_get=["c"] * columns
        )
        for keys, columns in tables
    ]
    return m.BatchGetRowRequest(tables=parts).SerializePartialToString()


def schema(widths: Sequence[int]) -> bytes:
    """Fields below fields, as many on each level."""
    below: list[s.FieldSchema] = []
    for width in widths:
        below = [s.FieldSchema(field_name="f", date_formats=["x"], field_schemas=below)] * width
    return s.IndexSchema(field_schemas=below).SerializePartialToString()


def vector(numbers: int, packed: int) -> bytes:
    """A query by a vector, whose numbers came one by one, and then so many in one field."""
    together = b"".join((b"\x22", varint(4 * packed), bytes(4 * packed)))
    return b"\x25\0\0\x80\x3f" * numbers + together


SMALL = st.integers(0, 4)
BODIES = st.one_of(
    st.tuples(
        st.just(m.BatchGetRowRequest), st.lists(st.tuples(SMALL, SMALL), max_size=4).map(batch)
    ),
    st.tuples(st.just(s.IndexSchema), st.lists(SMALL, max_size=4).map(schema)),
    st.tuples(st.just(s.KnnVectorQuery), st.builds(vector, SMALL, SMALL)),
)


@given(BODIES)
def test_what_the_parser_makes_was_counted(sent: tuple[type[Message], bytes]) -> None:
    kind, body = sent
    counts = FieldCounts()
    counts.add(kind.DESCRIPTOR, body)
    assert Counter(counts.elements) == elements(kind.FromString(body))


@given(BODIES, st.data())
def test_what_the_parser_makes_of_damaged_bytes_was_counted(
    sent: tuple[type[Message], bytes], data: st.DataObject
) -> None:
    """Or the parser refuses them too; also where it skips groups and fields that nobody knows."""
    kind, body = sent
    changed = bytearray(body + data.draw(st.binary(max_size=8)))
    for _ in range(data.draw(st.integers(0, 2)) if changed else 0):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    counts = FieldCounts()
    try:
        made = elements(kind.FromString(bytes(changed)))
    except DecodeError:
        return
    counts.add(kind.DESCRIPTOR, bytes(changed))
    assert made <= Counter(counts.elements)


@pytest.mark.parametrize("name", ["BatchGetRowRequest.tables", "TableInBatchGetRowRequest.token"])
def test_one_element_more_than_the_bound_is_too_many(name: str) -> None:
    case = next(each for each in CASES if each.field == name and each.form == "whole")
    check_repeats(m.BatchGetRowRequest.DESCRIPTOR, case.body(FIELD_BOUNDS[name]))
    with pytest.raises(Crowded) as caught:
        check_repeats(m.BatchGetRowRequest.DESCRIPTOR, case.body(FIELD_BOUNDS[name] + 1))
    assert (caught.value.name, caught.value.limit) == (name, FIELD_BOUNDS[name])


def test_fields_of_all_kinds_have_a_bound_together() -> None:
    unknown = b"\xf8\x07\x01"
    check_repeats(m.ListTableRequest.DESCRIPTOR, unknown * REQUEST_FIELDS_MAX)
    with pytest.raises(Crowded) as caught:
        check_repeats(m.ListTableRequest.DESCRIPTOR, unknown * (REQUEST_FIELDS_MAX + 1))
    assert (caught.value.name, caught.value.limit) == ("", REQUEST_FIELDS_MAX)


@pytest.mark.parametrize(
    "body",
    [
        b"\x0a\x02a",  # longer than there are bytes
        b"\x0a" + b"\xff" * 9 + b"\x01",  # longer than any bytes
        b"\x0a" + b"\x80" * 10 + b"\x01",  # a length of eleven bytes
        b"\x80",  # a key that does not end
        b"\x0a\x02\x0a\x01",  # inside a table
    ],
)
def test_bytes_that_are_no_fields_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        FieldCounts().add(m.BatchGetRowRequest.DESCRIPTOR, body)


def test_a_client_is_told_which_field_has_too_many_elements() -> None:
    name = "BatchGetRowRequest.tables"
    case = next(each for each in CASES if each.field == name and each.form == "whole")
    with pytest.raises(InvalidRequest) as caught:
        OPERATIONS["BatchGetRow"].decode(case.body(FIELD_BOUNDS[name] + 1))
    status, code, message = foreign(caught.value)
    assert (status, code) == (400, "OTSParameterInvalid")
    assert message == (
        "The number of elements of BatchGetRowRequest.tables in the request exceeds the limit, "
        "limit count: 800."
    )
