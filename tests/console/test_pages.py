"""Every page, as HTML and as the document behind it (docs/operating/console.md)."""

import html
import json
import re
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from tablestore import (
    CapacityUnit,
    Condition,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    SecondaryIndexMeta,
    TableMeta,
    TableOptions,
)
from tests.console import stocked
from tests.console.conftest import Answered, Asker, Json
from tests.console.stocked import ARTICLES, CARDS, INSTANCE, METERS
from tests.support.buffers import key_buffer
from tests.support.http import Sender, Wire

from widerow.console.pages import PAGES_OF_CONSOLE
from widerow.engine.lag import Lag
from widerow.testing.server import WiderowServer

AT = {"instance": INSTANCE, "table": CARDS}
TYPED = {"instance": "sysdefault", "table": "students", "model": "nosql"}
SERIES = {"instance": INSTANCE, "table": METERS, "model": "timeseries"}
ARTICLE_ROWS = {"instance": INSTANCE, "table": ARTICLES}
SEEN: dict[str, Json] = {
    "": {},
    "heat": AT,
    "requests": {},
    "search": {"instance": INSTANCE, "table": ARTICLES, "query": "tea"},
    "health": {},
    "nodes": {},
    "table": AT,
    "create": {},
    "sql": {},
    "query": TYPED,
    "import": AT,
    "rows": AT,
    "series": SERIES,
    "points": {**SERIES, "measurement": "cpu"},
    "row": {**AT, "id": '["c-0000",0]'},
    "value": {**AT, "id": '["c-0000",0]', "column": "city"},
}


def row(asker: Asker, identity: str) -> Json:
    return asker.read("row", **AT, id=identity)


def values(document: Json) -> Json:
    return {each["column"]: each["versions"][0]["value"] for each in document["row"]["cells"]}


def fields(document: Json) -> dict[str, str]:
    """The form of a row as a browser sends it when nothing was changed."""
    form = {"do": "edit", "id": document["id"]}
    for number, each in enumerate(document["cells"]):
        form |= {
            f"col.{number}.name": each["column"],
            f"col.{number}.type": each["type"],
            f"col.{number}.value": each["text"].replace("\n", "\r\n"),
            f"col.{number}.was": each["was"],
        }
    return form


def change(asker: Asker, document: Json, **changed: str) -> Answered:
    """Send the form of a row with some values changed; what came back."""
    form = fields(document)
    for number, each in enumerate(document["cells"]):
        if each["column"] in changed:
            form[f"col.{number}.value"] = changed[each["column"]]
    return asker.post("row?instance=campus&table=cards", {**form, "csrf": token(asker)})


def token(asker: Asker) -> str:
    return asker.token(f"row?instance={INSTANCE}&table={CARDS}")


def test_every_page_of_the_menu_is_seen_here() -> None:
    assert {page.path for page in PAGES_OF_CONSOLE if page.template} == SEEN.keys()


@pytest.mark.parametrize("path", SEEN)
def test_a_page_and_its_document(asker: Asker, path: str) -> None:
    page = asker.get(path, **SEEN[path])
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-store"
    document = asker.get(f"{path or 'index'}.json", **SEEN[path])
    assert document.status == 200
    assert isinstance(document.document, dict)


def test_the_overview_shows_tables_of_all_models_with_their_sizes(asker: Asker) -> None:
    listed = asker.read("index")["instances"]
    found = {(each["instance"], each["model"]): each for each in listed}
    cards = next(e for e in found[INSTANCE, "tablestore"]["tables"] if e["name"] == CARDS)
    assert cards["partitions"] >= 1
    assert [each["name"] for each in found[INSTANCE, "timeseries"]["tables"]] == [METERS]
    assert found["sysdefault", "nosql"]["model_name"] == "Oracle NoSQL"


def test_the_overview_finds_tables_by_a_part_of_their_names(asker: Asker) -> None:
    found = asker.read("index", q="ARTIC")
    assert [[t["name"] for t in each["tables"]] for each in found["instances"]] == [[ARTICLES]]
    assert found["tables_total"] == 4


