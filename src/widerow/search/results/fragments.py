"""Pieces of texts with marks around what matched in them (search §5.6)."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from unicodedata import category

from widerow.model.search.highlight import FragmentOrder, HighlightEncoder, HighlightParameter
from widerow.search.interface import TokenSpan

__all__ = ["best_fragments"]

_IDEOGRAPHS: Final = "\u2e80"  # from here on each character is a word of its own
_HTML: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;", "/": "&#x2F;"}
)


class _Fragment(NamedTuple):
    """A piece of a text, from `start` to `stop`, and the matches in it."""

    text: str
    start: int
    stop: int
    spans: Sequence[TokenSpan]


def best_fragments(
    texts: Sequence[tuple[str, Sequence[TokenSpan]]],
    parameter: HighlightParameter,
    encoder: HighlightEncoder,
) -> tuple[str, ...]:
    """The best fragments of a field's texts, with tags around matches.

    Each text comes with its matches, ascending; overlapping ones are marked as one. A fragment ends
    between words, and holds at most `fragment_size` characters or one match. With 0 fragments asked
    for, each text with a match is one fragment. Cost: linear in the matches and the fragments.
    """
    pieces = [
        fragment
        for text, spans in texts
        if spans
        for fragment in _pieces(text, _joined(spans), parameter)
    ]
    if parameter.order is FragmentOrder.SCORE:
        pieces.sort(key=lambda piece: -len(piece.spans))
    wanted = pieces[: parameter.fragments] if parameter.fragments else pieces
    return tuple(_rendered(piece, parameter, encoder) for piece in wanted)


def _joined(spans: Sequence[TokenSpan]) -> list[TokenSpan]:
    """The matches, with overlapping ones joined."""
    joined: list[TokenSpan] = []
    for span in sorted(spans):
        if joined and span.start < joined[-1].stop:
            joined[-1] = TokenSpan(joined[-1].start, max(joined[-1].stop, span.stop))
        else:
            joined.append(span)
    return joined


def _pieces(
    text: str, spans: Sequence[TokenSpan], parameter: HighlightParameter
) -> Iterator[_Fragment]:
    """The pieces of a text that contain a match."""
    if not parameter.fragments:
        yield _Fragment(text, 0, len(text), spans)
        return
    size, start, first = parameter.fragment_size, 0, 0
    while first < len(spans):
        away = (spans[first].start - start) // size * size
        start = _word_start(text, start + away, start) if away else start
        stop = _stop(text, start, size, spans[first])
        last = first
        while last < len(spans) and spans[last].stop <= stop:
            last += 1
        if last < len(spans) and spans[last].start < stop and last > first:
            stop = spans[last].start  # a match is not cut
        if last > first:
            yield _Fragment(text, start, stop, spans[first:last])
        start, first = stop, last


def _stop(text: str, start: int, size: int, span: TokenSpan) -> int:
    """The end of a piece that begins at `start` and contains `span`."""
    if start + size >= len(text):
        return len(text)
    if span.start < start + size < span.stop:
        return span.start if span.start > start else span.stop
    stop = _word_start(text, start + size, start)
    return max(stop, span.stop) if span.stop <= start + size else stop


def _word_start(text: str, place: int, least: int) -> int:
    """The beginning of the word at `place`; `place` itself if the word begins before `least`."""
    found = place
    while found > least and _in_word(text, found):
        found -= 1
    return found if found > least else place


def _in_word(text: str, place: int) -> bool:
    return place < len(text) and _is_letter(text[place - 1]) and _is_letter(text[place])


def _is_letter(character: str) -> bool:
    is_part = character.isalnum() or category(character) in ("Mn", "Mc")
    return is_part and character < _IDEOGRAPHS


def _rendered(piece: _Fragment, parameter: HighlightParameter, encoder: HighlightEncoder) -> str:
    table = _HTML if encoder is HighlightEncoder.HTML else {}
    parts, place = [], piece.start
    for span in piece.spans:
        parts.append(piece.text[place : span.start].translate(table))
        marked = piece.text[span.start : span.stop].translate(table)
        parts.append(f"{parameter.pre_tag}{marked}{parameter.post_tag}")
        place = span.stop
    parts.append(piece.text[place : piece.stop].translate(table))
    return "".join(parts)
