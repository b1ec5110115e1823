"""`widerow table`, `row` and `ts` against a server (docs/guide/shell.md, ts-cli)."""

import json
import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from widerow.cli.shell.running import converse
from widerow.cli.ts.commands import TS_COMMANDS
from widerow.cli.ts.session import TsSession
from widerow.cli.ts.shell import ts_shell
from widerow.client.connection import Endpoint
from widerow.client.failures import Refused, Unreachable
from widerow.client.tables import NoSuchTable
from widerow.errors import WiderowError
from widerow.testing import WiderowServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "shell.md"
TEXT = PAGE.read_text(encoding="utf-8")
CONSOLE = re.findall(r"^```console\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
SCRIPTS = re.findall(r"^```ts\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)

Widerow = Callable[..., Result]


@pytest.fixture
def cards(widerow: Widerow) -> None:
    widerow("table", "create", "cards", "card:string", "n:integer", "--max-versions", 3)


def rows(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


# --- the guide -----------------------------------------------------------------------------------


def test_the_commands_of_the_guide_print_what_it_shows(widerow: Widerow) -> None:
    shown = said = ""
    for each in (part for block in CONSOLE for part in block.split("$ ")[1:]):
        command, _, expected = each.partition("\n")
        words = shlex.split(command)
        assert words[0] == "widerow"
        result = widerow(*words[1:], expect=1 if "nothing was written" in expected else 0)
        shown += f"$ {command}\n{expected}"
        said += f"$ {command}\n{result.stdout}{result.stderr}"
    assert len(CONSOLE) == 5
    assert said == shown


def test_the_script_of_the_guide_runs(widerow: Widerow) -> None:
    script, of_series = SCRIPTS
    widerow("table", "create", "cards", "uid:string", "pid:integer")
    done = widerow("ts", typed=of_series)
    assert done.stderr == ""
    assert '| car     | c1           | ["brand=a"] | 1636460000000000 | 24    |' in done.stdout
    assert done.stdout.count("Success.") == 2
    done = widerow("ts", typed=script)
    assert done.stderr == ""
    assert done.stdout.count("| 86  | 6771 | 32  | redchen |") == 2


# --- rows ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cards")
def test_what_is_scanned_is_put_again_as_it_was(widerow: Widerow) -> None:
    widerow("row", "put", "cards", "a", 1, "i=1", "d=1.0", "t:str=1", "b:binary=0x00ff", "ok=true")
    widerow("row", "put", "cards", "a", 2, "t=漢字", "empty:string=")
    widerow("row", "update", "cards", "a", 1, "i=2")
    widerow("table", "create", "copy", "card:string", "n:integer", "--max-versions", 3)
    for versions in ((), ("--max-versions", "all")):
        scanned = widerow("row", "scan", "cards", *versions)
        put = widerow("row", "put", "copy", "--input", "-", typed=scanned.stdout)
        assert put.stderr == "2 rows put into copy\n"
        assert widerow("row", "scan", "copy", *versions).stdout == scanned.stdout


@pytest.mark.usefixtures("cards")
def test_versions_are_shown_where_they_are_asked_for(widerow: Widerow) -> None:
    for value in (1, 2, 3):
        widerow("row", "update", "cards", "a", 1, f"i={value}")
    (row,) = rows(widerow("row", "get", "cards", "a", 1, "--max-versions", 2))
    cells = row["@cells"]
    assert isinstance(cells, dict)
    assert [value for _, value in cells["i"]] == [3, 2]
    newest = cells["i"][0][0]
    one = widerow("row", "get", "cards", "a", 1, "--time-range", f"..{newest}")
    assert rows(one) == [{"card": "a", "n": 1, "i": 2}]
    last = widerow("row", "get", "cards", "a", 1, "--time-range", f"{newest}..")
    assert rows(last) == [{"card": "a", "n": 1, "i": 3}]


@pytest.mark.usefixtures("cards")
def test_a_limit_says_where_the_rest_begins(widerow: Widerow) -> None:
    lines = "".join(f'{{"card":"c","n":{n},"v":{n}}}\n' for n in range(250))
    widerow("row", "put", "cards", "--input", "-", typed=lines)
    whole = widerow("row", "scan", "cards").stdout.splitlines()
    assert len(whole) == 250
    table = widerow("row", "scan", "cards", "--output", "table")
    assert table.stdout.count("\n") == 101
    assert "100 rows of cards\n" in table.stderr
    found = re.search(r"--from '(.*?)' goes on", table.stderr)
    assert found
    rest = widerow("row", "scan", "cards", "--from", found[1])
    assert rest.stdout.splitlines() == whole[100:]
    backward = widerow("row", "scan", "cards", "--reverse", "--limit", 3, "--where", "v < 100")
    assert [each["n"] for each in rows(backward)] == [99, 98, 97]
    assert widerow("row", "count", "cards").stdout == "250\n"
    counted = widerow("row", "count", "cards", "--where", "v >= 100", "--json", "--workers", 2)
    assert json.loads(counted.stdout) == {"table": "cards", "rows": 150}


@pytest.mark.usefixtures("cards")
def test_a_filter_may_test_what_is_not_shown(widerow: Widerow) -> None:
    """semantics §5.3: the server tests the columns that are read."""
    widerow("row", "put", "cards", "a", 1, "x=1", "y=1")
    widerow("row", "put", "cards", "a", 2, "x=2.0", "y=2")
    widerow("row", "put", "cards", "a", 3, "y=3")
    found = widerow("row", "scan", "cards", "--columns", "y", "--where", "x >= 1")
    assert rows(found) == [{"card": "a", "n": 1, "y": 1}, {"card": "a", "n": 2, "y": 2}]
    key_only = widerow("row", "scan", "cards", "--columns", "nosuch")
    assert [each["n"] for each in rows(key_only)] == [1, 2, 3]
    keys = widerow("row", "scan", "cards", "--columns", "y", "--where", "n >= 2 and card = 'a'")
    assert rows(keys) == [{"card": "a", "n": 2, "y": 2}, {"card": "a", "n": 3, "y": 3}]
    with pytest.raises(WiderowError, match="card is string, and is compared with integer"):
        widerow("row", "scan", "cards", "--where", "card = 1")
    hidden = widerow("row", "get", "cards", "a", 1, "--where", "x > 5", expect=1)
    assert hidden.stderr == "cards has no such row, or --where hides it\n"


@pytest.mark.usefixtures("cards")
def test_conditions_of_writes_hold_or_change_nothing(widerow: Widerow) -> None:
    missing = widerow("row", "update", "cards", "a", 1, "x=1", "--if-exists", expect=1)
    assert "OTSConditionCheckFail" in missing.stderr
    widerow("row", "put", "cards", "a", 1, "x=1", "--if-not-exists")
    widerow("row", "put", "cards", "a", 1, "x=2", "--if-not-exists", expect=1)
    widerow("row", "update", "cards", "a", 1, "x=3", "--if", "x = 2", expect=1)
    widerow("row", "delete", "cards", "a", 1, "--if", "x = 2", expect=1)
    widerow("row", "update", "cards", "a", 1, "x=4", "--if", "x = 1 and y is null")
    assert rows(widerow("row", "get", "cards", "a", 1)) == [{"card": "a", "n": 1, "x": 4}]
    widerow("row", "delete", "cards", "a", 1, "--if", "x = 4")
    assert widerow("row", "get", "cards", "a", 1, expect=1).stdout == ""


@pytest.mark.usefixtures("cards")
def test_a_column_or_one_version_is_deleted(widerow: Widerow) -> None:
    widerow("row", "put", "cards", "a", 1, "x=1", "y=1")
    widerow("row", "update", "cards", "a", 1, "x=2")
    (row,) = rows(widerow("row", "get", "cards", "a", 1, "--max-versions", "all"))
    cells = row["@cells"]
    assert isinstance(cells, dict)
    newest = cells["x"][0][0]
    widerow("row", "update", "cards", "a", 1, "--delete", f"x@{newest}", "--delete", "y")
    assert rows(widerow("row", "get", "cards", "a", 1)) == [{"card": "a", "n": 1, "x": 1}]


def test_what_the_server_counts_up_is_printed(widerow: Widerow) -> None:
    widerow("table", "create", "log", "host:string", "id:int:auto")
    first = widerow("row", "put", "log", "h", "x=1").stdout
    found = re.fullmatch(r"host=h id=(\d+)\n", first)
    assert found
    assert rows(widerow("row", "get", "log", "h", found[1])) == [
        {"host": "h", "id": int(found[1]), "x": 1}
    ]
    widerow("row", "put", "log", "--input", "-", typed='{"host":"h"}\n' * 3)
    assert widerow("row", "count", "log").stdout == "4\n"


def test_a_copy_keeps_the_numbers_that_rows_had(widerow: Widerow) -> None:
    """By lines, as docs/start/from-tablestore.md says; a single put makes no such row."""
    for name in ("log", "copy"):
        widerow("table", "create", name, "host:string", "id:int:auto")
    widerow("row", "put", "log", "--input", "-", typed='{"host":"h","x":1}\n' * 3)
    lines = widerow("row", "scan", "log", "--output", "jsonl").stdout
    widerow("row", "put", "copy", "--input", "-", typed=lines)
    assert widerow("row", "scan", "copy", "--output", "jsonl").stdout == lines
    refused = widerow("row", "put", "copy", "h", 7, "x=1", expect=1)
    assert "OTSConditionCheckFail" in refused.stderr
    widerow("row", "put", "copy", "--input", "-", typed=lines)  # they are there already
    assert widerow("row", "count", "copy").stdout == "3\n"


@pytest.mark.usefixtures("cards")
def test_lines_that_are_refused_are_told_and_the_others_stored(widerow: Widerow) -> None:
    lines = (
        '{"card":"a","n":1,"x":1}\n\nnonsense\n{"card":"a","n":2,"#":1}\n{"card":"a","n":1,"x":2}\n'
    )
    done = widerow("row", "put", "cards", "--input", "-", typed=lines, expect=1)
    told = done.stderr.splitlines()
    assert told[0].startswith("line 3: it is not JSON")
    assert told[1].startswith("line 4: OTSParameterInvalid")
    assert told[-1] == "2 rows put into cards, 2 refused"
    assert rows(widerow("row", "scan", "cards")) == [{"card": "a", "n": 1, "x": 2}]
    again = widerow("row", "put", "cards", "--input", "-", "--if-not-exists", typed=lines, expect=1)
    assert again.stderr.count("OTSConditionCheckFail") == 2


# --- tables --------------------------------------------------------------------------------------


def test_a_table_is_made_shown_changed_and_dropped(widerow: Widerow) -> None:
    key = ("id:integer", "name:string", "seq:integer:auto")
    options = ("--ttl", "90d", "--max-versions", 2, "--define", "a:double,b:blob", "--stream", 24)
    widerow("table", "create", "t", *key, *options)
    shown = json.loads(widerow("table", "show", "t", "--json").stdout)
    assert [each["name"] for each in shown["key"]] == ["id", "name", "seq"]
    assert shown["key"][2]["auto_increment"] is True
    assert (shown["ttl"], shown["max_versions"], shown["stream_hours"]) == (7_776_000, 2, 24)
    assert shown["defined_columns"] == [
        {"name": "a", "type": "double"},
        {"name": "b", "type": "binary"},
    ]
    widerow("table", "update", "t", "--undefine", "b", "--define", "c:bool", "--stream", "off")
    widerow("table", "update", "t", "--ttl", "never", "--allow-update", "false")
    shown = json.loads(widerow("table", "show", "t", "--json").stdout)
    assert [each["name"] for each in shown["defined_columns"]] == ["a", "c"]
    assert (shown["ttl"], shown["allow_update"], shown["stream_hours"]) == (-1, False, None)
    assert widerow("table", "list").stdout == "t\n"
    with pytest.raises(WiderowError, match="give --yes"):
        widerow("table", "drop", "t")
    widerow("table", "drop", "t", "--yes")
    assert json.loads(widerow("table", "list", "--json").stdout) == {"tables": []}
    gone = widerow("table", "drop", "t", "--yes", "--if-exists")
    assert gone.stderr == "there is no table t\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("table", "create", "t", "id"), "a key column is NAME:TYPE"),
        (("table", "create", "t", "id:double"), "a key column is NAME:TYPE"),
        (("table", "create", "t", "id:int", "--ttl", "soon"), "write seconds"),
        (("table", "create", "t", "id:int", "--define", "a"), "write NAME:TYPE"),
        (("table", "create", "t", "id:int", "--allow-update", "maybe"), "write true or false"),
        (("table", "create", "t", "id:int", "--stream", "-1"), "write hours"),
        (("table", "update", "cards"), "nothing to change"),
        (("table", "show", "nosuch"), "there is no table nosuch in the instance shop at http"),
        (("row", "get", "nosuch", "1"), "there is no table nosuch"),
        (("row", "get", "cards", "a"), "no value of n"),
        (("row", "get", "cards", "a", "1", "x=1"), "x is not in the key"),
        (("row", "put", "cards", "a", "1", "--if-exists", "--if-not-exists"), "not both"),
        (("row", "put", "cards", "a", "1", "--json", "{}"), "leave out the other words"),
        (("row", "put", "cards", "a", "1", "--input", "-"), "leave out the other words"),
        (("row", "put", "cards", "--input", "no/such"), "no/such cannot be read"),
        (("row", "put", "cards", "a", "1", "b:binary=@no/such"), "@no/such cannot be read"),
        (("row", "update", "cards", "a", "1"), "nothing to change"),
        (("row", "update", "cards", "a", "1", "--increment", "x=1.5"), "not an integer"),
        (("row", "update", "cards", "a", "1", "--increment", "x:double=1"), "whole number"),
        (("row", "update", "cards", "a", "1", "--delete", "x:int"), "NAME@VERSION"),
        (("row", "scan", "cards", "--limit", "-1"), "write a number"),
        (("row", "scan", "cards", "--output", "xml"), "table, json, jsonl, csv"),
        (("row", "scan", "cards", "--max-versions", "0"), "a number from 1 on, or all"),
        (("row", "scan", "cards", "--time-range", "x..y"), "not a time"),
        (("row", "scan", "cards", "--time-range", "5..5"), "is empty"),
        (("profile", "use", "nosuch"), "no profile nosuch"),
        (("table", "list", "--profile", "nosuch"), "no profile nosuch"),
    ],
)
@pytest.mark.usefixtures("cards")
def test_what_cannot_be_done_says_why_and_changes_nothing(
    widerow: Widerow, words: tuple[str, ...], told: str
) -> None:
    with pytest.raises(WiderowError, match=re.escape(told)):
        widerow(*words)
    assert widerow("table", "list").stdout == "cards\n"
    assert widerow("row", "count", "cards").stdout == "0\n"


@pytest.mark.usefixtures("cards")
def test_an_error_of_the_server_has_code_hint_and_request(widerow: Widerow) -> None:
    with pytest.raises(Refused) as caught:
        widerow("row", "put", "cards", "a", 1, "#=1")
    assert caught.value.code == "OTSParameterInvalid"
    assert "do not begin with #" in caught.value.hint
    assert caught.value.request_id


def test_a_write_that_nobody_takes_says_so(widerow: Widerow, server: WiderowServer) -> None:
    server.stop()
    with pytest.raises(Unreachable, match="nothing listens at"):
        widerow("table", "drop", "t", "--yes")


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize(
    "words", ["table drop {} --yes", "table drop {}", "table update {} --ttl 9d"]
)
@pytest.mark.parametrize(
    ("name", "advice"),
    [("CARDS", r"\. Did you mean 'cards'\?$"), ("nope", "; `widerow table list` shows those")],
)
def test_a_table_that_is_not_there_is_answered_with_one_of_a_name_like_it(
    widerow: Widerow, words: str, name: str, advice: str
) -> None:
    with pytest.raises(NoSuchTable, match=f"there is no table {name} in the instance.*{advice}"):
        widerow(*words.format(name).split())


@pytest.mark.usefixtures("cards")
def test_csv_needs_columns_that_it_knows(widerow: Widerow) -> None:
    widerow("row", "put", "cards", "a", 1, "x=1", "b:binary=0x6869", "ok=true", 'q=a,"b"')
    assert widerow("row", "scan", "cards", "--output", "csv").stdout == (
        'card,n,b,ok,q,x\na,1,aGk=,true,"a,""b""",1\n'
    )
    assert widerow("row", "scan", "cards", "--output", "json").stdout.startswith('[\n  {"card"')
    empty = widerow("row", "scan", "cards", "--from", "b", "--output", "json")
    assert json.loads(empty.stdout) == []


# --- connections ---------------------------------------------------------------------------------


def test_a_profile_is_a_connection(widerow: Widerow, monkeypatch: pytest.MonkeyPatch) -> None:
    widerow(
        "profile",
        "add",
        "other",
        "--instance",
        "other",
        "--access-key-id",
        "widerow",
        typed="widerow\n",
    )
    listed = json.loads(widerow("profile", "list", "--json").stdout)
    assert listed["current"] == "other"
    assert listed["profiles"]["other"]["access_key_secret"] == "********"
    found = json.loads(widerow("env", "--json").stdout)["connection"]
    assert found["instance"] == {"value": "shop", "source": "WIDEROW_INSTANCE"}
    assert found["access_key_id"]["source"] == "profile other"
    widerow("table", "create", "t", "id:int")
    monkeypatch.setenv("TABLESTORE_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("TABLESTORE_ACCESS_KEY_SECRET", "canary")
    with pytest.raises(WiderowError, match="OTSAuthFailed"):
        widerow("table", "list")
    shown = widerow("env", "--set").stdout
    assert "TABLESTORE_ACCESS_KEY_ID" in shown
    assert "canary" not in shown


# --- the vendor's commands -----------------------------------------------------------------------

TRANSCRIPT = """
create -t people -k '[{"c":"uid","t":"string"},{"c":"pid","t":"integer"}]' --ttl -1 --version 2
use -t people
put -k '["86",6771]' -a '[{"c":"name","v":"redchen"},{"c":"age","v":32,"isint":true}]'
put --pk '["86",6772]' --attr '[{"c":"name","v":"x"}]' --condition not_exist
update --pk '["86",6771]' --attr '[{"c":"n","v":1,"t":"integer"}]' --increment '[{"c":"age","v":1}]'
get --pk '["86",6771]'
scan --begin '["86",6772]'
export -o rows.jsonl -c name,age
desc -o people.json
alter --ttl 86400 --version 3 --read_cu 0 --write_cu 0
del -k '["86",6772]'
scan
import -i rows.jsonl --ignore_ts
drop -t people -y
lt
create -i people.json
desc -t people
"""


def test_a_transcript_of_the_vendors_lines(
    widerow: Widerow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = widerow("ts", typed=TRANSCRIPT)
    assert done.stderr == ""
    assert done.stdout.startswith("Created the table people.\nUsing people.\nSuccess.\nSuccess.\n")
    assert "| 86  | 6771 | 33  | 1 | redchen |" in done.stdout
    assert "2 rows written to rows.jsonl." in done.stdout
    assert "2 rows imported.\nDropped the table people.\nNo table in the instance shop." in (
        done.stdout
    )
    lines = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert [each["PK"]["Values"] for each in lines] == [["86", 6771], ["86", 6772]]
    assert lines[0]["Attr"]["Values"][0].items() >= {"C": "age", "V": 33, "IsInt": True}.items()
    definition = json.loads(done.stdout[done.stdout.rindex("Created the table people.\n") + 26 :])
    assert definition == json.loads(Path("people.json").read_text())
    assert definition["Option"] == {"TTL": -1, "Version": 2}


def test_indexes_and_tunnels_of_the_vendors_shell(widerow: Widerow) -> None:
    widerow("table", "create", "t", "a:string", "b:string", "--define", "c:string,d:string")
    script = """use -t t
create_index -n by_c -k c -a d
create_index -n by_d -i local -k a,d
drop_index -n by_c
create_tunnel -n watch -m stream_data_only
list_tunnel
describe_tunnel -n watch
drop_tunnel -n watch
list_tunnel
get_splits -s 1
"""
    done = widerow("ts", typed=script)
    assert done.stderr == ""
    for told in (
        "Created the index by_d of t",
        "Dropped the index by_c of t",
        "Dropped the tunnel watch",
    ):
        assert f"{told}.\n" in done.stdout
    assert "Created the tunnel watch: " in done.stdout
    assert "| watch " in done.stdout
    assert "No tunnel of t." in done.stdout
    assert "| -inf   | +inf |" in done.stdout
    shown = json.loads(widerow("table", "show", "t", "--json").stdout)
    assert [each["name"] for each in shown["indexes"]] == ["by_d"]


def test_a_script_runs_to_its_end_and_has_the_first_failure(
    widerow: Widerow, tmp_path: Path
) -> None:
    script = tmp_path / "script.ts"
    script.write_text(
        "use -t nosuch\nget -k '[1]'\nlits\nsearch\ndrop -t x\nput\nlist\nexit\nnever\n"
    )
    done = widerow("ts", "--file", script, expect=2)
    assert done.stdout == "No table in the instance shop.\n"
    told = done.stderr.splitlines()
    assert "there is no table nosuch" in told[0]
    assert told[1].startswith("no table is in use")
    assert told[2] == "there is no command lits; did you mean list? `help` lists them"
    assert told[3].startswith("search: there is no editor here")
    assert "give -y" in told[4]
    assert len(told) == 6


SERIES = """create -m timeseries -t cars --ttl 86400
use --ts -t cars
putts --k '["car","c1",["brand=a","id=1"]]' --field '[{"c":"speed","v":24,"isint":true}]' --time %d
putts --k '["car","c1",["id=1","brand=a"]]' --field '[{"c":"ok","v":true}]' --time %d
getts -k '["car","c1",["id=1","brand=a"]]'
getts -k '["car","c1",["id=1","brand=a"]]' --backward -l 1 --columns speed
getts -k '["car","c1",["id=1","brand=a"]]' --time_start 1 --time_end 2
import_timeseries -i points.txt -l 3
qtm --measurement c* --tags '["id=1"]'
update_timeseries_meta --k '["cpu","",["host=h1"]]' --attrs '["city=yuhang"]'
qtm --attrs '["city=yu*"]'
qtm -l 1
qtm --datasource nobody
list
list -w
desc
alter --ttl -1
desc -t cars
drop -t cars -y
list
"""


def test_tables_of_time_series_of_the_vendors_shell(
    widerow: Widerow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vendor's pages of the CLI on timeseries tables, with their forms of values."""
    monkeypatch.chdir(tmp_path)
    now_us = time.time_ns() // 1000
    lines = [f"cpu,host=h{each} usage=58i {now_us}000\n" for each in (1, 2, 3, 4)]
    Path("points.txt").write_text("".join(lines))
    done = widerow("ts", typed=SERIES % (now_us - 2, now_us - 1))
    assert done.stderr == ""
    said = done.stdout
    assert said.startswith(
        "Created the table cars of time series.\nUsing cars, a table of time series.\n"
        "Success.\nSuccess.\n"
    )
    key = '| car     | c1           | ["brand=a","id=1"] |'
    assert said.count(key) == 3
    assert f"{key} {now_us - 2} |      | 24    |" in said
    assert f"{key} {now_us - 1} | true |       |" in said
    assert f"{key} {now_us - 2} | 24    |\n" in said  # the newest that has the field
    assert "No point.\n" in said
    assert "3 points imported.\n" in said
    assert said.count('| ["host=h1"] | ["city=yuhang"] |') == 1
    assert said.count("There are more series: --limit 2 shows more.\n") == 1
    assert "No series.\n" in said
    assert said.count("No table in the instance shop.\n") == 2  # of wide columns, and in the end
    documents = said[said.index("{") :].split("Changed the table cars.\n")
    before = json.loads(documents[0])
    after, _ = json.JSONDecoder().raw_decode(documents[1])
    assert before["Option"] == {"TTL": 86400, "MetaTTL": -1, "AllowUpdateAttributes": True}
    assert after["Option"]["TTL"] == -1
    assert said.index("| cars      |") < said.index("{")


def test_what_tables_of_time_series_do_not_have_is_told(widerow: Widerow) -> None:
    key = """'["a","",["t=1"]]'"""
    script = f"""create -m timeseries -t ts
create -m timeseries -t ts --version 3
create -m other -t ts
use --ts -t nosuch
putts --k '["a"]' --field '[]'
use --ts -t ts
alter --read_cu 1
alter
get -k '[1]'
putts --k '[1]' --field '[]'
putts --k 'x' --field '[]'
putts --k {key} --field '[{{"c":"f","v":1,"ts":1}}]'
putts --k {key} --field '[{{"c":"f","v":1}},{{"c":"f","v":2}}]'
putts --k {key} --field '[{{"c":"f","v":1}}]' --time -1
putts --k '["a","",["t"]]' --field '[{{"c":"f","v":1}}]'
putts --k '["a","",["t=1","t=2"]]' --field '[{{"c":"f","v":1}}]'
getts --k {key} --limit 0
putts --k '["a b"]' --field '[{{"c":"f","v":1}}]'
"""
    told = widerow("ts", typed=script, expect=2).stderr.splitlines()
    found = [line for line in told if not line.startswith("  ")]  # without hints and requests
    for line, expected in zip(
        found,
        (
            "create -m timeseries: a table of time series has no --version",
            "--mode other: it is widecolumn or timeseries",
            "there is no timeseries table nosuch in the instance shop",
            "no table of time series is in use",
            "alter: a table of time series has no --read_cu",
            "nothing to change: give --ttl",
            "ts is a table of time series, which putts",
            "--k [1]: a measurement and a data source are texts",
            "--k 'x' is not JSON",
            "f: a field has no ts",
            "the field f is given twice",
            "--time -1: write microseconds since 1970",
            "--k: tags are a list such as",
            "--k: ",
            "--limit is 1 or more",
            "OTSParameterInvalid",
        ),
        strict=True,
    ):
        assert line.startswith(expected)


@pytest.mark.usefixtures("cards")
def test_the_mode_of_statements_lasts_until_exit(widerow: Widerow) -> None:
    script = "list\nsql\nSELECT 1\n  AS one; SHOW TABLES;\nselec;\nexit;\nlist\n"
    done = widerow("ts", typed=script, expect=1)
    assert "┃ one ┃" in done.stdout
    assert done.stdout.count("cards") == 3
    assert "SELEC statements" in done.stderr
    assert "│   2 │" in widerow("ts", "sql", "SELECT 1 + 1 AS two").stdout
    assert "syntax" in widerow("ts", "sql", "SELECT", expect=1).stderr


@pytest.mark.usefixtures("cards")
def test_the_vendors_drop_asks_about_a_table_that_is_there_only(endpoint: Endpoint) -> None:
    asked: list[str] = []
    said: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return "n"

    lines = iter(["drop -t nope", "drop -t cards", "exit"])
    session = TsSession(endpoint, {}, TS_COMMANDS, said.append, lambda _: "", ask=ask)
    with session.client:
        converse(ts_shell(session), lambda _: next(lines))
    assert asked == ["Drop the table cards with all its rows? [y/N] "]
    assert said == ["Nothing was dropped."]


@pytest.mark.usefixtures("cards")
def test_one_line_of_the_vendors(widerow: Widerow) -> None:
    assert widerow("ts", "list").stdout.count("cards") == 1
    widerow("ts", "-t", "cards", "put", "-k", '["a",1]', "-a", '[{"c":"x","v":true}]')
    assert "| a    | 1 | true |" in widerow("ts", "-t", "cards", "get", "--pk", '["a",1]').stdout
    refused = widerow(
        "ts", "-t", "cards", "put", "-k", '["a",1]', "--condition", "not_exist", expect=1
    )
    said = "OTSConditionCheckFail: Row exists which is expected nonexistent\n  The row"
    assert refused.stderr.startswith(said)
    assert "\n  request " in refused.stderr
    assert "Example: put --pk" in widerow("ts", "put", "help").stdout
    assert widerow("ts", "help").stdout.count("\n") > 30


def test_config_keeps_a_profile(widerow: Widerow, server: WiderowServer) -> None:
    script = f"""config --endpoint {server.endpoint} --instance other --id widerow --key widerow
create -t elsewhere -k '[{{"c":"a","t":"string"}}]'
config
"""
    done = widerow("ts", typed=script)
    assert "Kept as the profile default" in done.stdout
    assert "instance other" in done.stdout
    assert widerow("table", "list").stdout == ""
    assert widerow("table", "list", "--instance", "other").stdout == "elsewhere\n"
    found = json.loads(widerow("profile", "list", "--json").stdout)
    assert found["profiles"]["default"]["instance"] == "other"
