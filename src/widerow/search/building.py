"""Arrays of a column out of the values of documents, and out of the columns of several segments.

`build_*` takes the values that `Document.values` has, one for each document. `merge_*` takes
columns, each with the new number of each of its documents, -1 for those that are dropped; new
numbers of one column ascend. Both answer the arrays that `search.columns` reads.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from widerow.model.search.schema import SearchFieldType
from widerow.search.columns import FieldColumn, TermColumn, TextColumn, ValueColumn
from widerow.search.documents import TokenList
from widerow.search.interface import Integers
from widerow.search.terms import SortedTerms, gathered, packed, picked, run_begins, united

__all__ = ["COLUMN_KINDS", "ColumnKind", "MergedPart"]

_V = TypeVar("_V", str, bytes)
_Built = dict[str, NDArray[Any]]
_DOCUMENT_BITS: Final = 31  # a token's number stands above its document's number
_WORD_BYTES: Final = 8  # of a token that is compared as a number
_CHUNK: Final = 4_000_000  # documents of tokens sorted at once: 32 MB


class MergedPart(NamedTuple):
    """A column, and the new number of each of its documents; -1: dropped."""

    column: FieldColumn
    numbers: Integers


class ColumnKind(NamedTuple):
    """The functions that read, build and merge columns of a type; `count` documents come out."""

    column: type[FieldColumn]
    build: Callable[[Sequence[Any]], _Built]
    merge: Callable[[Sequence[MergedPart], int], _Built]


# --- values ------------------------------------------------------------------------------------


def _flattened(given: Sequence[Any]) -> tuple[list[Any], NDArray[np.int32] | None]:
    """All values, and their owners; None if each document has exactly one value."""
    if all(given):  # no list is empty
        values = list(chain.from_iterable(given))
        if len(values) == len(given):
            return values, None
    values = list(chain.from_iterable(each for each in given if each is not None))
    lengths = np.fromiter(
        (0 if each is None else len(each) for each in given), np.int64, len(given)
    )
    return values, np.repeat(np.arange(len(given), dtype=np.int32), lengths)


def _with_owners(built: _Built, owners: NDArray[np.int32] | None) -> _Built:
    if owners is not None:
        built["owners"] = owners
    return built


def _build_numbers(kind: type[np.generic]) -> Callable[[Sequence[Any]], _Built]:
    def build(given: Sequence[Any]) -> _Built:
        values, owners = _flattened(given)
        return _with_owners({"values": np.array(values, dtype=kind)}, owners)

    return build


def _build_points(given: Sequence[Any]) -> _Built:
    values, owners = _flattened(given)
    return _with_owners({"values": np.array(values, dtype=np.int32).reshape(-1, 2)}, owners)


def _build_vectors(given: Sequence[Any]) -> _Built:
    values, owners = _flattened(given)
    matrix = np.frombuffer(b"".join(values), dtype="<f4").astype(np.float32)
    return _with_owners(
        {"values": matrix.reshape(len(values), -1) if values else matrix.reshape(0, 1)}, owners
    )


class _Order(NamedTuple):
    """The order of the values of several columns in a merged one.

    `kept`: for each part a mask of its values, or None for all; `order`: of the kept values of all
    parts; `owners`: None if each document has exactly one value.
    """

    kept: list[NDArray[np.bool_]]
    order: Integers
    owners: NDArray[np.int32] | None


def _value_order(parts: Sequence[MergedPart], count: int) -> _Order:
    kept: list[NDArray[np.bool_]] = []
    owners: list[Integers] = []
    for part in parts:
        old = part.column.owners
        new = part.numbers if old is None else part.numbers[old]
        kept.append(new >= 0)
        owners.append(new[kept[-1]])
    every = np.concatenate(owners)
    order = np.argsort(every, kind="stable")
    every = every[order]
    single = len(every) == count and bool((every == np.arange(count)).all())
    return _Order(kept, order, None if single else every.astype(np.int32))


def _merge_values(parts: Sequence[MergedPart], count: int) -> _Built:
    order = _value_order(parts, count)
    columns = [part.column for part in parts if isinstance(part.column, ValueColumn)]
    pieces = [each.values[kept] for each, kept in zip(columns, order.kept, strict=True)]
    if pieces[0].ndim > 1:  # an empty matrix does not know its width
        pieces = [each for each in pieces if len(each)] or pieces[:1]
    return _with_owners({"values": np.concatenate(pieces)[order.order]}, order.owners)


# --- terms -------------------------------------------------------------------------------------


def _term_arrays(
    terms: SortedTerms, ordinals: NDArray[np.int32], owners: NDArray[np.int32] | None
) -> _Built:
    """A column of terms, all of which occur: with the documents of each."""
    documents = np.arange(len(ordinals), dtype=np.int32) if owners is None else owners
    order = np.argsort(ordinals, kind="stable")
    sorted_ordinals, documents = ordinals[order], documents[order]
    if owners is not None and len(documents):
        again = (np.diff(sorted_ordinals) == 0) & (np.diff(documents) == 0)
        once = np.concatenate(([True], ~again))
        sorted_ordinals, documents = sorted_ordinals[once], documents[once]
    counts = np.bincount(sorted_ordinals, minlength=len(terms))
    built: _Built = {
        "terms": terms.blob,
        "term_starts": terms.starts,
        "ordinals": ordinals,
        "documents": documents,
        "document_starts": np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    }
    return _with_owners(built, owners)


def _in_order(values: list[_V]) -> tuple[list[_V], Integers]:
    """The distinct values, ascending, and the place there of each given value."""
    every = sorted(set(values))
    places = dict(zip(every, range(len(every)), strict=True))
    return every, np.fromiter(map(places.__getitem__, values), np.int64, len(values))


def _numbered(values: list[Any]) -> tuple[SortedTerms, NDArray[np.int32]]:
    """The terms that occur, ascending, and the number of each value's term."""
    every, numbers = _in_order(values)
    return packed(every), numbers.astype(np.int32)


