"""`execute` of statements about rows, the forms of their results, completion (cli §6, ddl §2)."""

import json
from typing import TYPE_CHECKING

import pytest

from widerow.cli.kv.shell import kv_shell

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

TABLE = (
    "execute 'CREATE TABLE t (a STRING, n INTEGER, doc JSON, at TIMESTAMP(3), bytes BINARY, "
    "PRIMARY KEY(SHARD(a), n))'\n"
    "execute \"INSERT INTO t VALUES ('x', 1, {'k': [1, null]}, '2024-01-02T03:04:05.678', "
    "'AAEC')\"\n"
    "execute \"INSERT INTO t (a, n) VALUES ('a,b', 20)\"\n"
    "execute \"INSERT INTO t (a, n) VALUES ('', 3)\"\n"
)
ALL = "execute 'SELECT * FROM t ORDER BY a'"


@pytest.fixture
def filled(shell: "Shell") -> "Shell":
    inserted = 3 * '{"NumRowsInserted":1}\n\n1 row returned\n'
    assert shell.run(TABLE) == (f"Statement completed successfully\n{inserted}", 0)
    return shell


def test_rows_are_json_on_a_line_each_with_their_number_behind(filled: "Shell") -> None:
    assert filled.run(ALL)[0] == (
        '{"a":"","n":3,"doc":null,"at":null,"bytes":null}\n'
        '{"a":"a,b","n":20,"doc":null,"at":null,"bytes":null}\n'
        '{"a":"x","n":1,"doc":{"k":[1,null]},"at":"2024-01-02T03:04:05.678Z","bytes":"AAEC"}\n'
        "\n3 rows returned\n"
    )
    assert filled.run("execute 'SELECT n FROM t WHERE n > 99'") == ("\n0 row returned\n", 0)


def test_a_result_reads_like_the_row_that_get_shows(filled: "Shell") -> None:
    row = filled.run("get table -name t -field a -value x -field n -value 1")[0]
    assert filled.run("execute \"SELECT * FROM t WHERE a = 'x'\"")[0].startswith(row)


def test_rows_are_written(filled: "Shell") -> None:
    changed = "execute \"UPDATE t SET at = '2025-01-01' WHERE a = 'x' AND n = 1\""
    assert filled.run(changed)[0].startswith('{"NumRowsUpdated":1}\n')
    gone = "execute 'DELETE FROM t WHERE n < 10 RETURNING a, at'"
    assert sorted(filled.run(gone)[0].splitlines()[:2]) == [
        '{"a":"","at":null}',
        '{"a":"x","at":"2025-01-01T00:00:00.000Z"}',
    ]
    assert filled.run("aggregate table -name t -count") == ("Row count: 1\n", 0)


FORMS = [
    (
        "column",
        """ +-----+----+
 |  a  | n  |
 +-----+----+
 |     |  3 |
 | a,b | 20 |
 | x   |  1 |
 +-----+----+
""",
    ),
    (
        "LINE",
        """ > Row 1
 +---+---+
 | a |   |
 | n | 3 |
 +---+---+

 > Row 2
 +---+-----+
 | a | a,b |
 | n | 20  |
 +---+-----+

 > Row 3
 +---+---+
 | a | x |
 | n | 1 |
 +---+---+
""",
    ),
    ("csv", ',3\n"a,b",20\nx,1\n'),
    ("json", '{"a":"","n":3}\n{"a":"a,b","n":20}\n{"a":"x","n":1}\n'),
    (
        "json -pretty",
        "".join(
            f'{{\n  "a" : "{a}",\n  "n" : {n}\n}}\n' for a, n in [("", 3), ("a,b", 20), ("x", 1)]
        ),
    ),
]


@pytest.mark.parametrize(("form", "shown"), FORMS)
def test_forms_of_results(filled: "Shell", form: str, shown: str) -> None:
    word, _, flag = form.partition(" ")
    told = f"Query output mode is {word.upper()}{' ' if flag else ''}{flag}\n"
    assert filled.run(f"mode {form}") == (told, 0)
    assert filled.run("mode") == (told, 0)
    text, code = filled.run("execute 'SELECT a, n FROM t ORDER BY a'")
    assert (text, code) == (f"{shown}\n3 rows returned\n", 0)


def test_values_in_a_grid_stand_on_one_line(filled: "Shell") -> None:
    filled.run(r"""execute "INSERT INTO t (a, n, doc) VALUES ('two\nlines', 5, {'b': 'c\nd'})" """)
    filled.run("mode column")
    text = filled.run("execute 'SELECT a, doc, at FROM t WHERE n = 5'")[0]
    assert r'| two\nlines | {"b":"c\nd"} | NULL |' in text


