"""The first searches of a server come at once, through the console and the data port.

Libraries and the index are loaded by whoever comes first, on two threads: the loop's and that of
the pages. Every one of them gets the rows.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.console import stocked
from tests.console.stocked import ARTICLES, INSTANCE
from tests.support.forked import ForkedServer
from tests.support.http import Sender, Wire

from widerow.cli.search import query_of
from widerow.model.search.schema import (
    AnalyzerName,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
)
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import search_messages as m

STARTS = 3
ASKERS = 8
FOUND = 3  # titles with tea


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("searched") / "store"
    with WiderowServer(folder, instance=INSTANCE, settings=stocked.Settings) as server:
        stocked.stock(server)
    return folder


def _page(endpoint: str) -> int:
    asked = f"instance={INSTANCE}&table={ARTICLES}&query=title:tea"
    with urlopen(f"{endpoint}/console/search.json?{asked}") as page:  # noqa: S310  # our own server
        return len(json.load(page)["found"]["rows"])


def _data(endpoint: str) -> int:
    analyzer = TextAnalyzer(AnalyzerName.SINGLE_WORD)
    title = SearchField("title", SearchFieldType.TEXT, analyzer=analyzer)
    query = query_of("title:tea", SearchSchema((title,)))
    wish = m.SearchQuery(limit=10, get_total_count=True, query=query)
    request = m.SearchRequest(
        table_name=ARTICLES, index_name="words", search_query=wish.SerializeToString()
    )
    with Wire(endpoint) as wire:
        answer = wire.ask(Sender(instance=INSTANCE).request("Search", request.SerializeToString()))
    assert answer.status == 200, answer.error
    found = m.SearchResponse.FromString(answer.body)
    return int(found.total_hits)


@pytest.mark.parametrize("start", range(STARTS))
def test_first_searches_at_once_all_find_their_rows(store: Path, start: int) -> None:
    told: list[object] = []
    with ForkedServer("--path", str(store)) as server:
        gate = threading.Barrier(ASKERS)

        def ask(how: Callable[[str], int]) -> None:
            gate.wait()
            try:
                told.append(how(server.endpoint))
            except Exception as error:  # noqa: BLE001  # told below
                told.append(repr(error))

        threads = [
            threading.Thread(target=ask, args=((_page, _data)[(number + start) % 2],))
            for number in range(ASKERS)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert Counter(told) == {FOUND: ASKERS}
