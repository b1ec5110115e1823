"""The projects of examples/testing as they stand: their tests pass with a widerow of their own.

Each starts `widerow serve --dev`, resets between its tests, moves the clock past the end of a
session's life, and sees what the SDK makes of injected errors (docs/guide/testing.md).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.compat.conftest import locked
from tests.compat.go.conftest import fetch_modules
from tests.compat.node.conftest import install

KITS: Final = Path(__file__).resolve().parents[3] / "examples" / "testing"
SECONDS_MAX: Final = 400  # what a first run downloads, on a busy machine
TESTS: Final = 4  # in each project

pytestmark = pytest.mark.timeout(SECONDS_MAX + 60)


def found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"this kit is not tested: {program} is not installed")
    return path


def said(*command: str, place: Path, **settings: str) -> str:
    """What the tests of a project print; they pass."""
    program = Path(sys.executable).with_name("widerow")
    ran = subprocess.run(  # noqa: S603  # our own projects
        command,
        cwd=place,
        env={**os.environ, "WIDEROW": str(program), **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def test_pytest() -> None:
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull, "--rootdir", ".")
    assert f"{TESTS} passed" in said(
        sys.executable, "-m", "pytest", *options, place=KITS / "python"
    )


@pytest.mark.night
def test_go_testing() -> None:
    program, place = found("go"), KITS / "go"
    fetch_modules(program, place)
    settings = {"GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
    text = said(program, "test", "-v", "-count=1", "./...", place=place, **settings)
    assert text.count("--- PASS") == TESTS


@pytest.mark.night
def test_jest() -> None:
    found("node")
    npm, place = found("npm"), KITS / "node"
    if reason := install(npm, place, SECONDS_MAX):
        pytest.skip(f"this kit is not tested: {reason}")
    assert f"{TESTS} passed" in said(npm, "test", place=place)


@pytest.mark.night
def test_junit() -> None:
    found("java")
    maven, place = found("mvn"), KITS / "java"
    with locked(place / "target.lock"):  # two runs would build in one directory
        try:
            text = said(maven, "-B", "-C", "test", place=place)
        except AssertionError as failed:
            if "Could not transfer" in str(failed) or "Unknown host" in str(failed):
                pytest.skip("this kit is not tested: Maven cannot have its libraries")
            raise
    assert f"Tests run: {TESTS}, Failures: 0, Errors: 0, Skipped: 0" in text
