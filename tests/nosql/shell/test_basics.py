"""Finding commands, errors and their exit codes, reports (cli §1)."""

from typing import TYPE_CHECKING

import pytest

from widerow.cli.kv.command import matching
from widerow.cli.kv.commands import COMMANDS

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

LOAD_USAGE = (
    "Usage: load -file <path>\n\tRuns the commands of a file, and stops at the first that fails.\n"
)
CLEAR_USAGE = (
    "Usage: table clear [-name <table-name>] [-all]\n"
    "\tForgets a table that was built, or all of them. The store is not touched.\n"
)

# cli §1: error classes, what is printed, exit codes
ERRORS = [
    ("load -nofile x", f"Unknown argument: -nofile\n{LOAD_USAGE}", 64),
    ("load;", f"Missing required argument (-file) for command: load\n{LOAD_USAGE}", 64),
    ("load -file;", f"Flag -file requires an argument\n{LOAD_USAGE}", 64),
    ("load -file a -file b", f"Flag -file is given twice\n{LOAD_USAGE}", 64),
    ("load -FILE a", f"Unknown argument: -FILE\n{LOAD_USAGE}", 64),
    ("load -file no/such", "Failed to load file: no/such\n", 65),
    (
        "timer sometimes",
        "Invalid argument: sometimes\n\tUsage: timer [on | off]\n",
        65,
    ),
    (
        "table evolve -name nosuch",
        (
            "Error handling command table evolve -name nosuch: "
            "Table: nosuch does not exist in TableMetadata[0 tables]\n"
        ),
        1,
    ),
    (
        "plan remove-table -name nosuch",
        "oracle.kv.impl.admin.IllegalCommandException:Could not find table: nosuch\n",
        1,
    ),
    (
        "plan remove-table -nosuch",
        (
            "Invalid argument: -nosuch\n"
            "Usage: plan remove-table -name <table-name> [-namespace <namespace>] [-keep-data] "
            "[-plan-name <name>] [-wait] [-noexecute] [-force]\n"
            "\tRemoves a table, its indexes and its rows.\n"
        ),
        64,
    ),
    (
        "table clear;",
        f"Missing required argument (-name|-all) for command: clear\n{CLEAR_USAGE}",
        64,
    ),
]


@pytest.mark.parametrize(("line", "text", "code"), ERRORS)
def test_errors_have_their_text_and_exit_code(
    shell: "Shell", line: str, text: str, code: int
) -> None:
    assert shell.run(line) == (text, code)


def test_an_unknown_command_is_answered_with_all_commands(shell: "Shell") -> None:
    text, code = shell.run("foo bar")
    names = sorted(entry.name for entry in COMMANDS)
    assert text == "Could not find command: foo\nCommands:\n\t" + "\n\t".join(names) + "\n"
    assert code == 64


def test_an_unknown_sub_command_is_answered_with_the_usage(shell: "Shell") -> None:
    text, code = shell.run("show foo")
    assert text.startswith("Could not find show subcommand: foo\n")
    assert text.endswith("Usage: show indexes |\n\tplans |\n\ttables\n")
    assert code == 64


def test_a_command_without_its_sub_command_waits_for_more(shell: "Shell") -> None:
    text, code = shell.run("table\n\nhistory")
    assert text.startswith("Incorrect number of arguments for command: table\n")
    assert code == 64
    assert shell.run("table\nlist;") == ("No tables available.\n", 0)


# cli §1: names may be shortened, and are compared without their case
SHORTENED = ["tab lis", "TABLE LIST", "Table lIs", "tabl list"]


@pytest.mark.parametrize("line", SHORTENED)
def test_names_may_be_shortened(shell: "Shell", line: str) -> None:
    assert shell.run(line) == ("No tables available.\n", 0)


# cli §1: as short as this, and not shorter; the first in alphabetical order wins
PREFIXES = [
    ("ta", None),
    ("tab", "table"),
    ("pla", "plan"),
    ("loa", "load"),
    ("sh", "show"),
    ("ex", "exit"),
    ("exi", "exit"),
    ("qu", "quit"),
    ("put", "put"),
    ("agg", "aggregate"),
    ("tables", None),
    ("h", "help"),
]


@pytest.mark.parametrize(("typed", "name"), PREFIXES)
def test_a_prefix_is_enough_from_its_length_on(typed: str, name: str | None) -> None:
    entry = matching(typed, COMMANDS)
    assert (None if entry is None else entry.name) == name


def test_scripts_from_standard_input_go_on_after_errors(shell: "Shell") -> None:
    text, code = shell.run("foo\ntable list\nload -file no/such", stop=False)
    assert text.endswith("No tables available.\nFailed to load file: no/such\n")
    assert code == 64  # of the first that failed


# cli §1: -json and -json-v1 report
REPORTS = [
    (
        "table list -json",
        (
            '{\n  "operation" : "table list",\n  "returnCode" : 5000,\n'
            '  "description" : "Operation ends successfully",\n'
            '  "returnValue" : "No tables available."\n}\n'
        ),
        0,
    ),
    (
        "table list -json-v1",
        (
            '{\n  "operation" : "table list",\n  "return_code" : 5000,\n'
            '  "description" : "Operation ends successfully",\n'
            '  "return_value" : "No tables available."\n}\n'
        ),
        0,
    ),
    (
        "plan remove-table -name t7 -json",
        (
            '{\n  "operation" : "plan remove-table",\n  "returnCode" : 5100,\n'
            '  "description" : "oracle.kv.impl.admin.IllegalCommandException:'
            'Could not find table: t7",\n'
            '  "returnValue" : null\n}\n'
        ),
        1,
    ),
]


@pytest.mark.parametrize(("line", "text", "code"), REPORTS)
def test_a_report_says_how_it_ended(shell: "Shell", line: str, text: str, code: int) -> None:
    assert shell.run(line) == (text, code)


@pytest.mark.parametrize("line", ["help table clear", "table clear -help", "table clear help"])
def test_help_shows_the_usage_of_a_command(shell: "Shell", line: str) -> None:
    assert shell.run(line) == (CLEAR_USAGE, 0)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_has_help(shell: "Shell", entry: object) -> None:
    name = getattr(entry, "name", "")
    text, code = shell.run(f"help {name}")
    assert code == 0
    assert f"Usage: {name}" in text
    for command in getattr(entry, "commands", ()):
        text, code = shell.run(f"help {name} {command.name}")
        assert text.startswith(f"Usage: {name} {command.name}")
        assert code == 0


def test_help_lists_all_commands_and_refuses_unknown_ones(shell: "Shell") -> None:
    assert shell.run("?")[0].startswith("Commands:\n\taggregate\n")
    text, code = shell.run("help nosuch thing")
    assert text.startswith("Could not find command: nosuch thing\n")
    assert code == 64


def test_debug_shows_where_it_went_wrong(shell: "Shell") -> None:  # cli §1
    line = "plan remove-table -name t7"
    plain, code = shell.run(line)
    assert shell.run(f"{line} -debug")[0].startswith(f"{plain}Traceback (most recent call last):\n")
    create = "table create -name 1x"
    assert "InvalidRequest" in shell.run(f"{create} -debug")[0]
    assert "Traceback" not in shell.run(create)[0]
    assert code == 1
