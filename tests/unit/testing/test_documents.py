"""The examples of docs/guide/testing.md run, and whoever installs widerow has the plugin."""

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "guide" / "testing.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
TESTS = [each for each in EXAMPLES if "def test_" in each]
SCRIPTS = [each for each in EXAMPLES if "def test_" not in each]


def run(*arguments: str, folder: Path) -> str:
    """What a Python of our own says, in a folder that knows nothing of this repository."""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-W", "error", "-W", "ignore::ImportWarning", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_test_of_the_document_passes_elsewhere(tmp_path: Path) -> None:
    assert len(TESTS) == 1
    (tmp_path / "test_example.py").write_text(TESTS[0])
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", folder=tmp_path)
    assert "1 passed" in said


@pytest.mark.parametrize("example", SCRIPTS, ids=range(len(SCRIPTS)))
def test_the_scripts_of_the_document_run(example: str, tmp_path: Path) -> None:
    run("-c", example, folder=tmp_path)


def test_the_plugin_is_found_and_costs_nothing_until_it_is_used(tmp_path: Path) -> None:
    plugin = next(each for each in entry_points(group="pytest11") if each.name == "widerow")
    assert plugin.value == "widerow.testing.plugin"
    code = "import sys, widerow.testing.plugin; print('widerow.server' in sys.modules)"
    assert run("-c", code, folder=tmp_path) == "False\n"


def test_the_package_offers_its_names_and_no_others(tmp_path: Path) -> None:
    code = (
        "import widerow.testing as testing\n"
        "print([getattr(testing, name).__name__ for name in testing.__all__])\n"
        "try: testing.nonsense\n"
        "except AttributeError as error: print(error)\n"
    )
    listed, refused = run("-c", code, folder=tmp_path).splitlines()
    assert listed == "['FakeClock', 'WiderowServer']"
    assert "nonsense" in refused
