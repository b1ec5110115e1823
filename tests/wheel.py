"""The wheel of this checkout for tests that install it: built once, by the first test."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OFFLINE = re.compile(
    r"connection broken|NewConnectionError|name resolution|Network is unreachable|"
    r"ConnectTimeout|ProxyError"
)


def without_this_environment() -> dict[str, str]:
    """The environment variables without those of this checkout."""
    foreign = ("MAKE", "PYTHON", "WIDEROW_", "PYTEST_", "VIRTUAL_ENV", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def run_outside(
    *command: str | Path, cwd: Path, check: bool = True, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end with only these variables in its environment."""
    done = subprocess.run(  # noqa: S603  # our own commands
        command,
        cwd=cwd,
        env=without_this_environment() | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def built_wheel() -> Path:
    """The wheel of `make wheel`; the test is skipped where it cannot be compiled or installed."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: '{compiler}' is not on the path")
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if not headers.exists():
        pytest.skip(f"no headers of Python: {headers} is missing")
    if not (ROOT / ".venv" / ".runtime").exists():
        pytest.skip("no .venv with a set-up by make, which compiles")
    built = run_outside("make", "wheel", cwd=ROOT, check=False)
    skip_offline(built)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = (ROOT / "build" / "compiled").glob("*.whl")
    return found


def skip_offline(done: subprocess.CompletedProcess[str]) -> None:
    """Skip the test if pip failed because it reached no package index."""
    said = done.stdout + done.stderr
    if done.returncode != 0 and (os.environ.get("PIP_NO_INDEX") or OFFLINE.search(said)):
        pytest.skip("offline: pip reaches no package index, so nothing can be installed")


def install(python: Path, *wanted: str | Path) -> None:
    """Install packages into this Python's environment; skips the test without a package index."""
    uv = ROOT / ".venv" / "bin" / "uv"  # where it is and can, as in the Makefile
    if uv.exists():
        quick = (uv, "pip", "install", "--python", python, *wanted)
        if run_outside(*quick, cwd=python.parent, check=False).returncode == 0:
            return
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--retries", "1")
    done = run_outside(*pip, *wanted, cwd=python.parent, check=False)
    skip_offline(done)
    assert done.returncode == 0, done.stdout + done.stderr


def build_python() -> Path:
    """The Python that has the build tools; it is there once the wheel is built."""
    python = ROOT / "build" / "env" / "bin" / "python"
    assert python.exists(), sys.executable
    return python
