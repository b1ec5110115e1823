"""`widerow ts` as a person types: prompt, completion, lines that go on, interrupts (ts-cli)."""

import pytest

from widerow.cli.shell.running import converse
from widerow.cli.ts import shell
from widerow.cli.ts.commands import TS_COMMANDS
from widerow.cli.ts.session import TsSession
from widerow.cli.ts.shell import ts_shell
from widerow.client.connection import Endpoint


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def session(said: list[str]) -> TsSession:
    endpoint = Endpoint("http://127.0.0.1:1", "shop", "a", "b")
    return TsSession(endpoint, {}, TS_COMMANDS, said.append, lambda _: "", ask=lambda _: "")


def test_the_prompt_has_the_instance_and_the_table(session: TsSession) -> None:
    assert session.prompt == "shop> "
    session.table = "cards"
    assert session.prompt == "shop:cards> "


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("de", ["del ", "delete ", "desc ", "describe_instance ", "describe_search_index "]),
        ("use -", ["--table ", "--ts ", "--wc ", "-t "]),
        ("use -t ", ["cards ", "copies "]),
        ("use -t ca", ["cards "]),
        ("get --pk x -c ", ["age ", "city "]),
        ("get --pk x -c age,c", ["age,city "]),
        ("help im", ["import ", "import_timeseries "]),
        ("nosuch -", []),
        ("drop -t cards -", ["--yes ", "-y "]),
    ],
)
def test_tab_offers_commands_flags_tables_and_columns(
    session: TsSession, monkeypatch: pytest.MonkeyPatch, line: str, words: list[str]
) -> None:
    monkeypatch.setattr(shell, "list_tables", lambda _: ["cards", "copies"])
    session.table = "cards"
    session.saw("cards", {"age", "city"})
    found = ts_shell(session).completions(line)
    assert found[: len(words)] == words if line == "de" else found == words


def test_nothing_is_offered_where_nobody_answers(
    session: TsSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.client, "_patience", 0.0)
    assert ts_shell(session).completions("use -t ") == []


def conversation(session: TsSession, *typed: object) -> list[str]:
    """The prompts that were shown while these lines, and errors, were typed."""
    lines = iter(typed)
    prompts: list[str] = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        line = next(lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return str(line)

    converse(ts_shell(session), read)
    return prompts


def test_statements_have_a_prompt_and_end_with_a_semicolon(session: TsSession) -> None:
    prompts = conversation(session, "sql", "SELECT", "exit;", "exit ;", "exit")
    assert prompts[:3] == ["shop> ", "shop:sql> ", "        > "]
    prompts = conversation(session, "exit")
    assert not prompts  # the shell has ended


def test_a_line_goes_on_until_its_quote_is_closed(session: TsSession) -> None:
    prompts = conversation(session, "help 'li", "st'", "", "exit")
    assert prompts == ["shop> ", "    > ", "shop> ", "shop> "]
    assert session.finished


def test_an_interrupt_drops_the_line_and_the_end_of_input_ends_the_shell(
    session: TsSession, said: list[str]
) -> None:
    prompts = conversation(session, "help 'x", KeyboardInterrupt(), "clear")
    assert prompts == ["shop> ", "    > ", "shop> ", "shop> "]
    assert said == ["^C", "\x1b[2J\x1b[H", ""]
    prompts = conversation(session, "help 'x", EOFError())
    assert prompts == ["shop> ", "    > ", "shop> "]
