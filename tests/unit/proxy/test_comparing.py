"""Two answers side by side: what is not a difference, and the class of what is one."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.client.http import HttpAnswer
from widerow.client.rows import CellEdit, encode_edits, encode_plain_key, encode_put
from widerow.model.tablestore.row import Modification
from widerow.model.values import KeyInput, KeyMarker
from widerow.proxy.claims import TrafficFacts, claims_of
from widerow.proxy.comparing import Allowances, ServerTimes, compare_answers
from widerow.proxy.decoding import answer_tree, jsonable, message_types, parse_message, request_tree
from widerow.proxy.identifiers import Identifiers
from widerow.proxy.side_by_side import compact_lines, side_by_side
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.plain_values import VersionedValue
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as s
from widerow.wire.tablestore import tunnel_messages as t
from widerow.wire.tablestore.errors.answers import encode_error
from widerow.wire.tablestore.plainbuffer import decode_row_change

NOW = 1_760_000_000_000
STRICT = Allowances(ServerTimes(0, 0), ServerTimes(0, 0))
LATELY = Allowances(ServerTimes(NOW, NOW + 100), ServerTimes(NOW + 50, NOW + 150))


def got(*rows: tuple[int, str, int], units: int = 1, next_key: int | None = None) -> HttpAnswer:
    """The answer to a GetRange: rows of a number, a value and a version."""
    encoded = [
        encode_put([("id", number)], [VersionedValue("c", version, value)])
        for number, value, version in rows
    ]
    message = m.GetRangeResponse(
        rows=PLAIN_HEADER * bool(rows) + b"".join(each[4:] for each in encoded)
    )
    message.consumed.capacity_unit.read = units
    if next_key is not None:
        message.next_start_primary_key = encode_plain_key([("id", next_key)])
    return HttpAnswer(200, {}, message.SerializeToString())


def classes(ours: HttpAnswer, theirs: HttpAnswer, allowed: Allowances = STRICT) -> list[str]:
    return [each.kind.value for each in compare_answers("GetRange", ours, theirs, allowed)]


def error(status: int, code: str, message: str = "") -> HttpAnswer:
    return HttpAnswer(status, {}, encode_error(code, message))


ONE, TWO, THREE = (1, "a", 7), (2, "b", 7), (3, "c", 7)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (got(ONE, TWO), got(ONE, TWO), []),
        (got(ONE), got((1, "other", 7)), ["row content"]),
        (got(ONE), got((1, "a", 8)), ["row content"]),
        (got(ONE), got(), ["row content"]),
        (got(ONE, TWO), got(TWO, ONE), ["order"]),
        (got(ONE, TWO), got(ONE, TWO, THREE), ["paging"]),
        (got(ONE), got(ONE, next_key=2), ["paging"]),
        (got(ONE, next_key=3), got(ONE, next_key=2), ["paging"]),
        (got(ONE), got(ONE, units=2), ["capacity"]),
        (got(ONE, TWO, THREE), got(ONE, THREE), ["row content"]),
        (got(ONE), error(404, "OTSObjectNotExist"), ["status"]),
        (error(400, "A"), error(400, "B"), ["error code"]),
        (error(400, "A", "x"), error(400, "A", "y"), ["message"]),
        (error(400, "A", "x"), error(403, "B", "x"), ["status", "error code"]),
        (HttpAnswer(200, {}, b"\xff"), got(), ["other field"]),
    ],
)
def test_a_difference_has_its_class(
    ours: HttpAnswer, theirs: HttpAnswer, expected: list[str]
) -> None:
    assert sorted(classes(ours, theirs)) == sorted(expected)
    assert sorted(classes(theirs, ours)) == sorted(expected)


def test_versions_that_both_servers_chose_are_alike() -> None:
    ours, theirs = got((1, "a", NOW)), got((1, "a", NOW + 60))
    assert classes(ours, theirs, LATELY) == []
    assert classes(ours, theirs) == ["row content"]
    assert classes(ours, got((1, "a", NOW + 151)), LATELY) == ["row content"]


def test_what_a_server_makes_up_is_there_on_both_sides_or_is_a_difference() -> None:
    def began(name: str) -> HttpAnswer:
        told = m.StartLocalTransactionResponse(transaction_id=name)
        return HttpAnswer(200, {}, told.SerializeToString())

    assert not compare_answers("StartLocalTransaction", began("x"), began("y"), STRICT)


@given(st.binary(max_size=60), st.sampled_from(["GetRow", "GetRange", "Search", "BatchWriteRow"]))
def test_no_bytes_are_too_strange(body: bytes, action: str) -> None:
    """Whatever a server or a client sends is compared, shown and claimed without an error."""
    answer = HttpAnswer(200, {}, body)
    assert compare_answers(action, answer, answer, STRICT) == []
    jsonable(answer_tree(action, answer))
    jsonable(request_tree(action, {"x-ots-request-compress-type": "deflate"}, body))
    types = message_types(action)
    assert types is not None
    claims = claims_of(action, "i", parse_message(types.request, body), TrafficFacts())
    assert all(claim.path[1] == "i" for claim in claims)
    assert Identifiers().translate(action, body, ("id",)) is body


def test_what_cannot_be_read_claims_all_of_its_instance() -> None:
    claims = claims_of("PutRow", "i", None, TrafficFacts())
    assert {claim.path[1:] for claim in claims} == {("i",)}
    assert all(claim.changes for claim in claims)
    assert claims_of("Unheard", "i", None, TrafficFacts()) == claims


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.text(max_size=5), max_size=3),
)
def test_a_row_gets_the_other_servers_value_and_stays_whole(
    ours: int, theirs: int, values: list[str]
) -> None:
    """Values of auto-increment columns are replaced, and checksums stay right (wire §2.2)."""
    names = Identifiers()
    keys = [
        HttpAnswer(
            200,
            {},
            m.PutRowResponse(
                consumed=m.ConsumedCapacity(capacity_unit=m.CapacityUnit()),
                row=encode_put([("day", "mon"), ("id", number)], ()),
            ).SerializeToString(),
        )
        for number in (ours, theirs)
    ]
    before, after = (answer_tree("PutRow", each) for each in keys)
    names.learn_keys(before, after, ("id",))
    edits = [CellEdit(f"c{number}", value) for number, value in enumerate(values)]
    for number in (ours, 12345):
        request = m.PutRowRequest(
            table_name="t",
            row=encode_edits([("day", "mon"), ("id", number)], edits),
            condition=m.Condition(row_existence=0),
        )
        body = names.translate("PutRow", request.SerializeToString(), ("id",))
        sent = m.PutRowRequest.FromString(body)
        expected = theirs if number == ours else number
        wanted = encode_edits([("day", "mon"), ("id", expected)], edits)
        assert sent.row == wanted
        assert decode_row_change(sent.row, Modification.PUT)[0].columns[1] == ("id", expected)


def test_names_that_are_made_up_follow_each_other() -> None:
    names = Identifiers()
    names.learn(
        None,
        m.StartLocalTransactionResponse(transaction_id="ours"),
        m.StartLocalTransactionResponse(transaction_id="theirs"),
    )
    commit = m.CommitTransactionRequest(transaction_id="ours").SerializeToString()
    body = names.translate("CommitTransaction", commit, ())
    assert m.CommitTransactionRequest.FromString(body).transaction_id == "theirs"
    other = m.CommitTransactionRequest(transaction_id="another").SerializeToString()
    assert names.translate("CommitTransaction", other, ()) is other


Channels = st.dictionaries(
    st.sampled_from(["tunnel a", "tunnel b", "tunnel c"]),
    st.lists(
        st.tuples(st.sampled_from(["0", "1", "2"]), st.sampled_from(["0", "1", "2", "x"])),
        unique_by=lambda pair: pair[0],
        max_size=3,
    ),
)


@given(Channels)
def test_a_channel_is_known_with_its_tunnel(channels: dict[str, list[tuple[str, str]]]) -> None:
    """One id in two tunnels of the upstream may be two ids at the other server."""
    names = Identifiers()
    for tunnel, pairs in channels.items():
        who = t.HeartbeatRequest(tunnel_id=tunnel, client_id="c")
        left, right = (
            t.HeartbeatResponse(
                channels=[t.Channel(channel_id=each, version=1, status=1) for each in side]
            )
            for side in ([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        )
        names.learn(who, left, right)
    for tunnel, pairs in channels.items():
        for ours, theirs in pairs:
            asked = t.GetCheckpointRequest(tunnel_id=tunnel, client_id="c", channel_id=ours)
            body = names.translate("tunnel/getcheckpoint", asked.SerializeToString(), ())
            assert t.GetCheckpointRequest.FromString(body).channel_id == theirs


def test_lists_of_other_lengths_name_nothing() -> None:
    """It is not known which channel of the one is which of the other."""
    names = Identifiers()
    one, two = (
        t.HeartbeatResponse(
            channels=[t.Channel(channel_id=each, version=1, status=1) for each in ids]
        )
        for ids in (["0", "1"], ["5"])
    )
    names.learn(t.HeartbeatRequest(tunnel_id="a", client_id="c"), one, two)
    asked = t.GetCheckpointRequest(tunnel_id="a", client_id="c", channel_id="0").SerializeToString()
    assert names.translate("tunnel/getcheckpoint", asked, ()) is asked


def searched(*results: tuple[str, float], backward: bool = False) -> HttpAnswer:
    """The answer to a search with sums of these names."""
    found = [
        s.AggregationResult(
            name=name, type=4, agg_result=s.SumAggregationResult(value=value).SerializeToString()
        )
        for name, value in (results[::-1] if backward else results)
    ]
    inner = s.AggregationsResult(agg_results=found).SerializeToString()
    return HttpAnswer(200, {}, s.SearchResponse(aggs=inner).SerializeToString())


FLOATS = st.floats(-1e300, 1e300) | st.sampled_from([math.nan, math.inf])
NUMBERS = st.dictionaries(st.text(max_size=3), FLOATS, max_size=4)


@given(sums=NUMBERS, backward=st.booleans())
def test_sums_are_compared_by_name_and_value(sums: dict[str, float], *, backward: bool) -> None:
    """In any order, with the rounding that an order of additions brings (search §6.1)."""
    pairs = sums.items()
    ours = searched(*pairs)
    assert not compare_answers("Search", ours, searched(*pairs, backward=backward), STRICT)
    rounded = [(name, value * (1 + 1e-15)) for name, value in pairs]
    assert not compare_answers("Search", ours, searched(*rounded), STRICT)
    for name, value in pairs:
        other = sums | {name: 1.0 if math.isnan(value) else math.nan}
        (found,) = compare_answers("Search", ours, searched(*other.items()), STRICT)
        assert (found.kind.value, found.path) == ("row content", f"aggs.{name}.Sum.value")


@given(st.integers(0, 40))
def test_results_in_results_are_read_to_any_depth(depth: int) -> None:
    """Group-bys below group-bys stand as bytes in bytes; at some depth they stay bytes."""
    below: Any = None
    for _ in range(depth * 4):
        item = s.GroupByFieldResultItem(key="k", row_count=1)
        if below is not None:
            item.sub_group_bys_result.CopyFrom(below)
        inner = s.GroupByFieldResult(group_by_field_result_items=[item]).SerializeToString()
        result = s.GroupByResult(name="g", type=1, group_by_result=inner)
        below = s.GroupBysResult(group_by_results=[result])
    outer = b"" if below is None else below.SerializeToString()
    answer = HttpAnswer(200, {}, s.SearchResponse(group_bys=outer).SerializeToString())
    assert compare_answers("Search", answer, answer, STRICT) == []
    jsonable(answer_tree("Search", answer))
    names = Identifiers()
    parsed = s.SearchResponse.FromString(answer.body)
    names.learn(None, parsed, parsed)


def test_a_row_whose_key_is_still_to_be_made_claims_its_partition_key() -> None:
    facts = TrafficFacts()
    key: list[tuple[str, KeyInput]] = [("day", "mon"), ("id", KeyMarker.AUTO_INCREMENT)]
    request = m.PutRowRequest(
        table_name="t",
        row=encode_edits(key, [CellEdit("c", 1)]),
        condition=m.Condition(row_existence=0),
    )
    (claim,) = claims_of("PutRow", "i", request, facts)
    assert len(claim.path) == 4
    assert claim.changes
    assert facts.auto_columns("i", ["t"]) == {"id"}


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=80),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_two_values_side_by_side_are_what_they_are(left: object, right: object) -> None:
    assert json.loads("\n".join(compact_lines(left))) == left
    same = side_by_side(left, left)
    assert not [line for line in same if line[60:63] == " | "]
    assert (json.dumps(left) == json.dumps(right)) or any(
        line[60:62] == " |" for line in side_by_side(left, right)
    )
