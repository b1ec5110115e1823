"""Who gets into the console, and what a page elsewhere cannot make a browser do there.

docs/operating/console.md, "Who may come in".
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from tests.console.stocked import series_engine_of
from tests.support.http import Answer, Sender, Wire, cookie_in, send_form, token_in
from tests.support.requests import BODIES

from widerow.auth.keyring import AccessKey, Keyring
from widerow.console.forms import fields_of
from widerow.console.gate import Gate
from widerow.console.parts import ConsoleRefused
from widerow.limits import (
    CONSOLE_BODY_BYTES_MAX,
    CONSOLE_ENDED_SESSIONS_MAX,
    CONSOLE_SESSION_SECONDS,
)
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaUpdateMode, TableRequest
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import TimeseriesOptions
from widerow.server.console_sessions import ConsoleSessions
from widerow.server.loopback import is_loopback
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.testing.server import WiderowServer

KEYS = """
[[key]]
id = "reader"
secret = "a long secret"
instances = ["shop"]
permissions = ["read"]

[[key]]
id = "boss"
secret = "another secret"
"""
ROW = "/console/row?instance=shop&table=T"


def send(
    server: WiderowServer,
    method: str,
    target: str,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> Answer:
    return send_form(server.endpoint, method, target, headers, form)


def origin_of(page: Answer, server: WiderowServer) -> str:
    """What a browser sends as `Origin` with a form of a page to the server of the page.

    Fetch (WHATWG), "append a request `Origin` header": it follows the page's referrer policy.
    """
    return "null" if page.headers["referrer-policy"] == "no-referrer" else server.endpoint


def sign_in(server: WiderowServer, key_id: str, secret: str) -> Answer:
    """What a person does: open the form, fill it in, send it."""
    form = send(server, "GET", "/console/sign-in")
    given = {"id": key_id, "secret": secret, "token": "", "csrf": token_in(form)}
    headers = {"cookie": cookie_in(form), "origin": origin_of(form, server)}
    return send(server, "POST", "/console/sign-in", headers, given)


@pytest.fixture(scope="module")
def opened() -> Iterator[WiderowServer]:
    """On loopback, with the default key: nobody has to sign in."""
    with WiderowServer(instance="shop") as server:
        make_table(server)
        yield server


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WiderowServer]:
    """With keys of its own."""
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    file.write_text(KEYS, encoding="utf-8")
    file.chmod(0o600)
    with WiderowServer(instance="shop", settings={"credentials": str(file)}) as server:
        make_table(server, Sender("boss", "another secret", "shop"))
        yield server


def make_table(server: WiderowServer, sender: Sender | None = None) -> None:
    chosen = sender or Sender(instance="shop")
    with Wire(server.endpoint) as wire:
        assert wire.ask(chosen.request("CreateTable", BODIES["CreateTable"]("T"))).status == 200


def add(key: str, token: str) -> dict[str, str]:
    return {"do": "add", "key.0": key, "key.1": "1", "csrf": token}


def rows(server: WiderowServer, headers: Mapping[str, str] | None = None) -> int:
    found = send(server, "GET", "/console/rows.json?instance=shop&table=T", headers)
    assert found.status == 200
    return found.body.count(b'"id":')


# --- what every answer says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    ["/console/", "/console/none", "/console/index.json", "/console/static/console.js", "/console"],
)
def test_every_answer_forbids_frames_foreign_hosts_and_scripts_in_pages(
    opened: WiderowServer, target: str
) -> None:
    headers = send(opened, "GET", target).headers
    policy = dict(each.split(" ", 1) for each in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    if "static" not in target:
        assert headers["cache-control"] == "no-store"


def test_no_page_has_a_script_or_a_style_in_it_or_loads_from_elsewhere() -> None:
    import widerow.console  # noqa: PLC0415  # only here

    assert widerow.console.__file__ is not None
    templates = sorted((Path(widerow.console.__file__).parent / "templates").glob("*.html"))
    assert templates
    for template in templates:
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|javascript:", text)
        assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text)
        assert "| safe" not in text


def test_what_is_stored_is_shown_and_not_run(opened: WiderowServer) -> None:
    evil = "</textarea><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    token = token_in(send(opened, "GET", ROW))
    form = {**add("evil", token), "col.0.name": "a<b>", "col.0.type": "string", "col.0.value": evil}
    assert send(opened, "POST", ROW, None, form).status == 303
    for target in ("/console/rows?instance=shop&table=T", f"{ROW}&id=%5B%22evil%22,1%5D"):
        body = send(opened, "GET", target).body
        assert b"<script>alert" not in body
        assert b"<img src=x" not in body
        assert b"&lt;script&gt;alert" in body
    for wrong in ("<svg/onload=x>", "%3Csvg%2Fonload%3Dx%3E"):
        answer = send(opened, "GET", f"/console/rows?instance={wrong}&table=T&limit={wrong}")
        assert answer.status in {400, 403}
        assert b"<svg/onload" not in answer.body


# --- an open console ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8087", "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]:1"],
)
def test_an_open_console_answers_to_no_foreign_name(opened: WiderowServer, host: str) -> None:
    """A name that was made to lead to this machine (DNS rebinding) is told from ours."""
    answer = send(opened, "GET", "/console/rows.json?instance=shop&table=T", {"host": host})
    assert answer.status == 421
    assert b"rows" not in answer.body


@pytest.mark.parametrize(
    "host", ["localhost:1", "127.0.0.1", "127.8.9.1:80", "[::1]:8087", "LOCALHOST"]
)
def test_it_answers_to_names_of_this_machine(opened: WiderowServer, host: str) -> None:
    assert send(opened, "GET", "/console/index.json", {"host": host}).status == 200


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
def test_whoever_comes_through_a_proxy_has_to_sign_in(opened: WiderowServer, header: str) -> None:
    answer = send(opened, "GET", "/console/", {header: "for=10.0.0.7"})
    assert (answer.status, answer.headers["location"]) == (303, "/console/sign-in")
    assert send(opened, "GET", "/console/index.json", {header: "10.0.0.7"}).status == 403


def test_requests_of_the_data_port_may_have_such_headers_twice(opened: WiderowServer) -> None:
    request = Sender(instance="shop").request("ListTable")
    twice = b"\r\nx-forwarded-for: 1.2.3.4\r\nx-forwarded-for: 5.6.7.8\r\nvia: a\r\nvia: b\r\n"
    with Wire(opened.endpoint) as wire:
        assert wire.ask(request.replace(b"\r\n", twice, 1)).status == 200


# --- forms of other pages -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({}, ""),
        ({}, "0" * 64),
        ({"origin": "http://evil.example"}, "right"),
        ({"origin": "http://evil.example", "sec-fetch-site": "same-origin"}, "right"),
        ({"origin": "null"}, "right"),
        ({"origin": "null", "sec-fetch-site": "cross-site"}, "right"),
        ({"origin": ""}, "right"),
        ({"origin": "https://{host}"}, "right"),
        ({"origin": "http://{host}", "sec-fetch-site": "cross-site"}, "right"),
        ({"sec-fetch-site": "cross-site"}, "right"),
        ({"sec-fetch-site": "same-site"}, "right"),
        ({"sec-fetch-site": "none"}, "right"),
        ({"sec-fetch-site": ""}, "right"),
    ],
)
def test_a_form_that_is_not_ours_changes_nothing(
    opened: WiderowServer, headers: dict[str, str], token: str
) -> None:
    before = rows(opened)
    host = urlsplit(opened.endpoint).netloc
    sent = {name: text.format(host=host) for name, text in headers.items()}
    known = token_in(send(opened, "GET", ROW)) if token == "right" else token
    refused = send(opened, "POST", ROW, sent, add("forged", known))
    assert refused.status == 403
    assert rows(opened) == before


FORMS_OF_OURS: dict[str, dict[str, str]] = {
    "a browser from before 2020": {},
    "plain HTTP": {"origin": "http://db.test:1"},
    "plain HTTP, spelt in capitals": {"origin": "HTTP://DB.test:1"},
    "loopback": {"origin": "http://db.test:1", "sec-fetch-site": "same-origin"},
    "a page that sends no referrer": {"origin": "null", "sec-fetch-site": "same-origin"},
    "a proxy that speaks TLS": {"origin": "https://db.test:1", "sec-fetch-site": "same-origin"},
    "a proxy that changes the host": {
        "origin": "https://front.test",
        "sec-fetch-site": "same-origin",
    },
}


@pytest.mark.parametrize("way", FORMS_OF_OURS)
def test_a_form_of_ours_is_known_whatever_is_in_between(way: str) -> None:
    """Fetch Metadata (W3C), "Sec-Fetch-Site"; Fetch (WHATWG), "append a request `Origin`"."""
    gate = gate_of(FakeClock())
    headers = {"host": "db.test:1", **FORMS_OF_OURS[way]}
    gate.check_form(headers, "session", gate.token("session"))
    with pytest.raises(ConsoleRefused, match="out of date"):
        gate.check_form(headers, "session", gate.token("another"))


def test_a_refused_form_is_told_where_it_came_from(opened: WiderowServer) -> None:
    answer = send(opened, "POST", ROW, {"origin": "http://evil.example/<b>"}, {})
    assert answer.status == 403
    assert b"of origin http://evil.example/&lt;b&gt;." in answer.body
    assert b"must pass on the header Host" in answer.body


def test_nothing_is_changed_by_looking(opened: WiderowServer) -> None:
    before = rows(opened)
    token = token_in(send(opened, "GET", ROW))
    assert send(opened, "GET", f"{ROW}&{urlencode(add('looked', token))}").status == 200
    for method in ("PUT", "DELETE", "PATCH"):
        assert send(opened, method, ROW, None, add("other", token)).status == 405
    assert send(opened, "POST", "/console/rows?instance=shop&table=T").status == 405
    assert rows(opened) == before


# --- sessions -------------------------------------------------------------------------------------


def test_without_a_session_nothing_is_shown(locked: WiderowServer) -> None:
    for target in ("/console/", "/console/rows?instance=shop&table=T", "/console/none"):
        answer = send(locked, "GET", target)
        assert (answer.status, answer.body) == (303, b"")
    assert send(locked, "GET", "/console/index.json").status == 403
    assert send(locked, "POST", ROW, None, add("x", "0" * 64)).status == 403


def test_a_session_is_held_by_a_cookie_that_no_script_and_no_other_page_gets(
    locked: WiderowServer,
) -> None:
    answer = sign_in(locked, "boss", "another secret")
    assert answer.status == 303
    line = answer.headers["set-cookie"]
    assert re.match(rf"widerow_console_{urlsplit(locked.endpoint).port}=[\w.-]+; ", line)
    for word in ("HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=28800"):
        assert word in line
    cookie = {"cookie": cookie_in(answer)}
    assert send(locked, "GET", "/console/", cookie).status == 200
    page = send(locked, "GET", ROW, cookie)
    assert send(locked, "POST", ROW, cookie, add("by boss", token_in(page))).status == 303


@pytest.mark.parametrize(
    ("key_id", "secret"),
    [
        ("boss", "wrong"),
        ("boss", ""),
        ("nobody", "another secret"),
        ("", ""),
        ("x" * 9999, "y" * 9999),
    ],
)
def test_a_wrong_key_is_told_nothing_about_what_is_wrong(
    locked: WiderowServer, key_id: str, secret: str
) -> None:
    answer = sign_in(locked, key_id, secret)
    assert answer.status == 403
    assert b"This is not an access key of this server." in answer.body
    assert re.match(r"widerow_entry_\d+=entry\.", cookie_in(answer))
    assert b"another secret" not in answer.body


def test_a_reader_sees_no_way_to_change_tables_and_has_none(locked: WiderowServer) -> None:
    reader = {"cookie": cookie_in(sign_in(locked, "reader", "a long secret"))}
    at = "instance=shop&table=T"
    token = token_in(send(locked, "GET", f"/console/table?{at}", reader))
    pages = ("/console/", f"/console/table?{at}", f"/console/rows?{at}")
    seen = b"".join(send(locked, "GET", each, reader).body for each in pages)
    for words in (b"/console/create", b"/console/import", b"Drop this table", b"Add a row"):
        assert words not in seen
    new = {"instance": "shop", "name": "U", "key.0.name": "id", "key.0.type": "string"}
    forms = {
        "/console/create": {**new, "versions": "1", "csrf": token},
        f"/console/table?{at}": {"confirm": "T", "csrf": token},
        f"/console/import?{at}": {"encoding": "utf-8", "csrf": token},
    }
    for target, form in forms.items():
        refused = send(locked, "POST", target, reader, form)
        assert refused.status == 403
        assert b"OTSNoPermissionAccess" in refused.body
    for target in ("/console/create", f"/console/import?{at}"):
        assert send(locked, "GET", target, reader).status == 403
    boss = {"cookie": cookie_in(sign_in(locked, "boss", "another secret"))}
    owned = b"".join(send(locked, "GET", each, boss).body for each in pages)
    for words in (b"/console/create", b"/console/import", b"Drop this table", b"Add a row"):
        assert words in owned
    assert send(locked, "GET", "/console/table?instance=shop&table=U", boss).status == 404


def test_a_reader_may_only_read_with_sql(locked: WiderowServer) -> None:
    reader = {"cookie": cookie_in(sign_in(locked, "reader", "a long secret"))}
    token = token_in(send(locked, "GET", "/console/sql", reader))

    def run(statement: str, instance: str = "shop", do: str = "run") -> Answer:
        form = {"instance": instance, "statement": statement, "do": do, "csrf": token}
        return send(locked, "POST", "/console/sql", reader, form)

    assert run("SELECT 1").status == 200
    assert run("SHOW TABLES").status == 200
    for statement in (
        "INSERT INTO T (k, n) VALUES ('x', 1)",
        "-- SELECT\nDELETE FROM T WHERE k = 'x' AND n = 1",
        "/* SELECT */ UPDATE T SET a = 1 WHERE k = 'x' AND n = 1",
        "CREATE TABLE T (k VARCHAR(1024), n BIGINT, PRIMARY KEY (k, n))",
        "DROP MAPPING TABLE T",
    ):
        for do in ("run", "explain"):
            assert run(statement, do=do).status in (400, 403)
        refused = run(statement)
        assert (refused.status, b"OTSNoPermissionAccess" in refused.body) == (403, True), statement
    assert run("SELECT 1", instance="other").status == 403
    crossed = {"instance": "shop", "statement": "SELECT 1", "do": "run", "csrf": "0" * 64}
    assert send(locked, "POST", "/console/sql", reader, crossed).status == 403


def test_signing_in_needs_the_form_that_this_browser_was_given(locked: WiderowServer) -> None:
    given = {"id": "boss", "secret": "another secret"}
    mine, other = (send(locked, "GET", "/console/sign-in") for _ in range(2))
    crossed = {**given, "csrf": token_in(other)}
    for headers, form in (
        ({"cookie": cookie_in(mine)}, crossed),
        ({"cookie": cookie_in(mine)}, given),
        ({}, {**given, "csrf": token_in(mine)}),
    ):
        assert send(locked, "POST", "/console/sign-in", headers, form).status == 403


def test_whoever_is_asked_to_sign_in_again_is_not_signed_out(locked: WiderowServer) -> None:
    """A browser keeps `SameSite` cookies back behind a link of another site; they stay good."""
    cookie = {"cookie": cookie_in(sign_in(locked, "boss", "another secret"))}
    asked = send(locked, "GET", "/console/sign-in")
    assert cookie_in(asked).partition("=")[0] != cookie["cookie"].partition("=")[0]
    both = {"cookie": f"{cookie['cookie']}; {cookie_in(asked)}"}
    assert send(locked, "GET", "/console/", both).status == 200


def test_a_key_sees_and_does_what_it_may(locked: WiderowServer) -> None:
    boss = {"cookie": cookie_in(sign_in(locked, "boss", "another secret"))}
    reader = {"cookie": cookie_in(sign_in(locked, "reader", "a long secret"))}
    with Wire(locked.endpoint) as wire:
        sender = Sender("boss", "another secret", "secret-instance")
        body = BODIES["CreateTable"]("hidden")
        assert wire.ask(sender.request("CreateTable", body)).status in {200, 409}
    assert b"secret-instance" in send(locked, "GET", "/console/index.json", boss).body
    assert b"secret-instance" not in send(locked, "GET", "/console/index.json", reader).body
    hidden = "/console/table?instance=secret-instance&table=hidden"
    assert send(locked, "GET", hidden, reader).status == 403
    before = rows(locked, boss)
    page = send(locked, "GET", "/console/rows?instance=shop&table=T", reader)
    assert b"Add a row" not in page.body
    token = token_in(send(locked, "GET", ROW, reader))
    refused = send(locked, "POST", ROW, reader, add("by reader", token))
    assert refused.status == 403
    assert rows(locked, boss) == before


def test_a_token_of_one_session_is_none_of_another(locked: WiderowServer) -> None:
    one, two = ({"cookie": cookie_in(sign_in(locked, "boss", "another secret"))} for _ in range(2))
    token = token_in(send(locked, "GET", ROW, one))
    assert send(locked, "POST", ROW, two, add("crossed", token)).status == 403


def test_signing_out_ends_the_session_wherever_its_cookie_is_kept(locked: WiderowServer) -> None:
    cookie = {"cookie": cookie_in(sign_in(locked, "boss", "another secret"))}
    token = token_in(send(locked, "GET", "/console/", cookie))
    assert send(locked, "GET", "/console/sign-out", cookie).status == 405
    assert send(locked, "POST", "/console/sign-out", cookie, {"csrf": "0" * 64}).status == 403
    assert send(locked, "POST", "/console/sign-out", cookie, {"csrf": token}).status == 303
    assert send(locked, "GET", "/console/", cookie).headers["location"] == "/console/sign-in"


def test_a_reader_sees_series_and_points_of_the_keys_instances_only(locked: WiderowServer) -> None:
    engine = series_engine_of(locked)
    for instance in ("shop", "elsewhere"):
        request = TableRequest("meters", TimeseriesOptions())
        engine.core.run(engine.create(instance, request))
        point = Point(SeriesKey("cpu", "", ()), 1, {"v": 1})
        table = engine.find(instance, "meters")
        engine.core.run(engine.put(table, [point], MetaUpdateMode.NORMAL))
    reader = {"cookie": cookie_in(sign_in(locked, "reader", "a long secret"))}
    at = "table=meters&model=timeseries&measurement=cpu"
    for page in ("table", "series", "points", "heat", "download"):
        shown = send(locked, "GET", f"/console/{page}?instance=shop&{at}", reader)
        assert shown.status == 200, page
        assert b"Drop meters" not in shown.body
        hidden = send(locked, "GET", f"/console/{page}?instance=elsewhere&{at}", reader)
        assert hidden.status == 403, page


# --- the gate by itself ---------------------------------------------------------------------------


ENDPOINT = "http://127.0.0.1:8087"


def gate_of(clock: FakeClock, *, endpoint: str = ENDPOINT) -> Gate:
    return Gate(clock, FakeEntropy(), open_here=False, endpoint=endpoint)


def visits(gate: Gate, session: str, ring: Keyring) -> bool:
    return gate.visitor({"cookie": f"a=b; widerow_console_8087={session}"}, ring) is not None


def test_a_session_ends_with_its_time_its_key_its_secret_and_its_process() -> None:
    clock = FakeClock()
    gate, ring = gate_of(clock), Keyring([AccessKey("k", "s"), AccessKey("other", "o")])
    session = gate.sign_in("k", "s", "", ring)
    assert visits(gate, session, ring)
    assert not visits(gate, session, Keyring([AccessKey("other", "o")]))
    assert not visits(gate, session, Keyring([AccessKey("k", "changed")]))
    other = Gate(clock, FakeEntropy(1), open_here=False, endpoint=ENDPOINT)
    assert not visits(other, session, ring)
    clock.advance(CONSOLE_SESSION_SECONDS - 1)
    assert visits(gate, session, ring)
    clock.advance(1)
    assert not visits(gate, session, ring)


def test_processes_that_share_sessions_know_those_of_each_other() -> None:
    """docs/operating/cluster.md, Workers."""
    clock, ring = FakeClock(), Keyring([AccessKey("k", "s")])
    told: list[tuple[str, int]] = []
    here = ConsoleSessions(lambda: b"one secret", lambda session, end: told.append((session, end)))
    there = ConsoleSessions(lambda: b"one secret")
    gate, other = (
        Gate(clock, FakeEntropy(seed), open_here=False, endpoint=ENDPOINT, sessions=sessions)
        for seed, sessions in enumerate((here, there))
    )
    session, second = gate.sign_in("k", "s", "", ring), gate.sign_in("k", "s", "", ring)
    assert visits(other, session, ring)
    assert other.token(session) == gate.token(session)
    gate.sign_out(session)
    assert not visits(gate, session, ring)
    ((ended, end_s),) = told
    assert there.note(ended, end_s, 0)
    assert not visits(other, session, ring)
    assert visits(other, second, ring)
    there.replace(b"another secret", {})
    assert not visits(other, second, ring)


def test_no_part_of_a_session_can_be_changed() -> None:
    gate, ring = gate_of(FakeClock()), Keyring([AccessKey("k", "s"), AccessKey("l", "t")])
    session = gate.sign_in("k", "s", "", ring)
    for place in range(len(session)):
        changed = session[:place] + ("0" if session[place] != "0" else "1") + session[place + 1 :]
        assert not visits(gate, changed, ring)
    for wrong in (
        "",
        ".",
        "...",
        "a.b.c.d",
        "a.9.c.d",
        "²." * 3,
        session + ".x",
        f"{session},{session}",
    ):
        assert not visits(gate, wrong, ring)


def test_a_temporary_key_needs_its_token_and_ends() -> None:
    clock = FakeClock()
    from widerow.auth.keyring import secret_digest  # noqa: PLC0415  # only here

    ends = clock.now_us() + 60_000_000
    key = AccessKey("tmp", "s", token_sha256=secret_digest("T"), parent="k", expires_us=ends)
    gate, ring = gate_of(clock), Keyring([AccessKey("k", "x"), key])
    for token in ("", "t", "T" * 99999):
        with pytest.raises(ConsoleRefused):
            gate.sign_in("tmp", "s", token, ring)
    session = gate.sign_in("tmp", "s", "T", ring)
    assert visits(gate, session, ring)
    clock.advance(60)
    assert not visits(gate, session, ring)
    with pytest.raises(ConsoleRefused):
        gate.sign_in("tmp", "s", "T", ring)


def test_sessions_that_were_ended_take_bounded_memory_and_never_come_back() -> None:
    gate, ring = gate_of(FakeClock()), Keyring([AccessKey("k", "s")])
    first = gate.sign_in("k", "s", "", ring)
    gate.sign_out(first)
    for _ in range(CONSOLE_ENDED_SESSIONS_MAX):
        gate.sign_out(gate.sign_in("k", "s", "", ring))
    assert len(gate._sessions.ended) <= CONSOLE_ENDED_SESSIONS_MAX
    assert not visits(gate, first, ring)


def test_over_tls_the_cookie_never_goes_without() -> None:
    plain, secured = gate_of(FakeClock()), gate_of(FakeClock(), endpoint="https://[::1]:8087")
    assert b"; Secure" in secured.session_cookie({}, "x")
    assert b"; Secure" in secured.entry_cookie("x")
    assert b"; Secure" in plain.session_cookie({"origin": "https://front.test"}, "x")
    assert b"; Secure" not in plain.session_cookie({"origin": "http://db.test:8087"}, "x")


def test_servers_of_one_host_have_cookies_of_their_own() -> None:
    """RFC 6265, section 8.5: cookies do not provide isolation by port."""
    names = {
        line.partition(b"=")[0]
        for port in (1, 2)
        for gate in [gate_of(FakeClock(), endpoint=f"http://127.0.0.1:{port}")]
        for line in (gate.session_cookie({}, "x"), gate.entry_cookie("x"))
    }
    assert len(names) == 4


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "db.local", ""])  # noqa: S104  # told from ours
def test_other_addresses_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "/console/rows?instance=shop&table=T&limit=101",
        "/console/rows?instance=shop&table=T&limit=-1",
        "/console/rows?instance=shop&table=T&limit=%C2%B2",
        "/console/rows?instance=shop&table=T&after=%5B",
        "/console/rows?instance=shop&table=T&after=" + "%5B" * 2000,
        "/console/rows?instance=shop&table=T&after=%5B%22%5Cud800%22,1%5D",
        "/console/rows?instance=shop&table=T&k1=1",
        "/console/rows?instance=shop&table=T&k0=a&k1=x",
        "/console/rows?instance=shop&table=T&where=((((",
        "/console/rows?instance=shop&table=T&k0=%ff",
        "/console/rows?instance=shop&table=T&model=mongo",
        "/console/rows?instance=shop&table=absent",
        "/console/rows?instance=shop",
        "/console/row?instance=shop&table=T&id=%7B%7D",
        "/console/row?instance=shop&table=T&id=%5B%22a%22,1,2%5D",
        "/console/row?instance=shop&table=T&id=%5B%22a%22,1e400%5D",
        "/console/row?instance=shop&table=T&id=%5B%22none%22,1%5D",
        "/console/rows?instance=sysdefault&table=none&model=nosql",
        "/console/search?instance=shop&table=T&index=none&query=x",
        "/console/heat?instance=shop&table=none",
        "/console/static/../console.py",
        "/console/static/%2e%2e/console.py",
        "/console/static/vendored.json",
        "/console/.json",
        "/console/sign-in?refused=x&id=%3Cb%3E",
        "/console/?page=0",
        "/console/?" + "a=1&" * 3000,
    ],
)
def test_bad_input_is_a_page_with_words_and_never_a_failure(
    opened: WiderowServer, target: str
) -> None:
    for asked in (target, target.replace("?", ".json?", 1)):
        answer = send(opened, "GET", asked)
        assert answer.status in {200, 400, 403, 404}
        assert b"Traceback" not in answer.body
        assert b"The page failed" not in answer.body


def test_a_form_has_bounds() -> None:
    with pytest.raises(ConsoleRefused) as large:
        fields_of(b"a=" + b"b" * CONSOLE_BODY_BYTES_MAX)
    assert large.value.status == 413
    for wrong in (b"a=1&" * 3000, b"a=%ff", b"\xff=1"):
        with pytest.raises(ConsoleRefused):
            fields_of(wrong)
