"""Lines of the vendor's command line, and what they are about (ts-cli)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.shell.command import Arguments
from widerow.cli.tablestore.batches import json_row
from widerow.cli.tablestore.words import WordInvalid
from widerow.cli.ts.command import (
    TsLines,
    TsUsage,
    find_ts_command,
    int32_of,
    line_words,
    parse_arguments,
)
from widerow.cli.ts.commands import TS_COMMANDS
from widerow.cli.ts.json_rows import (
    attribute_edits,
    definition_json,
    definition_words,
    exported_edits,
    exported_line,
    increment_edits,
    key_words,
)
from widerow.client.rows import CellEdit
from widerow.client.tables import TableFacts
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.tablestore.row import CellOperation
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.rows.plain_values import Row, VersionedValue

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.one_of(
    st.integers(INT64_MIN, INT64_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    TEXTS,
    st.binary(max_size=6),
)
TABLE = TableFacts(
    "people",
    (KeyColumn("uid", KeyType.STRING), KeyColumn("pid", KeyType.INTEGER)),
    {},
    1,
    86_400,
    0,
)
COUNTED = TABLE._replace(key=(TABLE.key[0], KeyColumn("pid", KeyType.INTEGER, auto_increment=True)))


def arguments(line: str) -> Arguments | None:
    name, *words = line_words(line)
    command = find_ts_command(name, TS_COMMANDS)
    assert command is not None
    return parse_arguments(command, words)


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("use -t mytable", {"--table": "mytable"}),
        ("use --table=mytable", {"--table": "mytable"}),
        ("drop -t mytable -y", {"--table": "mytable", "--yes": ""}),
        ("lt", {}),
        ("points -s 2", {"--size": "2"}),
        (
            """put --pk '["86",6771]' -a '[{"c":"n","v":1}]' --condition exist""",
            {"--pk": '["86",6771]', "--attr": '[{"c":"n","v":1}]', "--condition": "exist"},
        ),
        (
            "config --endpoint http://x --instance i --id ak --key sk --token t",
            {
                "--endpoint": "http://x",
                "--instance": "i",
                "--id": "ak",
                "--key": "sk",
                "--token": "t",
            },
        ),
        ("export -o f.json -c name,age", {"--output": "f.json", "--columns": "name,age"}),
        ("import -i f.json --ignore_ts", {"--input": "f.json", "--ignore_ts": ""}),
        (
            "create_index -t t -n i -i local -k a,b -a c",
            {"--table": "t", "--name": "i", "--index_type": "local", "--pk": "a,b", "--attr": "c"},
        ),
        (
            "create_tunnel -t t -n x -m base_and_stream",
            {"--table": "t", "--name": "x", "--mode": "base_and_stream"},
        ),
        ("alter --ttl -1 --version 3", {"--ttl": "-1", "--version": "3"}),
    ],
)
def test_the_vendors_lines_are_understood(line: str, values: dict[str, str]) -> None:
    found = arguments(line)
    assert found is not None
    assert dict(found.pairs) == values


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("use", "use needs --table"),
        ("use mytable", "use does not take mytable"),
        ("use -t", "--table needs a value"),
        ("scan --begin", "--begin needs a value: KEY"),
        ("get -k x --colour y", "does not take --colour"),
        ("drop -t x --yes=no", "drop does not take --yes=no"),
    ],
)
def test_a_line_that_is_none_says_what_is_missing(line: str, told: str) -> None:
    with pytest.raises(TsUsage, match=told):
        arguments(line)


def test_a_number_is_one() -> None:
    assert int32_of(Arguments((("--limit", "5"),)), "--limit") == 5
    assert int32_of(Arguments((("--ttl", "-1"),)), "--ttl") == -1
    for text in ("x", "", "1.5", "99999999999", "--1"):
        with pytest.raises(TsUsage, match="not a number"):
            int32_of(Arguments((("--limit", text),)), "--limit")


@pytest.mark.parametrize("command", TS_COMMANDS, ids=lambda each: each.name)
def test_every_command_has_its_own_names_and_tells_what_it_does(command: object) -> None:
    names = [name for each in TS_COMMANDS for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))
    (found,) = [each for each in TS_COMMANDS if each is command]
    assert found.description in found.usage
    assert parse_arguments(found, ["help"]) is None
    keys = [name for flag in found.flags for name in flag.names]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    "command", [each for each in TS_COMMANDS if each.example], ids=lambda each: each.name
)
def test_examples_of_usages_can_be_typed(command: object) -> None:
    (found,) = [each for each in TS_COMMANDS if each is command]
    name, *words = line_words(found.example)
    assert name == found.name
    assert parse_arguments(found, words) is not None


def test_a_quote_that_is_open_goes_on_in_the_next_line() -> None:
    lines = ["# a comment", "", "list", "put -a '[1,", "2]'", "get 'x"]
    reader = TsLines()
    found = [command for line in lines for command in reader.take(line)]
    assert [*found, *reader.end()] == ["list", "put -a '[1,\n2]'", "get 'x"]


# --- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "value"),
    [
        ('{"c":"a","v":"x"}', "x"),
        ('{"c":"a","v":32}', 32.0),
        ('{"c":"a","v":32,"isint":true}', 32),
        ('{"c":"a","v":32,"t":"integer"}', 32),
        ('{"c":"a","v":32.0,"t":"integer"}', 32),
        ('{"c":"a","v":true}', True),
        ('{"c":"a","v":"aGk=","t":"binary"}', b"hi"),
        ('{"C":"a","V":1,"T":"double"}', 1.0),
    ],
)
def test_a_number_is_a_double_unless_it_says_otherwise(given_: str, value: object) -> None:
    (edit,) = attribute_edits(f"[{given_}]")
    assert (edit.column, edit.value, type(edit.value)) == ("a", value, type(value))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "not JSON"),
        ("{}", "not a JSON list"),
        ("[1]", "not an object"),
        ('[{"v":1}]', '"c": name'),
        ('[{"c":"a"}]', '"v": value'),
        ('[{"c":"a","v":1,"x":2}]', '"c": name'),
        ('[{"c":"a","v":null}]', "null is not a value of a column"),
        ('[{"c":"a","v":NaN,"isint":true}]', "NaN is not an integer"),
        ('[{"c":"a","v":Infinity}]', "Infinity is not a double"),
        ('[{"c":"a","v":1.5,"t":"integer"}]', "1.5 is not an integer"),
        (f'[{{"c":"a","v":{2**63},"isint":true}}]', "is not an integer"),
        ('[{"c":"a","v":"x","t":"number"}]', "number is not a type"),
        ('[{"c":"a","v":"x","ts":"now"}]', "milliseconds"),
    ],
)
def test_a_column_that_is_none_says_why(text: str, told: str) -> None:
    with pytest.raises(WordInvalid, match=told):
        attribute_edits(text)


def test_an_increment_is_a_whole_number() -> None:
    assert increment_edits('[{"c":"n","v":2}]') == [CellEdit("n", 2, None, CellOperation.INCREMENT)]
    for text in ('[{"c":"n","v":1.5}]', '[{"c":"n","v":true}]', '[{"c":"n","v":1,"ts":5}]'):
        with pytest.raises(WordInvalid, match="whole number"):
            increment_edits(text)


@given(
    TEXTS,
    st.integers(INT64_MIN, INT64_MAX),
    st.dictionaries(TEXTS, st.tuples(st.integers(0, 2**50), VALUES), max_size=4),
)
def test_an_exported_row_is_imported_as_it_was(
    uid: str, pid: int, columns: dict[str, tuple[int, bytes]]
) -> None:
    cells = tuple(
        VersionedValue(name, version, value) for name, (version, value) in columns.items()
    )
    row = Row((("uid", uid), ("pid", pid)), cells)
    key, edits = exported_edits(exported_line(row), TABLE, ignore_versions=False)
    assert key == row.key
    assert [(each.column, each.version, repr(each.value)) for each in edits] == [
        (each.column, each.version, repr(each.value)) for each in cells
    ]
    _, plain = exported_edits(exported_line(row), TABLE, ignore_versions=True)
    assert all(each.version is None for each in plain)


def test_the_vendors_export_is_read() -> None:
    line = (
        '{"PK":{"Values":["86",6771]},"Attr":{"Values":'
        '[{"C":"age","V":32,"TS":1626860801604,"IsInt":true}]}}'
    )
    key, edits = exported_edits(line, TABLE, ignore_versions=False)
    assert key == (("uid", "86"), ("pid", 6771))
    assert edits == [CellEdit("age", 32, 1626860801604)]
    for wrong in ("[]", '{"PK":1}', '{"PK":{"Values":["86"]}}', '{"PK":{}}', "x"):
        with pytest.raises(WordInvalid):
            exported_edits(wrong, TABLE, ignore_versions=False)


def test_a_definition_is_read_as_it_was_shown() -> None:
    document = {
        "name": "people",
        "key": [
            {"name": "uid", "type": "string"},
            {"name": "pid", "type": "integer", "auto_increment": True},
        ],
        "ttl": -1,
        "max_versions": 2,
        "reserved_read": 0,
        "reserved_write": 0,
    }
    assert definition_words(json.dumps(definition_json(document))) == (
        "people",
        ["uid:string", "pid:integer:auto"],
        {"ttl": "-1", "max_versions": 2, "reserved_read": 0, "reserved_write": 0},
    )
    assert key_words('[{"c":"uid","t":"string","opt":"none"}]') == ["uid:string"]
    for wrong in ("x", "{}", "[]", "[1]", '[{"c":"a","t":"string","opt":"maybe"}]'):
        with pytest.raises(WordInvalid):
            key_words(wrong)


# --- our own JSON rows ---------------------------------------------------------------------------


def test_a_json_row_has_natural_types_versions_or_neither() -> None:
    text = '{"uid":"a","pid":1,"n":1,"d":1.0,"t":"x","b":{"binary":"aGk="},"ok":true,"no":null}'
    _, edits = json_row(text, TABLE)
    assert edits == [
        CellEdit("n", 1),
        CellEdit("d", 1.0),
        CellEdit("t", "x"),
        CellEdit("b", b"hi"),
        CellEdit("ok", value=True),
    ]
    _, versions = json_row('{"uid":"a","pid":1,"@cells":{"n":[[5,1],[4,2]]}}', TABLE)
    assert versions == [CellEdit("n", 1, 5), CellEdit("n", 2, 4)]
    assert json_row('{"uid":"a"}', COUNTED)[1] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"uid":"a"}', "no value of pid"),
        ('{"uid":1,"pid":1}', "1 is not a value of uid"),
        ('{"uid":"a","pid":1,"n":[1]}', "not a value of a column"),
        ('{"uid":"a","pid":1,"@cells":{"n":1}}', "no list of versions"),
        ('{"uid":"a","pid":1,"n":NaN}', "do not store"),
    ],
)
def test_a_json_row_that_is_none_says_why(text: str, told: str) -> None:
    with pytest.raises(WordInvalid, match=told):
        json_row(text, TABLE)
