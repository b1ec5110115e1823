"""What `/metrics` tells, and whom (server/scrapes.py; SECURITY.md, Who is trusted)."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.http import Answer, Sender, Wire
from tests.support.requests import BODIES, SEARCH_BODIES, create_index_request
from tests.support.volume import examples

from widerow.auth.keyring import secret_digest
from widerow.engine.lag import Lag
from widerow.server.lags import lag_lines
from widerow.server.scrapes import NO_NAME
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as s

DAY = "2001-01-01T00:00:00Z"
KEYS = f"""
[[key]]
id = "all"
secret = "secret-of-all"
[[key]]
id = "shop"
secret = "secret-of-shop"
instances = ["shop"]
[[key]]
id = "writer"
secret = "secret-of-writer"
permissions = ["write"]
[[temporary_key]]
id = "over"
secret = "secret-of-over"
security_token = "t"
parent = "all"
expires = {DAY}
[[api_key]]
name = "prometheus"
sha256 = "{secret_digest("an-api-key").hex()}"
permissions = ["read"]
"""


def pair(key_id: str, secret: str) -> str:
    return f"Basic {b64encode(f'{key_id}:{secret}'.encode()).decode()}"


def scrape(endpoint: str, authorization: str | None = None) -> Answer:
    line = "" if authorization is None else f"authorization: {authorization}\r\n"
    with Wire(endpoint) as wire:
        return wire.ask(f"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n{line}\r\n".encode())


def series(page: bytes) -> set[str]:
    lines = page.decode().splitlines()
    return {line.rsplit(" ", 1)[0] for line in lines if not line.startswith("#")}


def stock(endpoint: str, sender: Sender, table: str, index: str) -> None:
    """A table with an index, a search index, and a row."""
    search = s.CreateSearchIndexRequest.FromString(SEARCH_BODIES["CreateSearchIndex"](table))
    search.index_name = index + "s"
    secondary = create_index_request(table)
    secondary.index_meta.name = index
    with Wire(endpoint) as wire:
        for action, body in (
            ("CreateTable", BODIES["CreateTable"](table)),
            ("CreateIndex", secondary.SerializeToString()),
            ("CreateSearchIndex", search.SerializeToString()),
            ("PutRow", BODIES["PutRow"](table)),
        ):
            answer = wire.ask(sender.request(action, body))
            assert answer.status == 200, (action, m.Error.FromString(answer.body))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Starts servers with the keys above and two instances; their endpoints."""
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    file.write_text(KEYS)
    file.chmod(0o600)
    started: dict[tuple[tuple[str, object], ...], WiderowServer] = {}

    def serve(**more: object) -> str:
        told = tuple(sorted(more.items()))
        if told not in started:
            server = WiderowServer(settings={"credentials": str(file), "dev": False, **more})
            server.start()
            started[told] = server
            for instance in ("shop", "bank"):
                sender = Sender("all", "secret-of-all", instance)
                stock(server.endpoint, sender, f"t_of_{instance}", f"x_of_{instance}")
        return started[told].endpoint

    yield serve
    for server in started.values():
        server.stop()


def seen(answer: Answer) -> set[str]:
    """The instances whose names are on a page."""
    assert answer.status == 200
    assert b"widerow_requests_total{" in answer.body
    named = re.findall(rb'"(?:(shop|bank)/[^"]*)"', answer.body)
    return {each.decode() for each in named}


def test_without_a_key_metrics_are_states_and_counts(served: Callable[..., str]) -> None:
    page = scrape(served())
    assert seen(page) == set()
    for name in (b"shop", b"bank", b"t_of", b"x_of"):
        assert name not in page.body
    assert b"\nwiderow_index_lag_seconds_max " in page.body


def test_a_key_shows_the_names_of_its_instances(served: Callable[..., str]) -> None:
    behind_proxy = served(api_keys_behind_proxy=True)
    for sent, shown in (
        (pair("all", "secret-of-all"), {"shop", "bank"}),
        (pair("shop", "secret-of-shop"), {"shop"}),
        ("Bearer an-api-key", {"shop", "bank"}),
    ):
        answer = scrape(behind_proxy, sent)
        assert seen(answer) == shown, sent
        assert ("x_of_shop" in answer.body.decode()) == ("shop" in shown)


def test_a_key_that_opens_nothing_is_refused_and_not_taken_for_none(
    served: Callable[..., str],
) -> None:
    endpoint = served()
    for sent in (
        pair("all", "another secret"),
        pair("nobody", "secret-of-all"),
        pair("writer", "secret-of-writer"),
        pair("over", "secret-of-over"),
        "Bearer an-api-key",  # the port speaks no TLS
        "Basic all",
        "Basic !!!",
        "Digest all",
    ):
        answer = scrape(endpoint, sent)
        assert answer.status == 401, sent
        assert b"widerow_" not in answer.body
        assert "basic" in answer.headers["www-authenticate"].lower()


def test_a_secret_is_not_taken_where_somebody_may_read_along(served: Callable[..., str]) -> None:
    everywhere = served(host="0.0.0.0")  # noqa: S104  # the test is about this address
    local = everywhere.replace("0.0.0.0", "127.0.0.1")  # noqa: S104  # the test is about this address
    assert scrape(local, pair("all", "secret-of-all")).status == 401
    assert seen(scrape(local)) == set()


def test_open_metrics_need_no_key(served: Callable[..., str]) -> None:
    endpoint = served(metrics_open=True)
    assert seen(scrape(endpoint)) == {"shop", "bank"}


_NUMBERS = count()  # each example has an instance of its own
_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


@given(instance=st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True), table=_NAMES, index=_NAMES)
@settings(max_examples=examples(60), deadline=None)
def test_the_open_page_is_the_same_whatever_anything_is_called(
    asked: str, before: set[str], instance: str, table: str, index: str
) -> None:
    """A law: its series are those of a server with other names."""
    if table == index:
        index += "x"
    stock(asked, Sender(instance=f"{instance}-{next(_NUMBERS)}"), table, index)
    assert series(scrape(asked).body) == before


@pytest.fixture(scope="module")
def asked() -> Iterator[str]:
    with WiderowServer() as server:
        yield server.endpoint


@pytest.fixture(scope="module")
def before(asked: str) -> set[str]:
    """The open page's series with one table; with the key there are more."""
    stock(asked, Sender(), "T", "X")
    scrape(asked)
    found = series(scrape(asked).body)
    assert found < series(scrape(asked, pair("widerow", "widerow")).body)
    return found


def test_lags_of_all_count_in_the_sum_and_only_those_shown_have_names() -> None:
    class Behind:
        def index_lags(self) -> list[Lag]:
            return [Lag("bank/t", "x", 7), Lag("shop/t", "x", 3)]

        def log_lags(self) -> list[Lag]:
            return []

    engine = Behind()
    page = "\n".join(lag_lines(engine, lambda name: name == "shop/t"))  # type: ignore[arg-type]  # has all that is asked of an engine
    assert "bank" not in page
    assert 'widerow_index_lag_seconds{table="shop/t",index="x"} 3.000' in page
    assert "widerow_index_lag_seconds_max 7.000" in page
    assert "shop" not in "\n".join(lag_lines(engine, NO_NAME))  # type: ignore[arg-type]  # has all that is asked of an engine
