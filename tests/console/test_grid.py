"""Rows as a grid and as files (docs/operating/console.md#rows)."""

import csv
import io
import json
from typing import Any

import pytest
from tests.console import stocked
from tests.console.conftest import Asker, Json
from tests.console.stocked import CARDS, INSTANCE

from widerow.console.grid import grid_columns
from widerow.model.values import KeyType
from widerow.testing.server import WiderowServer

AT = {"instance": INSTANCE, "table": CARDS}
TYPED = {"instance": "sysdefault", "table": "students", "model": "nosql"}
LONG = "a long text, " * 400


def follow(asker: Asker, link: str) -> Json:
    path = link.removeprefix("/console").replace("/rows?", "/rows.json?")
    return asker.ask("GET", path).document


@pytest.fixture(scope="module")
def wide(server: WiderowServer) -> Json:
    """A table with a long text, a binary value and a row of 150 columns."""
    engine = stocked.engine_of(server)
    engine.core.run(
        engine.create_table(INSTANCE, stocked._table("wide", {"id": KeyType.INTEGER}, 1))
    )
    many: dict[str, Any] = {f"c{number:03}": number for number in range(150)}
    stocked._row(engine, "wide", {"id": 1}, many)
    stocked._row(engine, "wide", {"id": 2}, {"c000": "text", "z": LONG, "photo": b"\x00\xff"})
    return {"instance": INSTANCE, "table": "wide"}


def test_columns_have_types_and_numbers_stand_to_the_right(asker: Asker) -> None:
    columns = {each["name"]: each for each in asker.read("rows", **AT)["columns"]}
    assert {name: each["type"] for name, each in columns.items()} == {
        "amount": "integer",
        "city": "string",
        "paid": "boolean",
        "photo": "binary",
        "rating": "double",
    }
    assert [name for name, each in columns.items() if each["number"]] == ["amount", "rating"]
    page = asker.get("rows", **AT, k0="c-0000", k1=0).text
    assert '<th class="n">amount<span class="type">integer</span></th>' in page
    assert '<td class="v n">250' in page
    typed = {each["name"]: each["number"] for each in asker.read("rows", **TYPED)["columns"]}
    assert typed == {"id": True, "name": False, "credits": True}


def test_a_column_of_several_types_is_called_mixed(asker: Asker, wide: Json) -> None:
    known = {each["name"]: each["type"] for each in asker.read("rows", **wide)["known"]}
    assert (known["c000"], known["c001"]) == ("mixed", "integer")
    numbers, mixed = grid_columns([("a", ["integer", "double"]), ("b", ["integer", "string"])])
    assert (numbers["number"], mixed["number"]) == (True, False)


def test_columns_are_chosen_also_those_behind_the_first_hundred(asker: Asker, wide: Json) -> None:
    found = asker.read("rows", **AT, **{"show.city": 1, "show.paid": 1})
    assert [each["name"] for each in found["columns"]] == ["city", "paid"]
    assert {each["name"] for each in found["known"] if not each["shown"]} == {
        *("amount", "photo", "rating"),
    }
    assert "show.city=1" in found["more"]
    far = asker.read("rows", **wide, **{"show.c149": 1})
    cells = {each["column"]: each["versions"][0]["value"] for each in far["rows"][0]["cells"]}
    assert cells["c149"] == 149
    typed = asker.get("rows", **TYPED, **{"show.name": 1}).text
    assert "<th>name<span" in typed
    assert ">credits<span" not in typed


