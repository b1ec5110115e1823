"""Documents of Zipf-distributed words with nine other fields, always the same ones.

Word number n of the vocabulary comes with a frequency of 1/(n + 1) of the first one's, as words of
a language do (Zipf). A document has thirty to ninety of them, sixty on average, because engines
that round the lengths of documents order them otherwise than BM25 does.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random  # noqa: TID251  # a fixed seed: every engine gets the same documents
from typing import Final, NamedTuple

__all__ = ["FIELDS", "VOCABULARY", "Article", "Scores", "articles", "word"]

VOCABULARY: Final = 50_000
WORDS_MIN: Final = 30
WORDS_MAX: Final = 90
CATEGORIES: Final = 5000
AUTHORS: Final = 20_000
STATES: Final = ("draft", "open", "sold", "gone", "lost")
FIELDS: Final = (
    *("body", "category", "author", "state", "price", "stock"),
    *("created", "visible", "rating", "weight"),
)
"""The ten fields of an index of these documents."""
_SEED: Final = 22
_SYLLABLES: Final = tuple(a + b for a in "bdfgklmnprstvz" for b in "aeiou")
_FIRST_MS: Final = 1_600_000_000_000
_MINUTE_MS: Final = 60_000
_K1: Final = 1.2
_B: Final = 0.75


class Article(NamedTuple):
    """One document. `created` in milliseconds since 1970."""

    number: int
    body: str
    category: str
    author: str
    state: str
    price: float
    stock: int
    created: int
    visible: bool
    rating: int
    weight: float


def word(rank: int) -> str:
    """The word with this place among the frequent ones, from 0: letters only, each once."""
    found = ""
    rank += len(_SYLLABLES)
    while rank:
        rank, at = divmod(rank, len(_SYLLABLES))
        found = _SYLLABLES[at] + found
    return found


def articles(count: int, *, first: int = 0) -> Iterator[Article]:
    """So many documents with numbers from `first` on. Another `first` makes other documents."""
    random = Random(_SEED + first)  # noqa: S311  # load, no secret
    vocabulary = [word(rank) for rank in range(VOCABULARY)]
    shares = list(itertools.accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))
    for number in range(first, first + count):
        words = random.choices(
            vocabulary, cum_weights=shares, k=random.randint(WORDS_MIN, WORDS_MAX)
        )
        yield Article(
            number,
            " ".join(words),
            f"category{int(CATEGORIES ** random.random()):04}",
            f"author{random.randrange(AUTHORS):05}",
            random.choice(STATES),
            round(random.expovariate(0.02), 2),
            random.randrange(1000),
            _FIRST_MS + number * _MINUTE_MS,
            random.random() < 0.9,
            random.randrange(1, 6),
            round(random.uniform(0.1, 90.0), 3),
        )


class Scores:
    """BM25 of some words over a collection, word by word in plain loops (search §4.3)."""

    def __init__(self, words: Sequence[str]) -> None:
        self._wanted = frozenset(words)
        self._frequencies: dict[str, dict[int, int]] = {each: {} for each in words}
        self._lengths: list[int] = []

    def count(self, article: Article) -> None:
        """Count one document; numbers come in order, from 0."""
        words = article.body.split(" ")
        self._lengths.append(len(words))
        for each, times in Counter(filter(self._wanted.__contains__, words)).items():
            self._frequencies[each][article.number] = times

    def all(self, words: Sequence[str]) -> dict[int, float]:
        """The documents with any of these words, and the sums of their scores."""
        average = sum(self._lengths) / len(self._lengths)
        found: dict[int, float] = {}
        for each in words:
            holders = self._frequencies[each]
            rarity = math.log(1 + (len(self._lengths) - len(holders) + 0.5) / (len(holders) + 0.5))
            for number, times in holders.items():
                norm = _K1 * (1 - _B + _B * self._lengths[number] / average)
                score = rarity * times * (_K1 + 1) / (times + norm)
                found[number] = found.get(number, 0.0) + score
        return found
