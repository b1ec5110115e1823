"""Tables created, filled from files and dropped on pages (docs/operating/console.md#tables)."""

from collections.abc import Iterator, Mapping

import pytest
from tests.console.conftest import Answered, Asker, Json

from widerow.limits import CONSOLE_IMPORT_BYTES_MAX
from widerow.testing.server import WiderowServer

INSTANCE = "shop"
BOUNDARY = "----a-boundary-of-a-browser"


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(instance=INSTANCE) as started:
        yield started


def create(asker: Asker, **form: str) -> Answered:
    given = {"instance": INSTANCE, "versions": "1", "days": "", **form}
    return asker.post("create", {**given, "csrf": asker.token("create")})


def created(asker: Asker, name: str) -> None:
    key = {"key.0.name": "id", "key.0.type": "integer"}
    assert create(asker, name=name, **key).status == 303


def send_file(
    asker: Asker, table: str, name: str, data: str, form: Mapping[str, str] | None = None
) -> Answered:
    path = f"import?instance={INSTANCE}&table={table}"
    fields = {"csrf": asker.token(path), "encoding": "utf-8", **(form or {})}
    lines = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{each}"\r\n\r\n{text}\r\n'
        for each, text in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    lines.append(f"--{BOUNDARY}\r\n{head}\r\nContent-Type: text/csv\r\n\r\n{data}\r\n")
    kind = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
    return asker.ask("POST", f"/{path}", "".join([*lines, f"--{BOUNDARY}--\r\n"]), kind)


def rows(asker: Asker, table: str) -> list[Json]:
    found = asker.read("rows", instance=INSTANCE, table=table, limit=100)["rows"]
    return [
        {each["name"]: each["value"] for each in row["key"]}
        | {each["column"]: each["versions"][0]["value"] for each in row["cells"]}
        for row in found
    ]


def test_a_table_is_created_as_the_form_says(asker: Asker) -> None:
    form = {"name": "cards", "versions": "3", "days": "2"}
    form |= {"key.0.name": "CardID", "key.0.type": "string"}
    form |= {"key.1.name": "Number", "key.1.type": "integer, made by the server"}
    answer = create(asker, **form)
    assert (answer.status, answer.headers["location"]) == (
        303,
        "/console/table?instance=shop&table=cards",
    )
    found = asker.read("table", instance=INSTANCE, table="cards")
    assert [tuple(each.values()) for each in found["key"]] == [
        ("CardID", "STRING", False),
        ("Number", "INTEGER", True),
    ]
    assert found["options"]["max_versions"] == 3
    assert found["options"]["time_to_live"] == 2 * 86_400


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"name": "no name", "key.0.name": "id"}, "OTSParameterInvalid"),
        ({"name": "gap", "key.1.name": "id"}, "Name the columns without a gap."),
        ({"name": "kinds", "key.0.name": "id", "key.0.type": "double"}, "there is no type"),
        ({"name": "many", "key.0.name": "id", "versions": "x"}, "is not an integer"),
        ({"name": "none", "instance": "a/b", "key.0.name": "id"}, "OTSParameterInvalid"),
    ],
)
def test_a_table_that_cannot_be_is_refused_and_the_form_stays(
    asker: Asker, form: dict[str, str], told: str
) -> None:
    types = {f"key.{number}.type": "string" for number in range(4)}
    refused = create(asker, **{**types, **form})
    assert 400 <= refused.status < 500
    assert told in refused.text
    assert f'name="name" required autofocus value="{form["name"]}"' in refused.text


def test_a_table_is_dropped_by_its_name_only(asker: Asker) -> None:
    created(asker, "doomed")
    path = f"table?instance={INSTANCE}&table=doomed"
    for typed in ("", "Doomed", "doomed "):
        refused = asker.post(path, {"confirm": typed, "csrf": asker.token(path)})
        assert refused.status == 400
        assert asker.get("table", instance=INSTANCE, table="doomed").status == 200
    answer = asker.post(path, {"confirm": "doomed", "csrf": asker.token(path)})
    assert answer.status == 303
    assert asker.get("table", instance=INSTANCE, table="doomed").status == 404


