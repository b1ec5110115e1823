"""The Go SDK: what the program in this directory saw.

Modules come from the module proxy and the build from Go's caches, which are in the home of whoever
runs the tests: once they are filled, nothing is downloaded and a build takes a second.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.conftest import SPLITTING

Facts = dict[str, Any]

SOURCES: Final = Path(__file__).parent
DOWNLOAD_SECONDS_MAX: Final = 240
BUILD_SECONDS_MAX: Final = 240  # the SDK alone takes 20 s on two cores when nothing is cached


@pytest.fixture(scope="session")
def go(run_program: Callable[[str, Any], dict[str, Facts]]) -> Callable[[str], Facts]:
    """What a scenario saw, by its name; the test fails if it did not come to its end."""
    return by_name(run_program("go", lambda work: [*build(work), "actions"]))


@pytest.fixture(scope="session")
def go_streams(run_program: Callable[..., dict[str, Facts]]) -> Callable[[str], Facts]:
    """The same of the scenarios of streams, on a server whose partitions split."""
    return by_name(run_program("go-streams", lambda work: [*build(work), "streams"], *SPLITTING))


def by_name(seen: dict[str, Facts]) -> Callable[[str], Facts]:
    def scenario(name: str) -> Facts:
        facts = seen[name]
        if "panic" in facts:
            pytest.fail(facts["panic"], pytrace=False)
        return facts

    return scenario


def build(work: Path) -> list[str]:
    """The command of the program. Skips without Go or its modules; fails if they do not compile."""
    program = shutil.which("go")
    if program is None:
        pytest.skip("the Go SDK is not tested: go is not installed")
    fetch_modules(program)
    run(program, "build", "-buildvcs=false", "-o", str(work / "actions"), ".")
    return [str(work / "actions")]


def fetch_modules(program: str, place: Path = SOURCES) -> None:
    """Those that the go.mod in a directory declares. Skips where they cannot be had."""
    declared = json.loads(run(program, "mod", "edit", "-json", place=place))
    modules = [each["Path"] for each in declared["Require"]]
    try:
        run(program, "mod", "download", *modules, seconds=DOWNLOAD_SECONDS_MAX, place=place)
    except subprocess.TimeoutExpired:
        pytest.skip("the Go SDK is not tested: its modules took too long to download")
    except subprocess.CalledProcessError as error:
        said = str(error.stderr).strip()
        if "SECURITY ERROR" in said:  # other bytes than go.sum knows are not a missing network
            raise
        pytest.skip(f"the Go SDK is not tested: its modules cannot be had: {said.splitlines()[-1]}")


def run(*command: str, seconds: int = BUILD_SECONDS_MAX, place: Path = SOURCES) -> str:
    """What `command` prints. It changes nothing in the sources, and no other Go is fetched."""
    settings = os.environ | {"GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
    return subprocess.run(  # noqa: S603  # the compiler, and our own files
        command,
        cwd=place,
        env=settings,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=True,
    ).stdout
