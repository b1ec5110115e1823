"""Phrases: tokens at distances of each other, exactly or with a slop (search §4.1, §4.3)."""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

from widerow.search.columns import POSITION_BITS, Postings, TextColumn
from widerow.search.interface import Integers
from widerow.search.terms import run_begins

__all__ = ["in_all", "phrase_postings"]

_POSITIONS: Final = 2**POSITION_BITS - 1
_NONE: Final = Postings(np.zeros(0, np.int32), np.zeros(0, np.int64))


def phrase_postings(
    column: TextColumn,
    tokens: Sequence[int | None],
    offsets: Sequence[int],
    slop: int,
    check: Callable[[], None],
) -> Postings:
    """The documents in which tokens, by their numbers, stand at their offsets from some position.

    `frequencies` counts occurrences; with a `slop`, each occurrence counts 1 / (1 + the sum of the
    tokens' moves). Only documents with all tokens are looked at.
    """
    numbers = [number for number in tokens if number is not None]
    if len(numbers) < len(tokens):
        return _NONE
    documents = [column.documents(number, number + 1) for number in numbers]
    common, chosen = in_all(documents)
    if not len(common):
        return _NONE
    places = [column.places(*each) for each in zip(numbers, chosen, strict=True)]
    if slop <= 0 or len(tokens) == 1:
        return _exact(places, offsets)
    return _sloppy(places, common.astype(np.int64), (offsets, slop), check)


def in_all(
    parts: Sequence[NDArray[np.int32]],
) -> tuple[NDArray[np.int32], list[Integers]]:
    """The numbers that are in all of some ascending arrays, and their places in each of them.

    Cost: a look-up in the other arrays for each number of the shortest.
    """
    common = min(parts, key=len)
    for each in sorted(parts, key=len)[1:]:
        if not len(common):
            break
        at = np.minimum(np.searchsorted(each, common), len(each) - 1)
        common = common[each[at] == common]
    return common, [np.searchsorted(each, common) for each in parts]


def _exact(places: list[Integers], offsets: Sequence[int]) -> Postings:
    shifted: list[Integers] = []
    for each, offset in zip(places, offsets, strict=True):
        far_enough = each if offset == 0 else each[(each & _POSITIONS) >= offset]
        shifted.append(far_enough - offset)
    shifted.sort(key=len)
    found = shifted[0]
    for each in shifted[1:]:
        found = _common(found, each)
    documents = found >> POSITION_BITS
    begins = run_begins(documents)
    counts = np.diff(begins, append=len(documents))
    return Postings(documents[begins].astype(np.int32), counts)


def _common(few: Integers, many: Integers) -> Integers:
    """The numbers that are in both of two ascending arrays."""
    if not len(few) or not len(many):
        return few[:0]
    at = np.minimum(np.searchsorted(many, few), len(many) - 1)
    return np.asarray(few[many[at] == few])


def _sloppy(
    places: list[Integers],
    documents: Integers,
    phrase: tuple[Sequence[int], int],
    check: Callable[[], None],
) -> Postings:
    """The postings of a phrase with a slop, for documents that have all tokens."""
    offsets, slop = phrase
    kept: list[int] = []
    frequencies: list[float] = []
    bounds = [
        tuple(np.searchsorted(each, (documents + more) << POSITION_BITS) for more in (0, 1))
        for each in places
    ]
    for at, document in enumerate(documents.tolist()):
        if at % 1024 == 0:
            check()
        base = document << POSITION_BITS
        within = [
            (each[low[at] : high[at]] - base).tolist()
            for each, (low, high) in zip(places, bounds, strict=True)
        ]
        frequency = _sloppy_frequency(within, offsets, slop)
        if frequency:
            kept.append(document)
            frequencies.append(frequency)
    return Postings(np.array(kept, dtype=np.int32), np.array(frequencies, dtype=np.float64))


def _sloppy_frequency(within: list[list[int]], offsets: Sequence[int], slop: int) -> float:
    """The frequency of a phrase with a slop in one document.

    The sum of 1 / (1 + move) over the ways to take one position of each token, the others as near
    to the leftmost as possible. As in Lucene, the move is the largest minus the smallest of the
    positions less their offsets, which are equal in the phrase itself. Equal tokens take different
    positions.
    """
    heap = [
        (positions[0] - offset, number, 0)
        for number, (positions, offset) in enumerate(zip(within, offsets, strict=True))
    ]
    heapify(heap)
    end = max(place for place, _, _ in heap)
    frequency = 0.0
    place, number, index = heappop(heap)
    best = end - place
    while True:
        index += 1
        if index >= len(within[number]):
            break
        following = heap[0][0]
        place = within[number][index] - offsets[number]
        end = max(end, place)
        if place > following:
            if best <= slop and _apart(heap, number, within[number][index - 1], within, offsets):
                frequency += 1.0 / (1 + best)
            heappush(heap, (place, number, index))
            place, number, index = heappop(heap)
            best = end - place
        else:
            best = min(best, end - place)
    if best <= slop and _apart(heap, number, within[number][index - 1], within, offsets):
        frequency += 1.0 / (1 + best)
    return frequency


def _apart(
    heap: list[tuple[int, int, int]],
    number: int,
    position: int,
    within: list[list[int]],
    offsets: Sequence[int],
) -> bool:
    """Whether all tokens have different positions; only equal tokens can share one."""
    taken = {place + offsets[each] for place, each, _ in heap}
    return position not in taken and len(taken) == len(heap) and number < len(within)
