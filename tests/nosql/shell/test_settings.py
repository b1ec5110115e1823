"""Commands about the shell itself: timer, verbose, page, history, namespace, connect, load."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from widerow import nosql
from widerow.cli.kv.shell import kv_shell
from widerow.cli.shell.running import converse

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

SWITCHES = [
    ("timer on", "Timer is now on"),
    ("timer off", "Timer is now off"),
    ("verbose on", "Verbose mode is now on"),
    ("verbose", "Verbose mode is now on"),
    ("page off", "Paging mode is now off"),
    ("page 5", "Paging mode is now on, height: 5"),
    ("page", "Paging mode is now on, height: 24"),
    ("namespace", "Namespace is sysdefault"),
    ("namespace SYSDEFAULT", "Namespace is sysdefault"),
]


@pytest.mark.parametrize(("line", "text"), SWITCHES)
def test_settings_say_how_they_stand(shell: "Shell", line: str, text: str) -> None:  # cli §6
    assert shell.run(line) == (f"{text}\n", 0)


BAD = [
    ("page 0", "Invalid argument: 0\n\tUsage: page [on | <lines> | off]\n", 65),
    (
        "namespace nosuch",
        "Error handling command namespace nosuch: Namespace does not exist: nosuch\n",
        1,
    ),
    ("verbose loud", "Invalid argument: loud\n\tUsage: verbose [on | off]\n", 65),
]


@pytest.mark.parametrize(("line", "text", "code"), BAD)
def test_settings_refuse(shell: "Shell", line: str, text: str, code: int) -> None:
    assert shell.run(line) == (text, code)


def test_the_timer_follows_each_command(shell: "Shell") -> None:
    shell.run("timer on")
    assert shell.run("table list")[0] == "No tables available.\n\nTime: 0sec 0ms\n"


def test_the_history_has_every_command(shell: "Shell") -> None:
    shell.run("table list; show plans;\nnosuch")
    assert shell.run("history")[0] == "1 table list\n2 show plans\n3 nosuch\n4 history\n"
    assert shell.run("history -last 2")[0] == "4 history\n5 history -last 2\n"
    assert shell.run("history -from 2 -to 3")[0] == "2 show plans\n3 nosuch\n"


def test_long_results_are_paged_at_a_terminal(shell: "Shell") -> None:  # cli §6
    asked: list[str] = []

    class Pager:
        height = 2

        def more(self, prompt: str) -> bool:
            asked.append(prompt)
            return len(asked) < 2

    shell.rows()
    shell.session.screen = Pager()
    rows = "".join(
        f"""put table -name myProducts -json '{{"productType":"x","number":{n}}}'\n"""
        for n in range(5)
    )
    shell.run(rows)
    text, _ = shell.run("get table -name myProducts -keyonly")
    assert asked == ["--More--(1~2)", "--More--(3~4)"]
    assert text.endswith("4 rows returned\n")
    asked.clear()
    shell.run("page off")
    assert shell.run("get table -name myProducts -keyonly")[0].endswith("8 rows returned\n")
    assert asked == []


def test_connect_uses_another_store(shell: "Shell", tmp_path: Path) -> None:
    shell.products()
    path = tmp_path / "other"
    text, code = shell.run(f"connect store -path {path}")
    assert f"there is no store at {path} (there is no such directory)" in text
    assert code == 1
    assert not path.exists()
    nosql.open(path, housekeeping=False).close()
    assert shell.run(f"connect store -path {path}") == (f"Connected to the store in {path}.\n", 0)
    assert shell.run("show tables") == ("No table found.\n", 0)
    line = f"connect store -path {path}"
    text, code = shell.run(line)  # the shell itself has it open
    assert f"{path} is in use" in text
    assert code == 1
    shell.session.store.close()


def test_load_stops_at_the_first_failure(shell: "Shell", tmp_path: Path) -> None:  # cli §1
    script = tmp_path / "a.kv"
    script.write_text("table list # fine\ntable evolve -name x\nshow plans\n")
    assert shell.run(f"load -file '{script}'") == (
        (
            "No tables available.\n"
            "Error handling command table evolve -name x: "
            "Table: x does not exist in TableMetadata[0 tables]\n"
            'Script error in line "table evolve -name x", ending execution\n'
        ),
        1,
    )
    script.write_text("nosuch\n")
    assert shell.run(f"load -file '{script}'")[1] == 64


def test_scripts_may_load_scripts_but_not_without_end(shell: "Shell", tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.kv", tmp_path / "outer.kv"
    inner.write_text("table list")
    outer.write_text(f"load -file '{inner}'\nshow plans")
    assert shell.run(f"load -file '{outer}'") == ("No tables available.\nThere are no plans.\n", 0)
    inner.write_text(f"load -file '{inner}'")
    text, code = shell.run(f"load -file '{outer}'")
    assert "Scripts load each other more than 16 deep" in text
    assert code == 1
    assert shell.session.depth == 0


def test_exit_ends_a_script(shell: "Shell") -> None:
    assert shell.run("exit\ntable list") == ("", 0)
    assert shell.session.finished


class Typist:
    """Somebody who types these lines; an exception among them is raised instead."""

    def __init__(self, *lines: str | type[BaseException]) -> None:
        self.lines = list(lines)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        line = self.lines.pop(0) if self.lines else EOFError
        if isinstance(line, str):
            return line
        raise line


def test_a_conversation_has_prompts(shell: "Shell") -> None:  # cli §1
    typist = Typist(
        "table create -name users",
        "add-field -name id",
        "-type STRING;",
        "primary-key -field id",
        "add-record-field -name r",
        "cancel",
        "exit",
    )
    converse(kv_shell(shell.session), typist)
    assert typist.prompts == [
        "kv-> ",
        "users-> ",
        "     -> ",
        "users-> ",
        "users-> ",
        "users.r-> ",
        "users-> ",
        "kv-> ",
    ]
    assert shell.said == ["Table users built.", ""]


def test_an_interrupt_and_the_end_of_input_forget_the_line(shell: "Shell") -> None:
    typist = Typist("load", KeyboardInterrupt, "load -file", EOFError, "quit", "table list")
    converse(kv_shell(shell.session), typist)
    assert typist.prompts == ["kv-> ", "  -> ", "kv-> ", "  -> ", "kv-> "]
    assert shell.said == ["^C", ""]


# completion: names of commands, of sub-commands, flags that are not there yet, tables
COMPLETIONS = [
    ("pl", ["plan "]),
    ("table ", ["clear ", "create ", "evolve ", "list "]),
    ("TAB cr", ["create "]),
    ("table list -", ["-create ", "-evolve ", "-name "]),
    ("table list -create -", ["-evolve ", "-name "]),
    ("show plans; show i", ["indexes "]),
    ("get table -name my", ["myProducts ", "myProducts.parts "]),
    ("get table -name myProducts -child ", ["myProducts ", "myProducts.parts ", "staged "]),
    ("get table -field ", []),
    ("nosuch ", []),
    ("table nosuch ", []),
]


@pytest.mark.parametrize(("line", "words"), COMPLETIONS)
def test_what_may_follow(shell: "Shell", line: str, words: list[str]) -> None:
    shell.rows()
    shell.run("table create -name staged\nadd-field -type LONG -name a\nprimary-key -field a\nexit")
    assert kv_shell(shell.session).completions(line) == words
