"""An index is searched beside its writers, if several searches come with few changes between."""

import pytest

from widerow.limits import SEARCH_ASKED_CHANGES
from widerow.search.asking import Asking


@pytest.mark.parametrize(
    ("searches", "now", "goes_on"),
    [
        ((), 0, False),
        ((0,), 0, False),
        ((0, 0), 0, True),
        ((0, SEARCH_ASKED_CHANGES), SEARCH_ASKED_CHANGES, True),
        ((0, SEARCH_ASKED_CHANGES + 1), SEARCH_ASKED_CHANGES + 1, False),
        ((0, 5), 5 + SEARCH_ASKED_CHANGES, True),
        ((0, 5), 6 + SEARCH_ASKED_CHANGES, False),
        ((0, 5, 100_000), 100_000, False),
        ((0, 100_000, 100_005), 100_005, True),
    ],
)
def test_searches_that_go_on(searches: tuple[int, ...], now: int, *, goes_on: bool) -> None:
    asking = Asking()
    for each in searches:
        asking.ask(each)
    assert asking.goes_on(now) is goes_on