def test_a_form_that_there_is_not_is_refused(filled: "Shell") -> None:
    assert filled.run("mode table")[1] == filled.run("mode csv -pretty")[1] == 65
    assert filled.run("mode")[0] == "Query output mode is JSON\n"


FAILURES = [
    ("execute 'SELECT nosuch FROM t'", "Error: at (1, 7) No table in the FROM clause has a column"),
    ("execute 'SELECT * FORM t'", "Error: at (1, 9) mismatched input 'FORM' expecting FROM"),
    ("execute 'SELECT * FROM nosuch'", "Table not found: nosuch"),
    ("execute 'SELECT 1/0 FROM t'", "Arithmetic exception in query: / by zero"),
    ("execute 'DECLARE $x INTEGER; SELECT $x FROM t'", "The query contains external variables"),
]


@pytest.mark.parametrize(("line", "message"), FAILURES)
def test_failures_have_the_line_and_the_place(filled: "Shell", line: str, message: str) -> None:
    text, code = filled.run(line)
    assert text.startswith(f"Error handling command {line}: "), text
    assert message in text
    assert code == 1


def test_more_rows_than_a_page_are_all_shown(shell: "Shell") -> None:
    """A page ends at 2 MB; the shell asks for the next one (nosql-wire §6)."""
    shell.run("execute 'CREATE TABLE wide (n INTEGER, text STRING, PRIMARY KEY(n))'")
    table = shell.store.table("wide")
    table.put_many({"n": number, "text": "x" * 100_000} for number in range(30))
    text = shell.run("execute 'SELECT n FROM wide ORDER BY n'")[0]
    assert text == "".join(f'{{"n":{n}}}\n' for n in range(30)) + "\n30 rows returned\n"


def test_show_query_tells_how_a_query_would_run(filled: "Shell") -> None:
    text, code = filled.run("execute \"show query\n SELECT * FROM t WHERE a = 'x'\";")
    assert '"index used": "primary index"' in text
    assert '"="' in text
    assert code == 0
    assert filled.run("execute \"SHOW QUERY DELETE FROM t WHERE a = 'x'\"")[1] == 0
    assert filled.run("aggregate table -name t -count")[0] == "Row count: 3\n"


def test_names_in_statements_are_of_the_namespace_of_the_shell(filled: "Shell") -> None:
    filled.run("execute 'CREATE NAMESPACE shop'\nnamespace shop")
    filled.run("execute 'CREATE TABLE t (k INTEGER, PRIMARY KEY(k))'")
    filled.run("execute 'CREATE TABLE t.child (c INTEGER, PRIMARY KEY(c))'")
    assert filled.run("execute 'UPSERT INTO t VALUES (7)'")[1] == 0
    assert filled.run("execute 'UPSERT INTO t.child VALUES (7, 8)'")[1] == 0
    for query in (
        "SELECT t.k FROM t WHERE t.k = 7",
        "SELECT $u.k FROM t AS $u",
        "SELECT a.k FROM t a LEFT OUTER JOIN t.child c ON a.k = c.k",
    ):
        assert filled.run(f"execute '{query}'")[0] == '{"k":7}\n\n1 row returned\n', query
    assert filled.run("execute 'SELECT n FROM sysdefault:t'")[0].endswith("3 rows returned\n")
    assert filled.run("execute 'DELETE FROM t'")[0].startswith('{"numRowsDeleted":1}')


def test_rows_are_the_value_of_a_report(filled: "Shell") -> None:
    text, code = filled.run("execute 'SELECT n, doc FROM t WHERE n < 3' -json")
    report = json.loads(text)
    assert (report["operation"], report["returnCode"], code) == ("execute", 5000, 0)
    assert report["returnValue"] == [{"n": 1, "doc": {"k": [1, None]}}]


def test_verbose_tells_what_a_statement_cost(filled: "Shell") -> None:
    filled.run("verbose on")
    assert filled.run("execute 'SELECT a FROM t WHERE n = 1'")[0].endswith(
        "1 row returned\n5 read units, 0 write units\n"
    )


def test_tab_completes_tables_columns_and_words_of_a_statement(filled: "Shell") -> None:
    complete = kv_shell(filled.session).completions
    assert complete("execute 'SEL") == ["'SELECT "]
    assert complete('exec "select * fr') == ["FROM "]
    assert complete("execute 'SELECT do") == ["doc "]
    assert {"t ", "a ", "doc "} <= set(complete("execute 'SELECT a FROM "))
    assert complete("mode -p") == ["-pretty "]
