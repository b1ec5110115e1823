"""`make wheels`, and that no text promises a package that no index has."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.wheel import OFFLINE, ROOT
from tools import wheels
from tools.compile import BuildFailed, copy_sources

PLACES = ("src", "docs", "deploy", "examples", "README.md", "CHANGELOG.md", "SECURITY.md")
TEXTS = {".py", ".md", ".toml", ".service", ".yaml", ".json", ".html", ""}
# A wheel or a folder has a slash or a suffix; the name alone would be looked up in an index.
PROMISED = re.compile(r"pip3? install\b[^`\n]*?[ '\"]widerow(?![-\w./])")


def test_no_text_says_that_the_package_is_in_an_index() -> None:
    """docs/start/install.md says how to get it."""
    found = []
    for place in PLACES:
        start = ROOT / place
        files = [start] if start.is_file() else start.rglob("*")
        for file in files:
            if file.is_file() and file.suffix in TEXTS and "__pycache__" not in file.parts:
                text = file.read_text(encoding="utf-8", errors="replace")
                found += [f"{file}: {each[0]}" for each in PROMISED.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "promises"),
    [
        ("pip install widerow", True),
        ("pip install tablestore 'widerow[postgres]' pytest", True),
        ("pip install ./widerow-*.whl tablestore", False),
        ("`pip install pyarrow` where widerow is", False),
    ],
)
def test_such_a_text_is_found(text: str, *, promises: bool) -> None:
    assert bool(PROMISED.search(text)) == promises


def test_a_python_that_is_not_here_is_named_and_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    missing = (3, 999)
    monkeypatch.setattr(wheels, "VERSIONS", (sys.version_info[:2], missing))
    here = Path(sys.executable)
    assert list(wheels.builds()) == [(here, True), (here, False)]
    assert capsys.readouterr().out == "skipped: CPython 3.999 is not here\n"


def test_one_that_does_not_run_is_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As pyenv leaves a name on the path for each version that it knows."""
    shim = tmp_path / "python3.999"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert wheels.find_python((3, 999)) is None


@pytest.mark.night
@pytest.mark.timeout(300)
def test_the_plain_wheel_runs_everywhere(tmp_path: Path) -> None:
    source = tmp_path / "source"
    copy_sources(source)
    try:
        wheel = wheels.build(Path(sys.executable), source, tmp_path, compiled=False)
    except BuildFailed:
        asked = [sys.executable, "-m", "pip", "download", "--no-deps", "setuptools"]
        done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603  # our own
        if done.returncode and OFFLINE.search(done.stdout + done.stderr):
            pytest.skip("pip reaches no package index")
        raise
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "widerow/cli/main.py" in names
    assert not [name for name in names if name.endswith(".so")]


def test_a_wheel_that_is_not_compiled_is_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the C compiler is missing, setup.py leaves the modules plain and says so."""

    def leave_plain(*command: str) -> bytes:
        new = Path(command[command.index("--wheel-dir") + 1])
        new.mkdir()
        with zipfile.ZipFile(new / "widerow-1-py3-none-any.whl", "w") as made:
            made.writestr("widerow/not_compiled.txt", "no C compiler\n")
        return b""

    (tmp_path / "source").mkdir()
    monkeypatch.setattr(wheels, "run", leave_plain)
    with pytest.raises(BuildFailed, match="C compiler"):
        wheels.build(Path(sys.executable), tmp_path / "source", tmp_path, compiled=True)
