"""Words of Chinese texts by the dictionary of jieba, which is loaded with the first such text."""

import warnings
from functools import lru_cache
from types import ModuleType
from typing import Any, cast

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


def one_segmentation(run: str) -> list[tuple[int, int]]:
    """Places of the words that a run of ideographs most probably consists of."""
    words = _dictionary()
    found: list[tuple[int, int]] = []
    start = 0
    for word in words.cut(run, HMM=False):
        found.append((start, start + len(word)))
        start += len(word)
    return found


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
