"""docs/operating/transfer.md: its commands print what it shows, times and checksums aside."""

import re
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import Result

from widerow.errors import WiderowError

pytest.importorskip("pyarrow", reason="the page archives: pip install 'widerow[parquet]'")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operating" / "transfer.md"
TEXT = PAGE.read_text(encoding="utf-8")
FILES = re.findall(r"`(\w+\.csv)`(, in Latin-1)?:\n\n```csv\n(.*?)```", TEXT, re.DOTALL)
BLOCKS = re.findall(r"^```console\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command and what stands below it."""
    for each in block.split("$ ")[1:]:
        command, _, said = each.partition("\n")
        yield command, said


def settled(text: str) -> str:
    """Without what differs from run to run; equal checksums stay equal."""
    names: dict[str, str] = {}
    text = re.sub(r"[0-9.]+ s, [0-9,]+ rows/s", "TIME", text)
    return re.sub(
        r"\b[0-9a-f]{64}\b", lambda found: names.setdefault(found[0], f"SUM {len(names)}"), text
    )


def test_the_commands_print_what_the_page_shows(
    widerow: Callable[..., Result], tmp_path: Path
) -> None:
    for name, latin, text in FILES:
        (tmp_path / name).write_text(text, encoding="latin-1" if latin else "utf-8")
    shown = said = ""
    with chdir(tmp_path):
        for command, expected in (each for block in BLOCKS for each in commands(block)):
            words = command.split()
            assert words[0] == "widerow"
            code = 1 if "rejected" in expected else 0
            shown += expected
            result = widerow(*words[1:], expect=code)
            lines = result.stderr.splitlines(keepends=True)
            said += result.stdout + "".join(line for line in lines if "warning" in line)
    assert (len(BLOCKS), len(FILES)) == (6, 3)
    assert settled(said) == settled(shown)


def test_what_the_page_says_of_variables_is_so(
    widerow: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in re.findall(r"`(WIDEROW_\w+)`", TEXT):
        assert name in widerow("export", "--help").stdout
    monkeypatch.setenv("WIDEROW_ACCESS_KEY_SECRET", "wrong")
    with pytest.raises(WiderowError, match="OTSAuthFailed"):
        widerow("export", "t", "--output", tmp_path / "t.csv")
