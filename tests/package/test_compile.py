"""tools/compile.py: build/compiled appears whole or not at all; one compilation runs at a time."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import compile as compiling

from widerow.rows import record

REASON = "the C compiler 'cc' fails"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one module, whose wheel is made by `pip_makes`."""
    for name in compiling.FILES:
        (tmp_path / name).write_text(name)
    (tmp_path / "src" / "widerow").mkdir(parents=True)
    (tmp_path / "src" / "widerow" / "module.py").write_text("FIRST = 1\n")
    monkeypatch.setattr(compiling, "ROOT", tmp_path)
    monkeypatch.setattr(compiling, "BUILD", tmp_path / "build")
    monkeypatch.setattr(compiling, "COMPILED", tmp_path / "build" / "compiled")
    monkeypatch.setattr(compiling, "LOG", tmp_path / "build.log")
    monkeypatch.setattr(compiling, "prepare_environment", lambda: None)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    return tmp_path


def pip_makes(
    monkeypatch: pytest.MonkeyPatch,
    *,
    compiled: bool = True,
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    """Let pip make a wheel of the sources it is given, while something else happens."""

    def pip(command: str, *arguments: str) -> bytes:
        assert command == "wheel"
        source, target = Path(arguments[-1]), Path(arguments[-2])
        meanwhile()
        with zipfile.ZipFile(target / "widerow-1-any.whl", "w") as wheel:
            wheel.write(source / "src" / "widerow" / "module.py", "widerow/module.py")
            if compiled:
                wheel.writestr("widerow/rows/cells.so", "machine code")
            else:
                wheel.writestr("widerow/not_compiled.txt", REASON + "\n")
            wheel.writestr("widerow-1.dist-info/METADATA", "Name: widerow")
        return b"what pip says"

    monkeypatch.setattr(compiling, "pip", pip)


def test_the_wheel_and_its_modules_are_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_makes(monkeypatch)
    assert compiling.main([]) == 0
    made = root / "build" / "compiled"
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert names == {
        ".stamp",
        "build.log",
        "widerow-1-any.whl",
        "widerow/module.py",
        "widerow/rows/cells.so",
    }
    assert {path.name for path in (root / "build").iterdir()} == {".lock", "compiled"}


def test_what_is_compiled_is_not_compiled_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_makes(monkeypatch)
    compiling.main([])
    inode = (root / "build" / "compiled").stat().st_ino
    compiling.main([])
    assert (root / "build" / "compiled").stat().st_ino == inode


def test_an_edit_while_it_compiles_is_compiled_next_time(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = root / "src" / "widerow" / "module.py"
    pip_makes(monkeypatch, meanwhile=lambda: module.write_text("SECOND = 2\n"))
    compiling.main([])
    made = root / "build" / "compiled" / "widerow" / "module.py"
    assert made.read_text() == "FIRST = 1\n"
    assert not compiling.is_current()
    compiling.main([])
    assert made.read_text() == "SECOND = 2\n"


def test_another_environment_is_compiled_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_makes(monkeypatch)
    compiling.main([])
    runtime = root / "environment" / ".runtime"
    runtime.parent.mkdir()
    runtime.touch()
    stamp = root / "build" / "compiled" / ".stamp"
    later = stamp.stat().st_mtime + 1000
    os.utime(stamp, (later, later))
    assert compiling.is_current()
    os.utime(runtime, (later + 1, later + 1))
    assert not compiling.is_current()


def test_what_stays_plain_has_no_stamp_and_says_why(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_makes(monkeypatch, compiled=False)
    assert compiling.main([]) == 0
    assert not (root / "build" / "compiled" / ".stamp").exists()
    assert (root / "build" / "compiled" / "widerow" / "module.py").exists()
    assert REASON in capsys.readouterr().err


def test_a_failing_build_leaves_what_was_there(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_makes(monkeypatch)
    compiling.main([])
    (root / "setup.py").write_text("changed")
    os.utime(root / "build" / "compiled" / ".stamp", (0, 0))

    def pip(*_arguments: str) -> bytes:
        raise compiling.BuildFailed("no room on the disk")

    monkeypatch.setattr(compiling, "pip", pip)
    assert compiling.main([]) == 1
    assert "no room on the disk" in capsys.readouterr().err
    assert (root / "build" / "compiled" / "widerow" / "rows" / "cells.so").exists()
    assert {path.name for path in (root / "build").iterdir()} == {".lock", "compiled"}


def test_what_a_killed_compilation_left_is_removed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "build" / ".compile-killed" / "new").mkdir(parents=True)
    pip_makes(monkeypatch)
    compiling.main([])
    assert not (root / "build" / ".compile-killed").exists()


class Started:
    """Stands for `subprocess.Popen`, and keeps how it was called."""

    def __init__(self) -> None:
        self.calls: list[dict[str, object]] = []

    def __call__(self, command: list[str], **how: object) -> None:
        self.calls.append({"command": command, **how})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    recorded = Started()
    monkeypatch.setattr(subprocess, "Popen", recorded)
    return recorded


def test_in_the_background_it_outlives_the_terminal_and_goes_last(
    root: Path, started: Started, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiling.main(["--background"]) == 0
    (call,) = started.calls
    assert call["start_new_session"]
    assert call["preexec_fn"] is compiling.lower_priority
    assert (root / "build.log").exists()
    assert "build.log" in capsys.readouterr().err


def test_a_second_one_is_not_started(
    root: Path, started: Started, capsys: pytest.CaptureFixture[str]
) -> None:
    assert root == compiling.ROOT
    with compiling.lock():
        compiling.main(["--background"])
    assert started.calls == []
    assert "still being compiled" in capsys.readouterr().err


def test_nothing_is_started_where_it_is_not_wanted(
    root: Path, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIDEROW_COMPILE", "0")
    compiling.main(["--background"])
    assert started.calls == []
    assert not (root / "build.log").exists()


def test_what_tests_start_runs_the_modules_that_tests_import(tmp_path: Path) -> None:
    """Wherever it is started: sessions of compiled modules are ones of compiled servers."""
    told = "from widerow.rows import record; print(record.__file__)"
    command = [sys.executable, "-c", told]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603  # our own interpreter
    assert done.stdout.strip() == record.__file__
