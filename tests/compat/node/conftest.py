"""The vendor's Node SDK, installed beside this file from its registry when it is not there yet."""

import fcntl
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

HERE: Final = Path(__file__).parent
INSTALL_SECONDS_MAX: Final = 50


def install(npm: str, place: Path = HERE, seconds: int = INSTALL_SECONDS_MAX) -> str:
    """Why packages could not be installed; nothing if they are there, as a lock file names them."""
    marker = place / "node_modules" / ".package-lock.json"  # npm writes it last
    lock = place / "package-lock.json"
    with (place / "package.json").open() as mine:  # test runs side by side install once
        fcntl.flock(mine, fcntl.LOCK_EX)
        if marker.exists() and marker.stat().st_mtime >= lock.stat().st_mtime:
            return ""
        try:
            subprocess.run(  # noqa: S603  # npm, with our own list of packages
                [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=place,
                check=True,
                capture_output=True,
                text=True,
                timeout=seconds,
            )
        except subprocess.CalledProcessError as error:
            return f"npm ci failed: {str(error.stderr).strip()[-300:]}"
        except subprocess.TimeoutExpired:
            return f"npm ci took longer than {seconds} s"
        marker.touch()
    return ""


@pytest.fixture(scope="session")
def node() -> str:
    """The program `node`, with the SDK where it finds it; skips, and says why, if it cannot be."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        pytest.skip("node and npm are not installed on this machine")
    reason = install(npm)
    if reason:
        pytest.skip(f"the Node SDK cannot be installed: {reason}")
    return program


Run = Callable[[str, Any], dict[str, Any]]


@pytest.fixture(scope="session")
def changes(node: str, run_program: Run) -> Callable[[str], Any]:
    """What a scenario of `changes.js` saw, by its name; the test fails if it did not end."""
    return by_name(run_program("node-changes", lambda _: [node, str(HERE / "changes.js")]))


@pytest.fixture(scope="session")
def searches(node: str, run_program: Run) -> Callable[[str], Any]:
    """What a scenario of `search.js` saw, by its name; the test fails if it did not end."""
    return by_name(run_program("node-search", lambda _: [node, str(HERE / "search.js")]))


@pytest.fixture(scope="session")
def statements(node: str, run_program: Run) -> Callable[[str], Any]:
    """What the scenario of `sql.js` saw, by its name; the test fails if it did not end."""
    return by_name(run_program("node-sql", lambda _: [node, str(HERE / "sql.js")]))


def by_name(seen: dict[str, Any]) -> Callable[[str], Any]:
    def scenario(name: str) -> Any:  # noqa: ANN401  # what JSON holds
        if "panic" in seen[name]:
            pytest.fail(seen[name]["panic"], pytrace=False)
        return seen[name]

    return scenario
