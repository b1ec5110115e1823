"""The guide is run from its first line to its last, and says what was really answered."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from widerow import nosql
from widerow.cli.kv.dispatch import execute
from widerow.cli.kv.session import Session
from widerow.cli.kv.start import new_session

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "nosql.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^[\w.]+-> ", re.MULTILINE)


def blocks() -> Iterator[tuple[str, str]]:
    for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        yield found[1], found[2]


def converse(session: Session, said: list[str], transcript: str) -> str:
    """The transcript as it is when what stands behind its prompts is typed again."""
    again: list[str] = []
    for line in transcript.splitlines():
        if PROMPT.match(line):
            typed = PROMPT.sub("", line, count=1)
            again.append(f"{session.prompt}{typed}\n")
            said.clear()
            execute(session, typed)
            again += [f"{text}\n" for text in said]
    return "".join(again)


def test_the_guide_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    names: dict[str, Any] = {}
    printed = ""
    kinds: list[str] = []
    with nosql.open("products", housekeeping=False) as store:
        session = new_session(store)
        session.write = said.append
        for kind, text in blocks():
            kinds.append(kind)
            if kind == "kv":
                assert converse(session, said, text) == text
            elif kind == "python":
                store.close()  # the shell was left
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(text, str(PAGE), "exec"), names)  # noqa: S102  # our own page
                printed = output.getvalue()
            elif kind == "text" and text.startswith("{") and not printed:
                Path("stock.json").write_text(text, encoding="utf-8")
            elif kind == "text":
                assert printed == text
    assert session.finished
    assert kinds.count("kv") > 8
    assert kinds.count("python") == 5
