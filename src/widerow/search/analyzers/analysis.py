"""The five analyzers: texts to tokens, with their positions and their places (search §3).

A mark belongs to the letter before it, as do joiners inside a word (UAX #29, rule WB4). Enclosing
marks and variation selectors choose how a character looks: they separate, as symbols and emoji do.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from unicodedata import category

from widerow.limits import SEARCH_FUZZY_CHARACTERS_MAX
from widerow.model.search.schema import AnalyzerName, TextAnalyzer
from widerow.search.analyzers.dictionary import all_words, one_segmentation

__all__ = ["Analysis", "PlacedToken", "analysis_of"]

# Ideographs with their extensions and compatibility forms, kana, and syllables of hangul: each one
# alone is a token (search §3). Marks among kana, such as the middle dot, are not included.
_CJK: Final = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\uff66-\uff9f\uac00-\ud7a3"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LOOKS: Final = range(0xFE00, 0xFE10)  # variation selectors; others lie behind all marks


def _marks(first: int, last: int) -> str:
    return "".join(
        [
            chr(code)
            for code in range(first, last)
            if category(chr(code)) in ("Mn", "Mc") and code not in _LOOKS
        ]
    )


# Joiners and marks. Those above 16 bits are looked for behind a test of one range: an expression
# compares a character with each of them.
_MARK: Final = (
    rf"(?:[\u200c\u200d{_marks(0x300, 0x10000)}]"
    rf"|(?=[\U00010000-\U0001ffff])[{_marks(0x10000, 0x20000)}])"
)
_KANA_MARKS: Final = "[\u3099\u309a]?"  # voiced, and half voiced
_LETTERS: Final = rf"[^\W\d_{_CJK}]"
_WORD: Final = re.compile(rf"[{_CJK}]{_KANA_MARKS}|[^\W_{_CJK}]+(?:{_MARK}+[^\W_{_CJK}]*)*")
_PART: Final = re.compile(rf"[{_CJK}]{_KANA_MARKS}|{_LETTERS}+(?:{_MARK}+{_LETTERS}*)*|\d+{_MARK}*")
_BLANKS: Final = re.compile(r"\S+")
_HAN: Final = re.compile("[\u4e00-\u9fd5]+")  # runs that the dictionary is asked for
_ASCII: Final = "".join([chr(n) if chr(n).isalnum() else " " for n in range(128)])
_WORDS_OF_ASCII: Final = {True: _ASCII, False: _ASCII.lower()}  # by whether case counts
_SEPARATOR: Final = "\0"  # hardly any token contains it


class PlacedToken(NamedTuple):
    """A token, its position among the tokens, and the characters of the text that it stands for."""

    text: str
    position: int
    start: int
    stop: int


_Pieces = Callable[[str], list[tuple[int, int]]]


@dataclass(frozen=True)
class Analysis:
    """One analyzer with its parameters. `fuzzy`: (min, max) characters, None for the others.

    `pattern`: an expression that finds the pieces, if there is one. `blanks`: a table for
    `str.translate` that leaves the tokens of an ASCII text with blanks between them, three times as
    quick.
    """

    pieces: _Pieces
    case_sensitive: bool
    fuzzy: tuple[int, int] | None = None
    pattern: re.Pattern[str] | None = None
    blanks: str | None = None

    def tokens(self, text: str) -> list[str]:
        """The tokens in the order of their positions; for `fuzzy` see `positions` as well."""
        found: list[str]
        blanked = self.blanked(text)
        if blanked is not None:
            return blanked.split()
        if self.pattern is not None:
            found = self.pattern.findall(text)
        else:
            found = [text[start:stop] for start, stop in self.pieces(text)]
        if self.case_sensitive or not found:
            return found
        return _lower(found)

    def blanked(self, text: str) -> str | None:
        """The tokens with blanks between them; None where `blanks` cannot make them.

        Such tokens consist of ASCII letters and digits; their positions are 0, 1, 2 ….
        """
        blanks = self.blanks
        return text.translate(blanks) if blanks is not None and text.isascii() else None

    def positions(self, text: str) -> Sequence[int] | None:
        """The position of each token; None where they are 0, 1, 2 ….

        A gram stands where it begins, so that grams of one length follow each other.
        """
        return None if self.fuzzy is None else [start for start, _ in self.pieces(text)]

    def placed(self, text: str) -> list[PlacedToken]:
        """The tokens, each with its place in the text."""
        places = self.pieces(text)
        positions = range(len(places)) if self.fuzzy is None else [start for start, _ in places]
        return [
            PlacedToken(token, position, start, stop)
            for token, position, (start, stop) in zip(
                self.tokens(text), positions, places, strict=True
            )
        ]

    def folded(self, text: str) -> str:
        """A text in the case that its tokens have."""
        return text if self.case_sensitive else _lower([text])[0]


def _lower(tokens: list[str]) -> list[str]:
    """Each token in lower case, in one step, and as long as it was."""
    lower = _lower_case(_SEPARATOR.join(tokens)).split(_SEPARATOR)
    return lower if len(lower) == len(tokens) else [_lower_case(token) for token in tokens]


def _lower_case(text: str) -> str:
    """A text in lower case, character by character, whatever stands beside it.

    Python makes two characters of one letter, and looks around a sigma whether a word ends there.
    """
    return text.replace("\u0130", "i").lower().replace("\u03c2", "\u03c3")


def analysis_of(analyzer: TextAnalyzer) -> Analysis:
    """The analysis of an analyzer."""
    return _ANALYSES[analyzer.name](analyzer)


def _single_word(analyzer: TextAnalyzer) -> Analysis:
    pattern, blanks = _PART, None
    if not analyzer.delimit_word:
        pattern, blanks = _WORD, _WORDS_OF_ASCII[analyzer.case_sensitive]
    return Analysis(_matches(pattern), analyzer.case_sensitive, pattern=pattern, blanks=blanks)


def _split(analyzer: TextAnalyzer) -> Analysis:
    delimiter = analyzer.delimiter
    if delimiter is None or delimiter == " ":
        return Analysis(_matches(_BLANKS), analyzer.case_sensitive, pattern=_BLANKS)
    return Analysis(_between(delimiter), analyzer.case_sensitive)


def _fuzzy(analyzer: TextAnalyzer) -> Analysis:
    shortest, longest = analyzer.min_chars, analyzer.max_chars
    return Analysis(_grams(shortest, longest), analyzer.case_sensitive, (shortest, longest))


def _words(segment: Callable[[str], list[tuple[int, int]]]) -> Callable[[TextAnalyzer], Analysis]:
    def made(_analyzer: TextAnalyzer) -> Analysis:
        return Analysis(_by_dictionary(segment), case_sensitive=False)

    return made


_ANALYSES: Final[dict[AnalyzerName, Callable[[TextAnalyzer], Analysis]]] = {
    AnalyzerName.SINGLE_WORD: _single_word,
    AnalyzerName.SPLIT: _split,
    AnalyzerName.FUZZY: _fuzzy,
    AnalyzerName.MAX_WORD: _words(all_words),
    AnalyzerName.MIN_WORD: _words(one_segmentation),
}


def _matches(pattern: re.Pattern[str]) -> _Pieces:
    def pieces(text: str) -> list[tuple[int, int]]:
        return [found.span() for found in pattern.finditer(text)]

    return pieces


def _between(delimiter: str) -> _Pieces:
    """Splits at a delimiter; if that is white space, pieces are stripped and empty ones dropped."""
    stripped = not delimiter.strip()

    def pieces(text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        start = 0
        for piece in text.split(delimiter):
            kept = piece.strip() if stripped else piece
            if kept:
                first = start + (len(piece) - len(piece.lstrip()) if stripped else 0)
                found.append((first, first + len(kept)))
            start += len(piece) + len(delimiter)
        return found

    return pieces


def _grams(shortest: int, longest: int) -> _Pieces:
    def pieces(text: str) -> list[tuple[int, int]]:
        end = min(len(text), SEARCH_FUZZY_CHARACTERS_MAX)
        return [
            (start, stop)
            for start in range(end)
            for stop in range(start + shortest, min(start + longest, end) + 1)
        ]

    return pieces


def _by_dictionary(segment: Callable[[str], list[tuple[int, int]]]) -> _Pieces:
    """Splits runs of Han characters by the dictionary, all else into words; in text order."""

    def pieces(text: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        at = 0
        for run in _HAN.finditer(text):
            start = run.start()
            found.extend(each.span() for each in _WORD.finditer(text, at, start))
            found.extend((start + first, start + last) for first, last in segment(run[0]))
            at = run.end()
        found.extend(each.span() for each in _WORD.finditer(text, at))
        return found

    return pieces
