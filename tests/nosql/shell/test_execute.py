"""`execute`: definition statements in the shell (cli §6, ddl §1)."""

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

CREATE = "execute 'CREATE TABLE ddl1 (id INTEGER, name STRING, PRIMARY KEY(id))'"


def test_statements_say_that_they_are_done(shell: "Shell") -> None:
    done = ("Statement completed successfully\n", 0)
    assert shell.run(CREATE) == done
    assert shell.run(CREATE.replace("TABLE", "TABLE IF NOT EXISTS")) == (
        "Statement did not require execution\n",
        0,
    )
    assert shell.run("""put table -name ddl1 -json '{"id":1,"name":"a"}'""")[1] == 0
    assert shell.run('execute "CREATE INDEX byName ON ddl1 (name)"') == done
    assert "byName (name), type: SECONDARY" in shell.run("show indexes")[0]
    assert shell.run('execute "ALTER TABLE ddl1 (ADD more JSON)";') == done
    assert shell.run("exec\n'DROP TABLE ddl1;';") == done
    assert shell.run("execute 'DROP TABLE IF EXISTS ddl1'")[0] == (
        "Statement did not require execution\n"
    )


def test_show_and_describe_print_their_text(shell: "Shell") -> None:
    shell.run(CREATE)
    assert shell.run("execute 'SHOW TABLES'") == ("tables\n  ddl1\n", 0)
    text, code = shell.run("execute 'DESCRIBE AS JSON TABLE ddl1'")
    assert '"name" : "ddl1"' in text
    assert code == 0


# cli §6: failures carry the line as it was typed
FAILURES = [
    (
        CREATE,
        "Error: User error in query: CREATE TABLE failed for table ddl1: Table ddl1 already exists",
    ),
    (
        "execute 'DROP TABLE nosuch'",
        (
            "Error: User error in query: DROP TABLE failed for table nosuch: "
            "Table does not exist: nosuch"
        ),
    ),
    ("execute ''", "Empty statement"),
]


@pytest.mark.parametrize(("line", "message"), FAILURES)
def test_failures(shell: "Shell", line: str, message: str) -> None:
    shell.run(CREATE)
    assert shell.run(line) == (f"Error handling command {line}: {message}\n", 1)


def test_a_fault_in_the_text_has_its_place(shell: "Shell") -> None:
    text, code = shell.run("execute 'bogus'")
    assert text.startswith("Error handling command execute 'bogus': Error: at (1, 0)")
    assert code == 1


def test_a_statement_is_one_word(shell: "Shell") -> None:
    text, code = shell.run("execute SHOW TABLES")
    assert text.startswith("Unknown argument: TABLES\n")
    assert code == 64
    assert shell.run("execute;")[0].startswith(
        "Incorrect number of arguments for command: execute\n"
    )


def test_names_are_looked_for_in_the_namespace_of_the_shell(shell: "Shell") -> None:
    assert shell.run("execute 'CREATE NAMESPACE shop'\nnamespace shop")[1] == 0
    assert shell.run(CREATE)[1] == 0
    assert shell.run("show tables")[0] == "Tables in all namespaces: \n\tshop:ddl1\n\t\n"


def test_the_grammar_is_loaded_only_where_it_is_needed() -> None:
    code = "import sys, widerow.cli.kv.start; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  # our own