def _build_terms(given: Sequence[Any]) -> _Built:
    values, owners = _flattened(given)
    terms, ordinals = _numbered(values)
    return _term_arrays(terms, ordinals, owners)


def _merge_terms(parts: Sequence[MergedPart], count: int) -> _Built:
    order = _value_order(parts, count)
    columns = [part.column for part in parts if isinstance(part.column, TermColumn)]
    terms, maps = united([each.terms for each in columns])
    pieces = [
        moved[each.values[kept]]
        for each, moved, kept in zip(columns, maps, order.kept, strict=True)
    ]
    ordinals = np.concatenate(pieces)[order.order]
    used = np.bincount(ordinals, minlength=len(terms)) > 0
    if not used.all():
        terms = picked(terms, np.flatnonzero(used))
        ordinals = (np.cumsum(used) - 1)[ordinals]
    return _term_arrays(terms, ordinals.astype(np.int32), order.owners)


# --- texts -------------------------------------------------------------------------------------


class _Tokens(NamedTuple):
    """The tokens of texts in the order of documents, then of positions.

    `terms`: the distinct tokens, ascending; `numbers`: the place of each token among `terms`.
    """

    terms: list[bytes]
    numbers: Integers
    documents: Integers
    positions: Integers


def _build_texts(given: Sequence[TokenList | str | None]) -> _Built:
    lengths = np.fromiter(
        (each.length if isinstance(each, TokenList) else -1 for each in given),
        np.int32,
        len(given),
    )
    tokens = _listed_tokens(given)
    plain = [at for at, each in enumerate(given) if isinstance(each, str)]
    if plain:
        found = _plain_tokens([each for each in given if isinstance(each, str)], plain)
        lengths[plain] = np.bincount(found.documents, minlength=len(given))[plain]
        tokens = _both_tokens(found, tokens) if len(tokens.numbers) else found
    # Tokens are in the order of documents and positions, which a stable sort by token keeps.
    numbers = tokens.numbers
    short = numbers.astype(np.uint16) if len(tokens.terms) <= 2**16 else numbers
    ordered = np.argsort(short, kind="stable")
    both = (numbers[ordered] << _DOCUMENT_BITS) | tokens.documents[ordered]
    begins = run_begins(both)
    pairs = _Pairs(both[begins], np.diff(begins, append=len(both)), tokens.positions[ordered])
    return _text_arrays(packed(tokens.terms), [pairs], lengths)


def _listed_tokens(given: Sequence[TokenList | str | None]) -> _Tokens:
    """The tokens of the given `TokenList`s."""
    texts = [(at, each) for at, each in enumerate(given) if isinstance(each, TokenList)]
    tokens = list(chain.from_iterable([each.tokens for _, each in texts]))
    every, numbers = _in_order(tokens)  # the order of texts is that of their UTF-8
    counts = np.fromiter((len(each.tokens) for _, each in texts), np.int64, len(texts))
    places = np.fromiter((at for at, _ in texts), np.int64, len(texts))
    positions = _counted(counts)
    ends = np.cumsum(counts)
    for (_, each), count, end in zip(texts, counts.tolist(), ends.tolist(), strict=True):
        if each.positions is not None:
            positions[end - count : end] = each.positions
    return _Tokens(
        [token.encode() for token in every],
        numbers,
        np.repeat(places, counts),
        positions,
    )


