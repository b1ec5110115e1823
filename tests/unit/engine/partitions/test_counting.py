"""Histograms, hot keys and sizes: bounded memory, and how far off they may be."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.partitions.histogram import BINS, KeyHistogram
from widerow.engine.partitions.hot_keys import KEYS, HotKeys
from widerow.engine.partitions.sizes import PIECE_BYTES_MIN, Piece, SizeMap

keys = st.integers(0, 400).map(lambda number: number.to_bytes(2, "big"))
loads = st.lists(st.tuples(keys, st.integers(1, 50)), max_size=600)


def filled(load: list[tuple[bytes, int]]) -> KeyHistogram:
    histogram = KeyHistogram()
    for key, units in load:
        histogram.add(key, units)
    return histogram


@given(loads)
def test_a_histogram_keeps_the_sum_in_bounded_memory(load: list[tuple[bytes, int]]) -> None:
    histogram = filled(load)
    assert len(histogram.keys) <= 2 * BINS
    assert histogram.keys == sorted(set(histogram.keys))
    assert abs(sum(histogram.units) - sum(units for _, units in load)) < 1e-6
    assert set(histogram.keys) <= {key for key, _ in load}  # real keys


@given(loads)
def test_a_histogram_without_too_many_keys_is_exact(load: list[tuple[bytes, int]]) -> None:
    few = [(key, units) for key, units in load if key < b"\x00\x20"]
    exact: Counter[bytes] = Counter()
    for key, units in few:
        exact[key] += units
    assert dict(filled(few).bins()) == exact


@given(loads, keys)
def test_a_cut_divides_a_histogram(load: list[tuple[bytes, int]], at: bytes) -> None:
    histogram = filled(load)
    below, above = histogram.cut(at)
    assert below.bins() + above.bins() == histogram.bins()
    assert all(key < at for key in below.keys)
    assert all(key >= at for key in above.keys)


def test_old_load_fades_away() -> None:
    histogram = filled([(b"a", 8), (b"b", 8)])
    histogram.absorb(filled([(b"c", 4)]), 0.5)
    assert histogram.bins() == ((b"a", 4.0), (b"b", 4.0), (b"c", 4))
    histogram.absorb(KeyHistogram(), 0.0001)
    assert histogram.bins() == ()


@given(loads)
def test_no_hot_key_is_missed(load: list[tuple[bytes, int]]) -> None:
    # The bound of Misra and Gries.
    hot, exact = HotKeys(), Counter[bytes]()
    for key, units in load:
        hot.add(key, units)
        exact[key] += units
    found = dict(hot.heaviest(2 * KEYS))
    error = exact.total() / KEYS
    for key, units in exact.items():
        assert units - error <= found.get(key, 0) <= units
    assert len(found) <= 2 * KEYS


def test_hot_keys_are_told_heaviest_first() -> None:
    hot = HotKeys([(b"b", 3.0), (b"a", 3.0), (b"c", 9.0)])
    assert hot.heaviest(2) == [(b"c", 9.0), (b"a", 3.0)]
    below, above = hot.cut(b"b")
    below.absorb(above)
    assert below.heaviest(9) == hot.heaviest(9)


writes = st.lists(st.tuples(keys, st.integers(-3, 5), st.integers(-900, 1500)), max_size=80)


@given(writes, st.lists(keys, max_size=5))
def test_sizes_add_up_wherever_they_are_divided(
    load: list[tuple[bytes, int, int]], cuts: list[bytes]
) -> None:
    sizes = SizeMap()
    total = 0
    for key, rows, size in load:
        sizes.grow(key, rows, abs(size), 0)
        total += abs(size)
    for cut in cuts:
        if cut:
            sizes.divide(cut)
    assert sizes.size == sum(piece.size for piece in sizes.pieces) == total
    assert [piece.key for piece in sizes.pieces] == sorted({b"", *filter(None, cuts)})
    assert sizes.between(b"", None) == sizes.pieces


@given(writes)
def test_sizes_never_fall_below_nothing(load: list[tuple[bytes, int, int]]) -> None:
    sizes = SizeMap()
    for key, rows, size in load:
        sizes.grow(key, rows, size, 0)
        assert sizes.size == sum(piece.size for piece in sizes.pieces) >= 0
        assert sizes.rows >= 0


def test_a_piece_is_walked_once_and_when_it_doubled() -> None:
    sizes = SizeMap()
    assert sizes.overdue(0) is sizes.pieces[0]  # nothing is known yet
    sizes.replace(b"", None, [Piece(b"", 0, 0, walked=0)], 0)
    assert sizes.overdue(0) is None
    sizes.grow(b"k", 1, PIECE_BYTES_MIN, 9)
    assert sizes.overdue(0) is None  # still small
    sizes.grow(b"k", 1, 1, 9)
    assert sizes.overdue(0) is sizes.pieces[0]


def test_a_piece_of_one_key_is_not_walked_however_it_grows() -> None:
    """It cannot be cut, and counting knows its size: a large partition key is read once."""
    sizes = SizeMap([Piece(b"", 10, 1, walked=10, only=b"k")])
    sizes.grow(b"k", 1, 10 * PIECE_BYTES_MIN, 9)
    assert sizes.overdue(0) is None
    sizes.grow(b"l", 1, 1, 9)
    assert sizes.overdue(0) is sizes.pieces[0]


def test_what_a_walk_found_is_dropped_if_the_pieces_have_changed() -> None:
    sizes = SizeMap([Piece(b"", 5, 1), Piece(b"m", 7, 1)])
    sizes.replace(b"a", b"m", [Piece(b"a", 100, 9)], 0)
    sizes.replace(b"", b"n", [Piece(b"", 100, 9)], 0)
    assert [(piece.key, piece.size) for piece in sizes.pieces] == [(b"", 5), (b"m", 7)]
    sizes.replace(b"", b"m", [Piece(b"", 1, 1), Piece(b"c", 2, 1)], 0)
    assert [piece.key for piece in sizes.pieces] == [b"", b"c", b"m"]
    assert sizes.size == 10


def test_too_many_pieces_are_put_together_and_not_across_partitions() -> None:
    pieces = [Piece(number.to_bytes(2, "big") if number else b"", 10, 1) for number in range(3000)]
    sizes = SizeMap(pieces)
    bound = pieces[1234].key
    sizes.simplify([bound])
    assert len(sizes.pieces) == 2
    assert (sizes.size, sizes.rows) == (30_000, 3000)
    assert [piece.key for piece in sizes.pieces] == [b"", bound]