def test_a_table_shows_schema_options_and_partitions(asker: Asker) -> None:
    found = asker.read("table", **AT)
    assert [(each["name"], each["type"]) for each in found["key"]] == [
        ("CardID", "STRING"),
        ("OrderNumber", "INTEGER"),
    ]
    assert found["options"]["max_versions"] == 3
    assert {each["name"] for each in found["columns"]} == {"amount", "city"}
    assert found["partitions"][0]["start"] is None


def test_an_index_that_is_far_behind_is_shown_and_needs_a_look(
    server: WiderowServer, asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = OTSClient(server.endpoint, "widerow", "widerow", INSTANCE)
    meta = TableMeta("followed", [("k", "STRING")], [("city", "STRING")])
    nothing = ReservedThroughput(CapacityUnit(0, 0))
    client.create_table(
        meta, TableOptions(), nothing, [SecondaryIndexMeta("by_city", ["city"], [])]
    )
    try:
        at = {"instance": INSTANCE, "table": "followed"}
        assert [each["lag_seconds"] for each in asker.read("table", **at)["indexes"]] == [0]
        behind = [Lag(f"{INSTANCE}/followed", "by_city", 90.0)]
        monkeypatch.setattr(stocked.engine_of(server), "index_lags", lambda: behind)
        assert [each["lag_seconds"] for each in asker.read("table", **at)["indexes"]] == [90]
        assert "90.0 s behind the table" in asker.get("table", **at).text
        checks = {each["name"]: each for each in asker.read("health")["checks"]}
        assert checks["Indexes"]["state"] == "look"
        assert "by_city of campus/followed is 90 s behind" in checks["Indexes"]["words"]
    finally:
        client.delete_table("followed")


def test_a_typed_table_shows_its_definition(asker: Asker) -> None:
    found = asker.read("table", **TYPED)
    assert found["definition"].startswith("CREATE TABLE")
    assert [each["name"] for each in found["key"]] == ["id"]


def test_rows_of_a_prefix(asker: Asker) -> None:
    found = asker.read("rows", **AT, k0="c-0003")
    assert [each["key"][1]["value"] for each in found["rows"]] == [3, 15, 27, 39, 51]
    assert found["bounded"] == {"name": "OrderNumber", "type": "integer"}


@pytest.mark.parametrize(
    ("asked", "orders"),
    [
        ({"k0": "c-0003", "from": "15", "to": "39"}, [15, 27]),
        ({"k0": "c-0003", "order": "down", "limit": 2}, [51, 39]),
        ({"k0": "c-0003", "k1": "27"}, [27]),
        ({"k0": "c-0003", "k1": "28"}, []),
        ({"begins": "c-0011", "where": "paid = true", "limit": 100}, [11, 23, 35, 47, 59]),
        ({"from": "c-0011", "to": "c-0012", "where": "amount > 900"}, [47, 59]),
    ],
)
def test_rows_by_range_and_filter(asker: Asker, asked: Json, orders: list[int]) -> None:
    found = asker.read("rows", **AT, **asked)
    assert [each["key"][1]["value"] for each in found["rows"]] == orders


@pytest.mark.parametrize("order", ["", "down"])
def test_pages_of_rows_have_every_row_once(asker: Asker, order: str) -> None:
    seen: list[str] = []
    found = asker.read("rows", **AT, limit=17, order=order)
    while True:
        seen += [each["id"] for each in found["rows"]]
        if not found["more"]:
            break
        path = found["more"].removeprefix("/console").replace("/rows?", "/rows.json?")
        found = asker.ask("GET", path).document
    assert len(seen) == len(set(seen)) == 60
    numbers = [json.loads(each) for each in seen]
    assert numbers == sorted(numbers, reverse=bool(order))


def test_cells_have_versions_and_types(asker: Asker) -> None:
    cells = {
        each["column"]: each["versions"] for each in row(asker, '["c-0000",0]')["row"]["cells"]
    }
    assert {name: found[0]["type"] for name, found in cells.items()} == {
        "amount": "integer",
        "city": "string",
        "paid": "boolean",
        "photo": "binary",
        "rating": "double",
    }
    assert cells["photo"][0]["value"] == bytes(range(12)).hex()


def test_an_edit_keeps_the_other_columns_and_the_older_version(
    server: WiderowServer, asker: Asker
) -> None:
    before = row(asker, '["c-0001",1]')
    server.clock.advance(1)
    answer = change(asker, before, city="São Paulo\nBrasil")
    assert answer.status == 303
    after = row(asker, '["c-0001",1]')
    assert values(after) == {**values(before), "city": "São Paulo\nBrasil"}
    versions = {each["column"]: len(each["versions"]) for each in after["row"]["cells"]}
    assert versions["city"] == 2
    assert versions["amount"] == 1


def test_an_edit_of_what_somebody_else_changed_meanwhile_is_refused(asker: Asker) -> None:
    before = row(asker, '["c-0002",2]')
    assert change(asker, before, amount="1").status == 303
    refused = change(asker, before, amount="2")
    assert refused.status == 403
    assert "OTSConditionCheckFail" in refused.text
    assert values(row(asker, '["c-0002",2]'))["amount"] == 1


def form_in(page: str) -> dict[str, str]:
    """The fields of the form of a conflict, as a browser sends it unchanged."""
    start = page.index('<div id="problem"')
    part = page[start : page.index("</form>", start)]
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', part)
    typed = re.findall(r'<textarea name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', part)
    chosen = re.findall(r'<button class="main" name="(do)" value="([^"]*)">', part)
    return {name: html.unescape(text) for name, text in [*hidden, *typed, *chosen]}


def test_a_conflict_shows_both_values_and_is_saved_over_when_that_is_wanted(asker: Asker) -> None:
    path = "row?instance=campus&table=cards"
    before = row(asker, '["c-0009",9]')
    assert change(asker, before, amount="1", city="Here").status == 303
    refused = change(asker, before, amount="2", city="There")
    assert re.search(r'data-label="There now">1 <span class="tag">integer', refused.text)
    assert ">2</textarea>" in refused.text
    assert ">There</textarea>" in refused.text
    again = form_in(refused.text)
    kept = next(name for name, text in again.items() if text == "There")
    again[kept.replace(".value", ".keep")] = "1"
    assert asker.post(path, again).status == 303
    after = values(row(asker, '["c-0009",9]'))
    assert (after["amount"], after["city"]) == (2, "Here")
    assert asker.post(path, again).status == 403  # what it was is not there any more


def test_a_row_that_was_deleted_meanwhile_can_be_added_again_as_it_was_typed(asker: Asker) -> None:
    path = "row?instance=campus&table=cards"
    before = row(asker, '["c-0010",10]')
    gone = {"do": "delete", "id": '["c-0010",10]', "csrf": token(asker)}
    assert asker.post(path, gone).status == 303
    refused = change(asker, before, amount="2")
    assert "The row is gone." in refused.text
    assert asker.post(path, form_in(refused.text)).status == 303
    assert values(row(asker, '["c-0010",10]')) == {**values(before), "amount": 2}


def test_a_row_that_somebody_added_first_is_shown_beside_the_typed_one(asker: Asker) -> None:
    path = "row?instance=campus&table=cards"
    form = {"do": "add", "key.0": "both", "key.1": "1", "csrf": token(asker)}
    form |= {"col.0.name": "a", "col.0.type": "string", "col.0.value": "mine"}
    assert asker.post(path, form | {"col.0.value": "theirs"}).status == 303
    refused = asker.post(path, form)
    assert 'data-label="There now">theirs' in refused.text
    assert asker.post(path, form_in(refused.text)).status == 303
    assert values(row(asker, '["both",1]')) == {"a": "mine"}


def test_an_edit_of_another_column_than_somebody_else_s_is_not(asker: Asker) -> None:
    before = row(asker, '["c-0004",4]')
    assert change(asker, before, amount="1").status == 303
    assert change(asker, before, city="Kyoto").status == 303
    assert values(row(asker, '["c-0004",4]')) == {
        **values(before),
        "amount": 1,
        "city": "Kyoto",
    }


def test_nothing_changed_is_nothing_sent(asker: Asker) -> None:
    before = row(asker, '["c-0005",5]')
    refused = change(asker, before)
    assert refused.status == 400
    assert "Nothing is changed" in refused.text


def test_a_column_is_added_and_another_deleted(asker: Asker) -> None:
    before = row(asker, '["c-0006",6]')
    form = fields(before) | {"csrf": token(asker)}
    form |= {"col.1.delete": "1"}
    form |= {"col.90.is_new": "1", "col.90.name": "note", "col.90.type": "string"}
    form |= {"col.90.value": "", "col.90.at": ""}
    assert asker.post("row?instance=campus&table=cards", form).status == 303
    after = values(row(asker, '["c-0006",6]'))
    assert "city" not in after
    assert after["note"] == ""


@pytest.mark.parametrize(
    ("kind", "text", "stored"),
    [
        ("integer", "-9223372036854775808", -(2**63)),
        ("double", "1e-3", 0.001),
        ("boolean", "True", True),
        ("string", "12", "12"),
        ("binary", "00ff", "00ff"),
    ],
)
def test_a_row_is_added_once_with_every_type(
    asker: Asker, kind: str, text: str, stored: object
) -> None:
    form = {"do": "add", "key.0": f"new-{kind}", "key.1": "1", "csrf": token(asker)}
    form |= {"col.0.name": "value", "col.0.type": kind, "col.0.value": text}
    form |= {"col.0.at": "1795571210700"}
    added = asker.post("row?instance=campus&table=cards", form)
    assert added.status == 303, added.text
    path = urlsplit(added.headers["location"])
    assert path.path == "/console/row"
    found = row(asker, f'["new-{kind}",1]')
    assert values(found) == {"value": stored}
    assert found["row"]["cells"][0]["versions"][0]["version"] == 1795571210700
    again = asker.post("row?instance=campus&table=cards", form)
    assert again.status == 403
    assert "OTSConditionCheckFail" in again.text


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("integer", "1.5", "is not an integer."),
        ("integer", str(2**63), "is not an integer."),
        ("double", "many", "is not a double."),
        ("boolean", "yes", "is not a boolean."),
        ("binary", "0", "is not a binary value."),
        ("number", "1", "there is no type"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name(
    asker: Asker, kind: str, text: str, told: str
) -> None:
    form = {"do": "add", "key.0": "bad", "key.1": "1", "csrf": token(asker)}
    form |= {"col.0.name": "price", "col.0.type": kind, "col.0.value": text}
    refused = asker.post("row?instance=campus&table=cards", form)
    assert refused.status == 400
    assert "price" in refused.text
    assert told in refused.text
    assert asker.read("rows", **AT, k0="bad")["rows"] == []


def test_the_service_s_own_rules_hold(asker: Asker) -> None:
    form = {"do": "add", "key.0": "long", "key.1": "1", "csrf": token(asker)}
    form |= {"col.0.name": "#no", "col.0.type": "string", "col.0.value": ""}
    refused = asker.post("row?instance=campus&table=cards", form)
    assert refused.status == 400
    assert "OTSParameterInvalid" in refused.text


def test_a_row_is_deleted_once(asker: Asker) -> None:
    form = {"do": "delete", "id": '["c-0007",7]', "csrf": token(asker)}
    assert asker.post("row?instance=campus&table=cards", form).status == 303
    assert asker.get("row", **AT, id='["c-0007",7]').status == 404
    assert asker.post("row?instance=campus&table=cards", form).status == 403


def test_a_client_of_htmx_is_moved_on_by_its_own_header(asker: Asker) -> None:
    form = {"do": "delete", "id": '["c-0008",8]', "csrf": token(asker)}
    answer = asker.post("row?instance=campus&table=cards", form, {"hx-request": "true"})
    assert answer.status == 200
    assert answer.headers["hx-redirect"] == "/console/rows?instance=campus&table=cards"


def test_a_typed_row_is_read_written_and_deleted(asker: Asker) -> None:
    found = asker.read("row", **TYPED, id='{"id": 1}')
    form = {"do": "put", "id": found["id"], "version": found["row"]["version"]}
    form |= {"csrf": token(asker), "text": '{"id": 1, "name": "Bo", "credits": 99}'}
    path = "row?instance=sysdefault&table=students&model=nosql"
    assert asker.post(path, form).status == 303
    assert asker.read("row", **TYPED, id='{"id": 1}')["row"]["values"]["credits"] == 99
    stale = asker.post(path, form | {"text": '{"id": 1, "name": "Bo", "credits": 7}'})
    assert stale.status == 409
    assert re.search("credits&#34; ?: 99", stale.text)  # what is there
    assert asker.post(path, form_in(stale.text)).status == 303
    assert asker.read("row", **TYPED, id='{"id": 1}')["row"]["values"]["credits"] == 7
    new = {"do": "put", "csrf": token(asker), "text": '{"id": 9, "name": "Eve"}'}
    assert asker.post(path, new).status == 303
    assert asker.post(path, new).status == 409
    version = asker.read("row", **TYPED, id='{"id": 9}')["row"]["version"]
    gone = {"do": "delete", "id": '{"id": 9}', "version": version, "csrf": token(asker)}
    assert asker.post(path, gone).status == 303
    assert asker.get("row", **TYPED, id='{"id": 9}').status == 404


def test_pages_of_typed_rows(asker: Asker) -> None:
    first = asker.read("rows", **TYPED, limit=3)
    assert [each["values"]["id"] for each in first["rows"]] == [0, 1, 2]
    path = first["more"].removeprefix("/console").replace("/rows?", "/rows.json?")
    assert [each["values"]["id"] for each in asker.ask("GET", path).document["rows"]] == [3]
    assert [e["values"]["id"] for e in asker.read("rows", **TYPED, k0=2)["rows"]] == [2]


def test_a_search_finds_rows_and_links_to_them(asker: Asker) -> None:
    at = {"instance": INSTANCE, "table": ARTICLES}
    found = asker.read("search", **at, query="title:tea AND price:>6", sort="-price")["found"]
    assert found["total"] == 2
    assert [each["id"] for each in found["rows"]] == ["[5]", "[1]"]
    wrong = asker.get("search", **at, query="nothing:x")
    assert wrong.status == 400
    assert "it has price, tag, title" in wrong.text


def test_latency_is_called_by_the_names_that_people_know(asker: Asker) -> None:
    for path in ("", "requests"):
        page = asker.get(path).text
        assert "p99 latency" in page
        assert "99 of 100 are" not in page
    assert "median latency" in asker.get("requests").text


def test_refused_requests_are_shown_with_their_hints(server: WiderowServer, asker: Asker) -> None:
    from widerow.wire.tablestore import messages as m  # noqa: PLC0415  # only here

    absent = m.GetRowRequest(table_name="absent", primary_key=key_buffer((("k", "x"),)))
    absent.max_versions = 1
    with Wire(server.endpoint) as wire:
        request = Sender(instance=INSTANCE).request("GetRow", absent.SerializeToString())
        assert wire.ask(request).status == 404
    found = asker.read("requests")["refused"][0]
    assert (found["action"], found["code"]) == ("GetRow", "OTSObjectNotExist")
    assert (found["instance"], found["status"]) == (INSTANCE, 404)
    assert "table" in found["hint"]


def test_refused_requests_are_filtered_and_grouped_by_code_and_table() -> None:
    from widerow.wire.tablestore import messages as m  # noqa: PLC0415  # only here

    with WiderowServer(instance=INSTANCE, settings=stocked.Settings) as server:
        stocked.stock(server)
        client = server.client()
        for _ in range(3):
            with pytest.raises(OTSServiceError):
                client.delete_row(
                    CARDS,
                    Row([("CardID", "none"), ("OrderNumber", 1)]),
                    Condition(RowExistenceExpectation.EXPECT_EXIST),
                )
        absent = m.GetRowRequest(table_name="absent", primary_key=key_buffer((("k", "x"),)))
        absent.max_versions = 1
        sender = Sender(instance=INSTANCE)
        with Wire(server.endpoint) as wire:
            for table in ("absent", "absent", "other"):
                absent.table_name = table
                wire.ask(sender.request("GetRow", absent.SerializeToString()))
            wire.ask(sender.request("GetRow", b"\xff not a message"))
        asker = Asker(server.endpoint)
        found = asker.read("requests")
        groups = [(each["code"], each["on"], each["count"]) for each in found["groups"]]
        assert groups[:2] == [
            ("OTSConditionCheckFail", "campus/cards", 3),
            ("OTSObjectNotExist", "campus/absent", 2),
        ]
        assert ("OTSObjectNotExist", "campus/other", 1) in groups
        assert [each for each in groups if each[1] == "campus"]  # it names no table
        only = asker.read("requests", code="OTSObjectNotExist", on="campus/absent")
        assert [each["table"] for each in only["refused"]] == ["absent", "absent"]
        assert (only["refused_found"], only["slow"]) == (2, [])
        few = asker.get("requests", shown=1)
        assert few.text.count('data-label="Hint"') == 1
        assert ">All 7</a>" in few.text


def test_the_heat_map_shows_the_hot_key_and_what_to_do() -> None:
    with WiderowServer(instance=INSTANCE, settings=stocked.Settings) as server:
        stocked.stock(server)
        stocked.heat(server)
        asker = Asker(server.endpoint)
        found = asker.read("heat", **AT)
        hot = found["hot_keys"][0]
        assert (hot["key"], hot["unsplittable"]) == (stocked.HOT, True)
        assert hot["share"] > 0.5
        assert found["reports"][0]["remedy"].startswith("splice more key columns")
        assert found["advice"]["verdict"] == "bad"
        rows = [key for key in found["grid"]["keys"] if key == stocked.HOT]
        assert rows == [stocked.HOT]
        busiest = max(
            range(len(found["grid"]["keys"])), key=lambda n: sum(found["grid"]["cells"][n])
        )
        assert found["grid"]["keys"][busiest] == stocked.HOT
        page = asker.get("heat", **AT).text
        assert "cannot be split" in page
        assert f'class="hot">{stocked.HOT}' in page
        overview = asker.get("").text
        assert "hot key" in overview


def test_the_heat_map_tells_reads_from_writes_and_leads_to_the_rows_of_a_range() -> None:
    with WiderowServer(instance=INSTANCE, settings=stocked.Settings) as server:
        stocked.stock(server)
        stocked.heat(server)
        asker = Asker(server.endpoint)

        def units(load: str) -> float:
            grid = asker.read("heat", **AT, of=load)["grid"]
            return float(grid["seconds"]) * sum(sum(row) for row in grid["cells"])

        whole, reads, writes = units(""), units("reads"), units("writes")
        assert reads + writes == pytest.approx(whole, rel=0.01)
        assert 0.5 < reads / writes < 0.9  # four to six of the hot key, one to one of the others
        found = asker.read("heat", **AT)
        place = found["grid"]["keys"].index(stocked.HOT)
        band = found["ranges"][place]
        assert (band["from"], band["below"]) == (stocked.HOT, found["grid"]["keys"][place + 1])
        assert (found["ranges"][0]["from"], found["ranges"][-1]["below"]) == (None, None)
        path = found["ranges"][1]["rows"].removeprefix("/console").replace("/rows?", "/rows.json?")
        rows = asker.ask("GET", path).document["rows"]
        low, high = found["ranges"][1]["from"], found["ranges"][1]["below"]
        assert all(low <= row["key"][0]["value"] < high for row in rows)
        page = asker.get("heat", **AT).text
        assert f"<title>keys from {stocked.HOT} up to" in page
        assert asker.read("heat", **TYPED)["ranges"][0]["rows"] == ""


def test_a_growing_key_is_advised_a_hash_and_a_hot_value_is_shown_as_it_is() -> None:
    with WiderowServer(instance=INSTANCE, settings=stocked.Settings) as server:
        stocked.stock(server)
        stocked.heat(server)
        asker = Asker(server.endpoint)
        hot = asker.read("heat", **AT)["advice"]["reason"]
        assert f"one value ({stocked.HOT}) has" in hot
        stocked.grow(server)
        grown = asker.read("heat", **AT)["advice"]["reason"]
        assert grown.endswith("put a hash in front of the key")


def test_the_map_of_a_young_table_begins_with_its_first_load() -> None:
    with WiderowServer(instance=INSTANCE, settings=stocked.Settings) as server:
        stocked.stock(server)
        began = server.clock.now_us() // 1_000_000
        stocked.heat(server, seconds=40)
        asker = Asker(server.endpoint)
        short = asker.read("heat", **AT)
        assert short["grid"]["starts"][-1] - short["grid"]["starts"][0] == 110  # two minutes
        stocked.pass_seconds(server, 200)
        for window in ("10m", "6h"):
            grid = asker.read("heat", **AT, window=window)["grid"]
            assert began - 10 <= grid["starts"][0] <= began + 10
            assert 10 <= grid["seconds"] <= 12  # the requests took time as well
            assert grid["most"] > 0
        stocked.pass_seconds(server, 600)
        late = asker.read("heat", **AT)["grid"]
        assert late["starts"][-1] - late["starts"][0] == 110
        assert late["most"] == 0


def test_the_console_can_be_off() -> None:
    with WiderowServer(settings={"console": False}) as server:
        assert Asker(server.endpoint).get("").status == 404


def test_a_server_that_nobody_looks_at_loads_no_pages() -> None:
    """Start-up stays what it was: Jinja2 and the pages come with the first request for one."""
    program = "import sys, widerow.cli.serving; print(*sys.modules)"
    done = subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "widerow.server.lifecycle" in loaded
    assert "jinja2" not in loaded
    assert not [name for name in loaded if name.startswith("widerow.console.")]


def test_an_empty_table_and_a_row_of_many_columns_are_told_as_they_are() -> None:
    with WiderowServer(instance=INSTANCE) as server:
        client = server.client()
        for name in ("empty", "wide"):
            meta = TableMeta(name, [("id", "INTEGER")])
            client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
        for count in (20, 300):
            columns = [(f"c{number:03}", number) for number in range(count)]
            client.put_row("wide", Row([("id", count)], columns))
        asker = Asker(server.endpoint)
        empty = asker.get("rows", instance=INSTANCE, table="empty").text
        assert "This table has no rows yet." in empty
        assert "widerow row put empty" in empty
        sent = asker.get("rows", instance=INSTANCE, table="empty", limit=50, order="down").text
        assert "This table has no rows yet." in sent  # the form sends its fields along
        nothing = asker.get("rows", instance=INSTANCE, table="empty", k0=7).text
        assert "There are no such rows." in nothing
        wide = asker.get("rows", instance=INSTANCE, table="wide").text
        assert ">12 more</a>" in wide
        assert ">92 or more</a>" in wide  # the page reads a hundred of them


@pytest.mark.parametrize(
    ("path", "asked", "kept"),
    [
        (
            "search",
            {**ARTICLE_ROWS, "query": "nothing:x y"},
            "nothing:x y",
        ),
        ("search", {**ARTICLE_ROWS, "query": "title:("}, "title:("),
        (
            "rows",
            {**ARTICLE_ROWS, "where": "price > > 3"},
            "price &gt; &gt; 3",
        ),
        ("rows", {**TYPED, "k0": "no number"}, "no number"),
    ],
)
def test_what_cannot_be_read_stays_in_its_form(
    asker: Asker, path: str, asked: dict[str, str], kept: str
) -> None:
    page = asker.get(path, **asked)
    assert page.status == 400
    assert f'value="{kept}"' in page.text
    assert page.text.count('role="alert"') == 1
    told = asker.get(f"{path}.json", **asked)
    assert (told.status, list(told.document)) == (400, ["error"])


def test_a_refused_page_keeps_the_bounds_of_their_column(asker: Asker) -> None:
    """They are of the column behind the given ones, whatever else is wrong."""
    page = asker.get("rows", **AT, k0="c-0004", where="amount > > 5", **{"from": 5}).text
    assert 'OrderNumber from <input name="from" value="5"' in page


def test_whoever_opens_the_port_in_a_browser_is_told_of_the_console(server: WiderowServer) -> None:
    with Wire(server.endpoint) as wire:
        answer = wire.ask(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert answer.status == 404
    assert b" /console/, " in answer.body