def _counted(counts: Integers) -> Integers:
    """The numbers 0 to count - 1 for each count, one run after the other."""
    return np.arange(counts.sum(), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)


def _plain_tokens(texts: Sequence[str], places: Sequence[int]) -> _Tokens:
    """The tokens of texts of ASCII that stand between blanks; `places`: numbers of their documents.

    Tokens of up to eight bytes are compared as numbers, all at once: a quarter of the time.
    """
    content = f" {' '.join(texts)}{' ' * _WORD_BYTES}".encode("ascii")
    letters = np.frombuffer(content, np.uint8)
    edges = np.flatnonzero(np.diff(letters != ord(" "))) + 1
    starts, stops = edges[0::2], edges[1::2]
    begins = np.cumsum(np.fromiter(map(len, ("", *texts)), np.int64, len(texts) + 1) + 1)
    counts = np.diff(np.searchsorted(starts, begins))
    sizes = stops - starts
    words = sliding_window_view(letters, _WORD_BYTES)[starts].view(">u8")[:, 0].astype(np.uint64)
    unused = (8 * (_WORD_BYTES - np.minimum(sizes, _WORD_BYTES))).astype(np.uint64)
    is_word = sizes <= _WORD_BYTES
    found, inverse = np.unique((words >> unused << unused)[is_word], return_inverse=True)
    terms: list[bytes] = found.astype(">u8").view(f"S{_WORD_BYTES}").tolist()
    numbers = np.empty(len(starts), dtype=np.int64)
    numbers[is_word] = inverse
    rest = np.flatnonzero(~is_word)
    if len(rest):
        longer = [content[a:b] for a, b in zip(starts[rest], stops[rest], strict=True)]
        every, known = _in_order(longer)
        numbers[rest] = known + len(terms)
        terms, moved = _in_order(terms + every)
        numbers = moved[numbers]
    documents = np.repeat(np.array(places, dtype=np.int64), counts)
    return _Tokens(terms, numbers, documents, _counted(counts))


def _both_tokens(one: _Tokens, other: _Tokens) -> _Tokens:
    """The tokens of both, for different documents."""
    terms, moved = _in_order(one.terms + other.terms)
    numbers = moved[np.concatenate((one.numbers, other.numbers + len(one.terms)))]
    documents = np.concatenate((one.documents, other.documents))
    order = np.argsort(documents, kind="stable")
    positions = np.concatenate((one.positions, other.positions))
    return _Tokens(terms, numbers[order], documents[order], positions[order])


class _Pairs(NamedTuple):
    """Tokens with their documents, in order: `token << _DOCUMENT_BITS | document`.

    With each how often the token stands there; and the positions, pair by pair.
    """

    both: Integers
    frequencies: NDArray[Any]
    positions: NDArray[Any]


