"""The Python programs of the guides run as they stand, one after the other (docs/guide)."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from widerow.testing.server import WiderowServer

GUIDES = Path(__file__).resolve().parents[3] / "docs" / "guide"


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("delivery.md", 1),
        ("search.md", 3),
        ("secondary-indexes.md", 2),
        ("streams.md", 1),
        ("transactions.md", 2),
    ],
)
def test_the_programs_of_a_guide_run(
    page: str, count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if page == "delivery.md":
        pytest.importorskip("pyarrow", reason="pip install 'widerow[delivery]'")
    text = (GUIDES / page).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(programs) == count
    commands = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", commands + os.pathsep + os.environ["PATH"])
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.chdir(tmp_path)
    with WiderowServer(settings={"delivery_root": str(files)}) as server:
        names: dict[str, Any] = {}
        for program in programs:
            here = program.replace("http://127.0.0.1:8087", server.endpoint)
            exec(compile(here, page, "exec"), names)  # noqa: S102  # what the guide asks to be typed