def test_a_page_says_which_rows_it_has_of_how_many(asker: Asker, server: WiderowServer) -> None:
    stocked.pass_seconds(server, 3)
    first = asker.read("rows", **AT, limit=25)
    about = first["place"].pop("of")
    assert first["place"] == {"first": 1, "last": 25, "exact": False}
    assert about == asker.read("table", **AT)["size"]["rows"]
    second = follow(asker, first["more"])
    assert (second["place"]["first"], second["place"]["last"]) == (26, 50)
    third = follow(asker, second["more"])
    total = third["place"]["of"]
    assert third["place"] == {"first": 51, "last": total, "of": total, "exact": True}
    bounded = asker.read("rows", **AT, begins="c-", limit=10)["place"]
    assert bounded == {"first": 1, "last": 10, "of": None, "exact": False}
    page = asker.get("rows", **AT, k0="c-0003").text
    assert "Rows 1 to 5 of 5" in page
    assert "Rows 1 to 10, and there are more" in asker.get("rows", **AT, begins="c-", limit=10).text


def test_a_long_text_is_shortened_and_its_whole_is_a_page(asker: Asker, wide: Json) -> None:
    page = asker.get("rows", **wide, **{"show.z": 1}).text
    assert LONG[:2000] in page
    assert LONG not in page
    assert "/console/value?" in page
    whole = asker.read("value", **wide, id="[2]", column="z")
    assert (whole["text"], whole["type"], whole["bytes"]) == (LONG, "string", len(LONG))
    version = whole["version"]
    assert asker.read("value", **wide, id="[2]", column="z", version=version)["text"] == LONG
    absences: list[dict[str, str | int]] = [{"column": "y"}, {"column": "z", "version": 1}]
    for absent in absences:
        assert asker.get("value", **wide, id="[2]", **absent).status == 404


def test_rows_are_downloaded_in_every_form(asker: Asker, wide: Json) -> None:
    """All columns, also of a row that is wider than a page; binary values are base64."""
    sent = asker.get("download", **wide, format="json", all=1)
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["content-disposition"] == 'attachment; filename="wide.json"'
    one, two = json.loads(sent.text)
    assert one == {"id": 1, **{f"c{number:03}": number for number in range(150)}}
    assert two == {"id": 2, "c000": "text", "z": LONG, "photo": {"binary": "AP8="}}
    lines = asker.get("download", **wide, format="jsonl", all=1).text.split("\n")
    assert [json.loads(each) for each in lines if each] == [one, two]
    rows = list(csv.DictReader(io.StringIO(asker.get("download", **wide, format="csv").text)))
    assert rows[0]["c149"] == "149"
    assert (rows[1]["z"], rows[1]["photo"], rows[1]["c149"]) == (LONG, "AP8=", "")
    alone = json.loads(asker.get("download", **wide, id="[2]").text)
    assert alone == [two]
    assert asker.get("download", **wide, id="[9]").status == 404
    assert asker.get("download", **wide, format="exe").status == 400


def test_a_download_has_the_rows_that_the_page_asks_for(asker: Asker) -> None:
    asked: dict[str, str | int] = {
        **AT,
        "begins": "c-0011",
        "where": "paid = true",
        "show.amount": 1,
    }
    sent = json.loads(asker.get("download", **asked, all=1).text)
    assert [each["OrderNumber"] for each in sent] == [11, 23, 35, 47, 59]
    assert sent[0].keys() == {"CardID", "OrderNumber", "amount"}
    page = asker.read("rows", **AT, limit=10, order="down")
    copied = asker.ask("GET", page["files"]["page"].removeprefix("/console")).text
    numbers = [each["key"][1]["value"] for each in page["rows"]]
    assert [each["OrderNumber"] for each in json.loads(copied)] == numbers
    typed = json.loads(asker.get("download", **TYPED, all=1, **{"show.name": 1}).text)
    assert {"id": 2, "name": "Chen"} in typed


def test_what_is_too_much_for_a_download_is_refused_and_not_cut(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.console.download.CONSOLE_DOWNLOAD_ROWS_MAX", 20)
    refused = asker.get("download", **AT, all=1)
    assert refused.status == 413
    assert "widerow export cards --instance campus" in refused.text
    assert asker.get("download", **AT, all=1, k0="c-0003").status == 200