def test_a_file_of_each_form_is_imported(asker: Asker) -> None:
    created(asker, "forms")
    csv = 'id,name,price\r\n1,"Bo, \u00fc",1.5\r\n2,Chen,2\r\n1,Ada,3\r\n'
    answer = send_file(asker, "forms", "A file.CSV", csv)
    assert answer.status == 303, answer.text
    assert answer.headers["location"].endswith("&imported=2&repeated=1")
    assert rows(asker, "forms") == [
        {"id": 1, "name": "Ada", "price": 3.0},
        {"id": 2, "name": "Chen", "price": 2.0},
    ]
    lines = '{"id": 3, "photo": {"binary": "AP8="}, "paid": true}\n'
    assert send_file(asker, "forms", "rows.jsonl", lines).status == 303
    assert rows(asker, "forms")[-1] == {"id": 3, "photo": "00ff", "paid": True}
    sent = asker.get("download", instance=INSTANCE, table="forms", format="jsonl", all=1).text
    created(asker, "copied")
    assert send_file(asker, "copied", "forms.jsonl", sent).status == 303
    assert rows(asker, "copied") == rows(asker, "forms")
    page = asker.get("rows", instance=INSTANCE, table="forms", imported=2, repeated=1).text
    assert "Rows of the file: 2." in page


def test_a_file_with_a_line_that_cannot_be_read_changes_nothing(asker: Asker) -> None:
    created(asker, "strict")
    refused = send_file(asker, "strict", "rows.csv", "id,name\n1,Ada\nx,Bo\n3\n")
    assert refused.status == 400
    assert '<td class="n">3</td><td class="wrap">id is not an integer' in refused.text
    assert '<td class="n">4</td><td class="wrap">1 fields, and the header has 2' in refused.text
    assert "Nothing was imported." in refused.text
    assert rows(asker, "strict") == []


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("rows.xls", "", "has no known form"),
        ("", "", "No file was chosen."),
        ("rows.csv", "", "is empty"),
        ("rows.csv", "name\nAda\n", "no value of the key column id"),
        ("rows.csv", "id\n" + "1\n" * 20_001, "more than 20,000 rows"),
        ("rows.csv", "id\n" + "1" * CONSOLE_IMPORT_BYTES_MAX, "larger than 4 MiB"),
        ("rows.csv", "id\n" + "1" * (CONSOLE_IMPORT_BYTES_MAX + 20_000), "larger than 4 MiB"),
    ],
    ids=["form", "none", "empty", "key", "rows", "size", "form-size"],
)
def test_a_file_that_will_not_do_is_refused_with_the_reason(
    asker: Asker, name: str, data: str, told: str
) -> None:
    if asker.get("table", instance=INSTANCE, table="refused").status == 404:
        created(asker, "refused")
    refused = send_file(asker, "refused", name, data)
    assert refused.status in (400, 413)
    assert told in refused.text
    assert "/tmp" not in refused.text  # noqa: S108  # where the server had the file
    assert rows(asker, "refused") == []


def test_a_large_file_is_imported_in_batches(asker: Asker) -> None:
    created(asker, "large")
    data = "id,text\n" + "".join(f"{number},{'x' * 900}\n" for number in range(4000))
    assert send_file(asker, "large", "rows.csv", data).headers["location"].endswith("=4000")
    last = asker.read("rows", instance=INSTANCE, table="large", k0=3999)["rows"]
    assert len(last) == 1


def test_a_form_with_a_file_needs_the_proof_of_our_page(asker: Asker) -> None:
    created(asker, "proof")
    refused = send_file(asker, "proof", "rows.csv", "id\n1\n", {"csrf": "0" * 64})
    assert refused.status == 403
    assert rows(asker, "proof") == []
