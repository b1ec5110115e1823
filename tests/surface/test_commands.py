"""The commands that people and other tools rely on: `make …` and `.ci/run`."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import SESSIONS

ROOT = Path(__file__).resolve().parents[2]
PROMISED = {"setup", "serve", "test", "check", "bench", "wheel"}
IN_BACKGROUND = "python -m tools.compile --background"
PROGRAMS = ("python", "pip", "ruff", "mypy", "lint-imports", "pytest", "widerow")
FOLDERS = " ".join(f"tests/{each}" for each in SESSIONS)
# And the files of laws; there are none in the clone.
ON_COMPILED = f"{FOLDERS} -m (session or hypothesis) and not night"
CHECKS = ["ruff", "ruff", "mypy", "lint-imports", "python", "python"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone in a folder of another name, installed, whose programs only say what they were."""
    folder = tmp_path / "Some other näme"
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy2(ROOT / name, folder)
    for name in ("src", "tests", "tools"):
        (folder / name).mkdir()
    (folder / "tools" / "compile.py").touch()
    for name in PROGRAMS:
        program = binaries / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> "{folder}/said"\n')
        program.chmod(0o755)
    (folder / ".venv" / ".runtime").touch()
    (folder / ".venv" / ".installed").touch()
    (folder / "build" / "compiled").mkdir(parents=True)
    (folder / "build" / "compiled" / ".stamp").touch()
    return folder


def started(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command that ran in `folder`, and succeeded."""
    # Without the network: whatever asks for an index or a proxy meets a closed door.
    offline = {"PIP_NO_INDEX": "1", "HTTPS_PROXY": "http://127.0.0.1:1"}
    # Nor what was given to the `make` that runs these tests.
    given = ("MAKE", "PYTEST_ARGS", "WORKERS")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(given)}
    run = subprocess.run(  # noqa: S603  # our own commands
        command,
        cwd=folder,
        env=settings | offline,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run


def said(clone: Path, *command: str, cwd: Path | None = None) -> list[str]:
    """What the clone's programs were asked to do by a command that succeeded."""
    started(cwd or clone, *command)
    record = clone / "said"
    return record.read_text().splitlines() if record.exists() else []


def test_the_promised_targets_are_there() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    phony = set(re.search(r"^\.PHONY:(.*)$", text, re.MULTILINE)[1].split())  # type: ignore[index]  # no match fails the test
    assert targets >= PROMISED
    assert phony == targets


def test_help_lists_every_target() -> None:
    run = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607  # make of the path
    listed = {line.split()[0] for line in run.stdout.splitlines() if not line.startswith("make")}
    assert listed >= PROMISED


def test_what_is_installed_is_not_installed_again(clone: Path) -> None:
    assert said(clone, "make", "setup") == []


def test_make_serve_serves_from_the_folder_it_is_in(clone: Path) -> None:
    assert said(clone, "make", "serve") == ["widerow serve --path widerow-data"]


def test_make_serve_takes_what_is_compiled_and_does_not_wait_for_a_compiler(clone: Path) -> None:
    program = clone / ".venv" / "bin" / "widerow"
    program.write_text(f'#!/bin/sh\necho "from ${{PYTHONPATH:-source}}" >> "{clone}/said"\n')
    assert said(clone, "make", "serve") == ["from build/compiled"]
    (clone / "build" / "compiled" / ".stamp").unlink()
    (clone / "said").unlink()
    assert said(clone, "make", "serve") == [IN_BACKGROUND, "from source"]


def test_an_edited_module_is_compiled_again(clone: Path) -> None:
    stamp = clone / "build" / "compiled" / ".stamp"
    os.utime(stamp, (stamp.stat().st_atime, 0))
    assert said(clone, "make", "compile") == ["python -m tools.compile"]


def test_make_wheel_puts_the_compiled_package_into_dist(clone: Path) -> None:
    (clone / "build" / "compiled" / "widerow-1-cp311-linux.whl").write_text("wheel")
    assert said(clone, "make", "wheel") == []
    assert (clone / "dist" / "widerow-1-cp311-linux.whl").read_text() == "wheel"


def test_what_could_not_be_compiled_is_tested_plain_and_says_so(clone: Path) -> None:
    (clone / "build" / "compiled" / ".stamp").unlink()
    run = started(clone, "make", "sessions", "WORKERS=2")
    assert "SKIPPED" in run.stdout
    compiling, tests = (clone / "said").read_text().splitlines()
    assert compiling == "python -m tools.compile"
    assert tests == f"pytest -n 2 --dist worksteal {ON_COMPILED}"


def test_make_test_runs_every_test_once(clone: Path) -> None:
    units, compiled = said(clone, "make", "test", "WORKERS=2")
    left_out = " ".join(f"--ignore=tests/{each}" for each in SESSIONS)
    assert units == f"pytest -n 2 --dist worksteal {left_out} -m not hypothesis and not night"
    assert compiled == f"pytest -n 2 --dist worksteal {ON_COMPILED}"
    assert all((ROOT / "tests" / each).is_dir() for each in SESSIONS)


def test_sessions_run_on_what_is_compiled(clone: Path) -> None:
    program = clone / ".venv" / "bin" / "pytest"
    program.write_text(f'#!/bin/sh\necho "$PYTHONPATH" >> "{clone}/said"\n')
    assert said(clone, "make", "sessions") == [str(clone / "build" / "compiled")]


def test_make_test_takes_arguments(clone: Path) -> None:
    wanted = said(clone, "make", "test", "WORKERS=0", "PYTEST_ARGS=-x tests/unit")
    assert wanted == ["pytest -n 0 --dist worksteal -x tests/unit"]


def test_make_check_checks_shape_rules_types_imports_and_tidiness(clone: Path) -> None:
    programs = [line.split()[0] for line in said(clone, "make", "check")]
    assert programs == CHECKS


def test_a_failing_check_fails_the_run(clone: Path) -> None:
    (clone / ".venv" / "bin" / "mypy").write_text("#!/bin/sh\nexit 1\n")
    run = subprocess.run([clone / ".ci" / "run"], capture_output=True, check=False)  # noqa: S603  # our own
    assert run.returncode != 0


def test_continuous_integration_runs_checks_and_tests_from_anywhere(
    clone: Path, tmp_path: Path
) -> None:
    record = said(clone, str(clone / ".ci" / "run"), cwd=tmp_path)
    programs = [line.split()[0] for line in record]
    fetching = "python"
    assert sorted(programs) == sorted([fetching, *CHECKS, *["pytest"] * 3])
    assert record[-1].endswith(ON_COMPILED)  # what is compiled, and who fetches, came before
