"""What docs/operating/transfer.md says of variables is so; tests/pages runs its commands."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from widerow.errors import WiderowError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operating" / "transfer.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_what_the_page_says_of_variables_is_so(
    widerow: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in re.findall(r"`(WIDEROW_\w+)`", TEXT):
        assert name in widerow("export", "--help").stdout
    monkeypatch.setenv("WIDEROW_ACCESS_KEY_SECRET", "wrong")
    with pytest.raises(WiderowError, match="OTSAuthFailed"):
        widerow("export", "t", "--output", tmp_path / "t.csv")
