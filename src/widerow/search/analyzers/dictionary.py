"""Words of Chinese texts by the dictionary of jieba, which is loaded with the first such text."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple, cast

__all__ = ["all_words", "dictionary_name", "one_segmentation"]


def all_words(run: str) -> list[tuple[int, int]]:
    """Places of all words in a run of ideographs, in the order of where they begin.

    What jieba calls `cut_all`: a character alone counts only where no word covers it.
    """
    words = _dictionary()
    found: list[tuple[int, int]] = []
    covered = -1
    for start, lasts in words.get_DAG(run).items():
        if len(lasts) == 1 and start > covered:
            found.append((start, lasts[0] + 1))
            covered = lasts[0]
            continue
        for last in lasts:
            if last > start:
                found.append((start, last + 1))
                covered = last
    return found


class _Way(NamedTuple):
    """How the rest of a group is cut; the least is the best one.

    Characters in no word, and words; where the last word ends (the later, the less); the squares of
    the lengths, least where words are of like length; how late the long words come (the later, the
    less); where the first piece ends.
    """

    outside: int
    words: int
    end: int
    squares: int
    late: int
    stop: int


def one_segmentation(run: str) -> list[tuple[int, int]]:
    """Places of the pieces of a run of ideographs: the fewest words that leave the least out.

    Words that overlap are decided together, as IK Analyzer's arbitrator does: most characters in
    words, then fewest words, then words nearer to the end (search §3). Linear for words of a
    bounded length.
    """
    words = _dictionary().get_DAG(run)
    found: list[tuple[int, int]] = []
    first = reach = 0
    for at in range(len(run)):
        reach = max(reach, words[at][-1] + 1)
        if reach == at + 1:
            found += _fewest_words(words, first, reach)
            first = reach
    return found


def _fewest_words(
    words: Mapping[int, Sequence[int]], start: int, stop: int
) -> Iterator[tuple[int, int]]:
    """The pieces of a group that no word leaves. `words`: the last places of those that begin."""
    best = {stop: _Way(0, 0, 0, 0, 0, stop)}
    for at in range(stop - 1, start - 1, -1):
        rest = best[at + 1]
        ways = [rest._replace(outside=rest.outside + 1, stop=at + 1)]
        longer = [last + 1 for last in words[at] if last > at]
        ways += [_after_word(best[end], at, end, stop) for end in longer]
        best[at] = min(ways)
    at = start
    while at < stop:
        yield at, best[at].stop
        at = best[at].stop


def _after_word(rest: _Way, start: int, end: int, stop: int) -> _Way:
    """The way that begins with a word. `stop`: of the group."""
    length, covered = end - start, stop - end - rest.outside
    return _Way(
        rest.outside,
        rest.words + 1,
        rest.end or -end,
        rest.squares + length * length,
        rest.late - length - covered,
        end,
    )


def dictionary_name() -> str:
    """The name and version of the dictionary; with another one, texts have other tokens."""
    return f"jieba {_package().__version__}"


@lru_cache(maxsize=1)
def _package() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what jieba asks Python for
        import jieba  # noqa: PLC0415  # only who has such a field pays for it
    jieba.setLogLevel(60)
    return cast("ModuleType", jieba)


@lru_cache(maxsize=1)
def _dictionary() -> Any:  # noqa: ANN401  # jieba has no types
    """The dictionary, read from the package: any user of the machine may write jieba's cache file.

    Takes a second and 80 MB.
    """
    words = _package().Tokenizer()
    words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
    words.initialized = True
    return words