def _narrow(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays joined, in the smallest unsigned type that holds the numbers."""
    most = max((int(each.max(initial=0)) for each in values), default=0)
    kind = np.min_scalar_type(most)
    return np.concatenate([np.zeros(0, kind), *[each.astype(kind, copy=False) for each in values]])


def _text_arrays(terms: SortedTerms, parts: Sequence[_Pairs], lengths: NDArray[np.int32]) -> _Built:
    """A column of texts; tokens that do not occur in the pairs are left out."""
    tokens = [each.both >> _DOCUMENT_BITS for each in parts]
    counts = np.zeros(len(terms), dtype=np.int64)
    sizes = np.zeros(len(terms), dtype=np.int64)
    for token, part in zip(tokens, parts, strict=True):
        if len(token):
            first = int(token[0])
            found = np.bincount(token - first)
            counts[first : first + len(found)] += found
            weighed = np.bincount(token - first, weights=part.frequencies)
            sizes[first : first + len(found)] += weighed.astype(np.int64)
    used = counts > 0
    if not used.all():
        terms, counts, sizes = picked(terms, np.flatnonzero(used)), counts[used], sizes[used]
    mask = 2**_DOCUMENT_BITS - 1
    documents = [(each.both & mask).astype(np.int32) for each in parts]
    return {
        "terms": terms.blob,
        "term_starts": terms.starts,
        "documents": np.concatenate([np.zeros(0, np.int32), *documents]),
        "document_starts": np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        "frequencies": _narrow([each.frequencies for each in parts]),
        "positions": _narrow([each.positions for each in parts]),
        "position_starts": np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        "lengths": lengths,
    }


class _MergedText(NamedTuple):
    """A part of a merge: its column, the new numbers of its documents, and of its tokens."""

    column: TextColumn
    numbers: Integers
    moved: Integers


def _merge_texts(parts: Sequence[MergedPart], count: int) -> _Built:
    columns = [each.column for each in parts if isinstance(each.column, TextColumn)]
    terms, maps = united([each.terms for each in columns])
    merged = [
        _MergedText(column, part.numbers, moved)
        for column, part, moved in zip(columns, parts, maps, strict=True)
    ]
    lengths = np.full(count, -1, dtype=np.int32)
    for each in merged:
        kept = each.numbers >= 0
        lengths[each.numbers[kept]] = each.column.lengths[kept]
    sizes = np.zeros(len(terms), dtype=np.int64)
    for each in merged:
        sizes[each.moved] += np.diff(each.column.arrays["document_starts"])
    pairs = [_merged_pairs(merged, first, beyond) for first, beyond in _chunks(sizes)]
    return _text_arrays(terms, pairs, lengths)


def _chunks(sizes: Integers) -> list[tuple[int, int]]:
    """Runs of tokens with at most _CHUNK documents, or with one token."""
    ends = np.cumsum(sizes)
    chunks: list[tuple[int, int]] = []
    first = 0
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        beyond = int(np.searchsorted(ends, before + _CHUNK, side="right"))
        beyond = min(max(beyond, first + 1), len(sizes))
        chunks.append((first, beyond))
        first = beyond
    return chunks


def _merged_pairs(merged: Sequence[_MergedText], first: int, beyond: int) -> _Pairs:
    """The pairs of tokens `first` to `beyond` of all parts, sorted."""
    found: list[_Pairs] = []
    for part in merged:
        low, high = map(int, np.searchsorted(part.moved, (first, beyond)))
        if low < high:
            found.append(_moved_pairs(part, low, high))
    if not found:
        return _Pairs(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))
    both = np.concatenate([each.both for each in found])
    frequencies = np.concatenate([each.frequencies for each in found])
    positions = np.concatenate([each.positions for each in found])
    if len(both) and int(both[0]) >= 0 and bool((both[1:] > both[:-1]).all()):
        return _Pairs(both, frequencies, positions)
    kept = np.flatnonzero(both >= 0)
    # quick: the pairs of a part are sorted already
    order = kept[np.argsort(both[kept], kind="stable")]
    lengths = frequencies.astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    moved = gathered(positions, starts[order], lengths[order])
    return _Pairs(both[order], frequencies[order], moved)


def _moved_pairs(part: _MergedText, low: int, high: int) -> _Pairs:
    """The pairs of tokens `low` to `high` of a part, renumbered; dropped ones are negative."""
    arrays = part.column.arrays
    starts, ends = arrays["document_starts"], arrays["position_starts"]
    run = slice(int(starts[low]), int(starts[high]))
    documents = part.numbers[arrays["documents"][run]]
    token = np.repeat(part.moved[low:high] << _DOCUMENT_BITS, np.diff(starts[low : high + 1]))
    both = np.where(documents < 0, -1, token | documents)
    positions = arrays["positions"][int(ends[low]) : int(ends[high])]
    return _Pairs(both, arrays["frequencies"][run], positions)


_NUMBERS: Final[dict[SearchFieldType, type[np.generic]]] = {
    SearchFieldType.LONG: np.int64,
    SearchFieldType.DATE: np.int64,
    SearchFieldType.DOUBLE: np.float64,
    SearchFieldType.BOOLEAN: np.bool_,
}
_TERMS: Final = ColumnKind(TermColumn, _build_terms, _merge_terms)

COLUMN_KINDS: Final[dict[SearchFieldType, ColumnKind]] = {
    **{
        each: ColumnKind(ValueColumn, _build_numbers(kind), _merge_values)
        for each, kind in _NUMBERS.items()
    },
    SearchFieldType.GEO_POINT: ColumnKind(ValueColumn, _build_points, _merge_values),
    SearchFieldType.VECTOR: ColumnKind(ValueColumn, _build_vectors, _merge_values),
    SearchFieldType.KEYWORD: _TERMS,
    SearchFieldType.FUZZY_KEYWORD: _TERMS,
    SearchFieldType.IP: _TERMS,
    SearchFieldType.TEXT: ColumnKind(TextColumn, _build_texts, _merge_texts),
}
"""By type of field. FLATTENED has none: indexes with such a field are refused."""
