"""Keys sort as the model does (docs/formats/keys.md; semantics §1.2)."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from widerow.keys.encode import (
    after_prefix,
    encode_bound,
    encode_key,
    encode_key_value,
    model_order,
)
from widerow.model.values import KeyInput, KeyMarker, KeyValue

INF_MIN, INF_MAX = KeyMarker.INF_MIN, KeyMarker.INF_MAX
PREFIX = b"\x10\x00\x00\x00\x07"

integers = st.integers(-(2**63), 2**63 - 1)
# Few letters, so that values share beginnings, hold zeros and end in what escapes look like.
texts = st.text(alphabet="\x00\x01aÿ杭\U0001f600", max_size=5)
binaries = st.lists(st.sampled_from([0, 1, 2, 0x61, 0xFE, 0xFF]), max_size=5).map(bytes)
KINDS: list[st.SearchStrategy[KeyValue]] = [integers, texts, binaries]

Pair = tuple[tuple[KeyValue, ...], tuple[KeyValue, ...]]
BoundPair = tuple[tuple[KeyInput, ...], tuple[KeyValue, ...]]
_schemas = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)


def _of_schema(kinds: list[st.SearchStrategy[KeyValue]]) -> st.SearchStrategy[Pair]:
    key = st.tuples(*kinds)
    return st.tuples(key, key)


def _bound_and_key(kinds: list[st.SearchStrategy[KeyValue]]) -> st.SearchStrategy[BoundPair]:
    markers = st.sampled_from([INF_MIN, INF_MAX])
    bound: st.SearchStrategy[tuple[KeyInput, ...]] = st.tuples(*[kind | markers for kind in kinds])
    return st.tuples(bound, st.tuples(*kinds))


pairs = _schemas.flatmap(_of_schema)
bounds_and_keys = _schemas.flatmap(_bound_and_key)


def order(left: Any, right: Any) -> int:  # noqa: ANN401  # two values of any one ordered type
    """-1, 0 or 1 as `left` sorts against `right`."""
    return int(left > right) - int(left < right)


# --- single values ---------------------------------------------------------------------------


@given(integers, integers)
@example(-1, 0)
@example(-(2**63), 2**63 - 1)
def test_integers_sort_as_numbers(left: int, right: int) -> None:
    assert order(encode_key_value(left), encode_key_value(right)) == order(left, right)


@given(texts, texts)
@example("a", "a\x00")
@example("\uffff", "\U00010000")
def test_strings_sort_as_their_utf8_bytes(left: str, right: str) -> None:
    bytewise = order(left.encode(), right.encode())
    assert order(encode_key_value(left), encode_key_value(right)) == bytewise == order(left, right)


@given(binaries, binaries)
@example(b"", b"\x00")
@example(b"\x00", b"\x00\x01")
@example(b"a\xff", b"a\xff\x00")
def test_binaries_sort_bytewise_and_shorter_first(left: bytes, right: bytes) -> None:
    assert order(encode_key_value(left), encode_key_value(right)) == order(left, right)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_integers_beyond_64_bits_overflow(value: int) -> None:
    with pytest.raises(OverflowError):
        encode_key_value(value)


@given(st.one_of(KINDS), st.one_of(KINDS))
def test_no_value_is_the_beginning_of_another_of_its_type(left: KeyValue, right: KeyValue) -> None:
    if type(left) is type(right) and left != right:
        assert not encode_key_value(left).startswith(encode_key_value(right))


# --- whole keys ------------------------------------------------------------------------------


@given(pairs)
def test_joined_columns_sort_column_by_column(pair: Pair) -> None:
    left, right = pair
    encoded = order(encode_key(PREFIX, left), encode_key(PREFIX, right))
    assert encoded == order(left, right) == order(model_order(left), model_order(right))


@given(pairs)
def test_keys_stay_behind_their_prefix(pair: Pair) -> None:
    key = encode_key(PREFIX, pair[0])
    assert key.startswith(PREFIX)
    assert PREFIX < key < after_prefix(PREFIX)


# --- bounds (semantics §5.6) -----------------------------------------------------------------


@given(bounds_and_keys)
def test_infinite_bounds_lie_where_the_model_puts_them(pair: BoundPair) -> None:
    bound, values = pair
    wanted = order(model_order(values), model_order(bound))
    key = encode_key(PREFIX, values)
    if wanted == 0:
        assert encode_bound(PREFIX, bound, after=False) == key
        assert encode_bound(PREFIX, bound, after=True) == after_prefix(key)
    else:
        assert order(key, encode_bound(PREFIX, bound, after=False)) in {wanted, 0}
        assert (key < encode_bound(PREFIX, bound, after=False)) == (wanted < 0)
        assert (key < encode_bound(PREFIX, bound, after=True)) == (wanted < 0)


def test_later_columns_do_not_matter_behind_an_infinite_one() -> None:
    for marker in (INF_MIN, INF_MAX):
        wanted = encode_bound(PREFIX, (5, marker), after=False)
        for rest in (INF_MIN, INF_MAX, "x"):
            assert encode_bound(PREFIX, (5, marker, rest), after=False) == wanted


def test_all_infinite_bounds_span_the_table() -> None:
    assert encode_bound(PREFIX, (INF_MIN, INF_MIN), after=False) == PREFIX
    assert encode_bound(PREFIX, (INF_MAX, INF_MAX), after=False) == after_prefix(PREFIX)


@given(st.one_of(KINDS), st.binary(max_size=6))
def test_a_bound_behind_a_row_is_behind_its_segments(value: KeyValue, name: bytes) -> None:
    """A wide row continues under its own key (docs/formats/keys.md)."""
    key = encode_key(PREFIX, (value,))
    segment = key + b"\x01" + name
    assert key < segment < encode_bound(PREFIX, (value,), after=True)
    assert encode_bound(PREFIX, (value,), after=False) <= key


@given(st.one_of(KINDS), st.one_of(KINDS), st.binary(max_size=6))
def test_rows_never_lie_between_a_row_and_its_segments(
    value: KeyValue, other: KeyValue, name: bytes
) -> None:
    if type(value) is type(other) and value != other:
        key, foreign = encode_key(PREFIX, (value,)), encode_key(PREFIX, (other,))
        assert not key < foreign <= key + b"\x01" + name


# --- after_prefix ----------------------------------------------------------------------------


@given(st.binary(min_size=1, max_size=6), st.binary(max_size=6))
@example(b"\x10\xff\xff", b"\xff\xff\xff")
@example(b"\x00", b"")
def test_after_prefix_is_the_smallest_key_above(prefix: bytes, rest: bytes) -> None:
    if prefix.strip(b"\xff"):
        after = after_prefix(prefix)
        assert prefix + rest < after
        assert not after.startswith(prefix)
        # No smaller key would do: whatever is below `after` is below or inside the prefix.
        assert rest >= after or rest < prefix or rest.startswith(prefix)


@pytest.mark.parametrize("prefix", [b"", b"\xff", b"\xff\xff\xff"])
def test_nothing_is_above_a_prefix_of_ff(prefix: bytes) -> None:
    with pytest.raises(ValueError, match="no key is above"):
        after_prefix(prefix)
