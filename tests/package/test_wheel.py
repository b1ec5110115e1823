"""The package as a stranger gets it: a wheel in an empty environment, compiled, serving the README.

It takes its wheel from `make wheel`, which the tests of the compiled modules need as well, so that
one run of `make test` compiles once.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Compiling takes two minutes on a machine of one's own; others may load it, and pip may download.
pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).resolve().parents[2]
OFFLINE = re.compile(
    r"connection broken|NewConnectionError|name resolution|Network is unreachable|"
    r"ConnectTimeout|ProxyError"
)
SNIPPET = re.compile(r"## Sixty seconds\n.*?```python\n(?P<code>.*?)```", re.DOTALL)
WHERE = """
import importlib, json, pkgutil, sys, widerow
names = [each.name for each in pkgutil.walk_packages(widerow.__path__, "widerow.")]
# The vendor's client; a program, not a module; what an extra brings.
needs = ("widerow.testing", "widerow.__main__", "widerow.storage.postgres.")
for name in names:
    if not name.startswith(needs):
        importlib.import_module(name)
print(json.dumps({name: getattr(each, "__file__", None) for name, each in sys.modules.items()}))
"""


def without_this_environment() -> dict[str, str]:
    """Variables of somebody who has not heard of this checkout."""
    foreign = ("MAKE", "PYTHON", "WIDEROW_", "PYTEST_", "VIRTUAL_ENV", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def run(*command: str | Path, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program that ran to its end."""
    done = subprocess.run(  # noqa: S603  # our own commands
        command,
        cwd=cwd,
        env=without_this_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel() -> Path:
    """What `make wheel` makes; skipped where nothing can be compiled or installed."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: '{compiler}' is not on the path")
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if not headers.exists():
        pytest.skip(f"no headers of Python: {headers} is missing")
    if not (ROOT / ".venv" / ".runtime").exists():
        pytest.skip("no .venv with a set-up by make, which compiles")
    built = run("make", "wheel", cwd=ROOT, check=False)
    skip_offline(built)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = (ROOT / "build" / "compiled").glob("*.whl")
    return ROOT / "dist" / found.name


def skip_offline(done: subprocess.CompletedProcess[str]) -> None:
    """Skip the test if pip failed because it reached no package index."""
    said = done.stdout + done.stderr
    if done.returncode != 0 and (os.environ.get("PIP_NO_INDEX") or OFFLINE.search(said)):
        pytest.skip("offline: pip reaches no package index, so nothing can be installed")


@contextmanager
def served(python: Path, folder: Path) -> Iterator[str]:
    """The endpoint of `python -m widerow serve` on a free port."""
    command = [str(python), "-m", "widerow", "serve", "--path", "data", "--port", "0"]
    with subprocess.Popen(  # noqa: S603  # our own command
        command,
        cwd=folder,
        env=without_this_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            assert "widerow ready" in ready
            yield ready.partition("endpoint=")[2].split()[0]
        finally:
            server.terminate()


def test_the_wheel_runs_compiled_and_serves_the_sixty_seconds_of_the_readme(
    wheel: Path, tmp_path: Path
) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True, symlinks=True)
    python = environment / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--retries", "1")
    installed = run(*pip, wheel, cwd=tmp_path, check=False)
    skip_offline(installed)
    assert installed.returncode == 0, installed.stdout + installed.stderr

    shown = run(environment / "bin" / "widerow", "version", cwd=tmp_path).stdout
    assert re.search(r"^compiled +yes *$", shown, re.MULTILINE), shown

    script = run(environment / "bin" / "widerow", "completion", "bash", cwd=tmp_path).stdout
    assert "complete -o default -F _widerow_completion widerow" in script

    files = json.loads(run(python, "-c", WHERE, cwd=tmp_path).stdout)
    ours = {name: path for name, path in files.items() if name.split(".")[0] == "widerow"}
    assert not [path for path in files.values() if path and Path(path).is_relative_to(ROOT)]
    assert all(Path(path).is_relative_to(environment) for path in ours.values())
    compiled = {name for name, path in ours.items() if not path.endswith(".py")}
    assert compiled == hot_modules()

    code = SNIPPET.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert code is not None
    assert "http://127.0.0.1:8087" in code["code"]
    with served(python, tmp_path) as endpoint:
        client = code["code"].replace("http://127.0.0.1:8087", endpoint)
        # The vendor's client is installed where the tests run.
        printed = run(sys.executable, "-W", "ignore", "-c", client, cwd=tmp_path).stdout
    assert re.search(r"\('amount', 250, \d{13}\)", printed), printed


def hot_modules() -> set[str]:
    """The modules that setup.py names."""
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    listed = re.search(r"^HOT_MODULES = \((.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    return {f"widerow.{name.replace('/', '.')}" for name in re.findall(r'"(.+?)"', listed[1])}
