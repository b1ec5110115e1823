"""What setup.py does where something is missing: plain modules and one warning, never a failure."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from widerow import __version__

pytestmark = pytest.mark.timeout(300)  # mypyc reads types; others may load the machine

ROOT = Path(__file__).resolve().parents[2]
ONE_HOT_MODULE = 'HOT_MODULES = ("rows/words",)'


# Runs setup.py up to its call of `setup`, and prints the modules that it would compile.
ASK = """
import runpy, setuptools
setuptools.setup = lambda *, ext_modules, **_: print([each.name for each in ext_modules])
runpy.run_path("setup.py", run_name="__main__")
"""
NOTHING = "[]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what the package is built from, with one hot module: reading all takes long."""
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    start, end = text.index("HOT_MODULES = ("), text.index("\n)\n") + 2
    (tmp_path / "setup.py").write_text(text[:start] + ONE_HOT_MODULE + text[end:])
    return tmp_path


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Python, run in the folder to a good end."""
    kept = {name: value for name, value in os.environ.items() if name != "WIDEROW_COMPILE"}
    done = subprocess.run(  # noqa: S603  # our own commands
        [sys.executable, *arguments],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def said(folder: Path, **variables: str) -> str:
    """What a build of the wheel says."""
    done = python(folder, "setup.py", "--quiet", "bdist_wheel", **variables)
    return done.stdout + done.stderr


def why_plain(folder: Path) -> str:
    """The reason in the wheel, which must be plain from its name to its last file."""
    (path,) = (folder / "dist").iterdir()
    assert path.name == f"widerow-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        assert not [name for name in wheel.namelist() if name.endswith(".so")]
        assert "widerow/rows/words.py" in wheel.namelist()
        return wheel.read("widerow/not_compiled.txt").decode().strip()


def test_without_a_compiler_the_wheel_is_plain_and_says_why(folder: Path) -> None:
    assert said(folder, CC="/bin/false").count("WARNING: not compiled") == 1
    reason = why_plain(folder)
    assert "'/bin/false' fails" in reason
    assert "gcc and python3-dev" in reason


@pytest.mark.night
def test_a_compiler_that_fails_later_leaves_nothing_compiled(folder: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: 'cc' is not on the path")
    broken = folder / "broken-cc"
    broken.write_text('#!/bin/sh\ncase "$*" in *probe.c*) exec cc "$@";; esac\nexit 1\n')
    broken.chmod(0o755)
    assert said(folder, CC=str(broken)).count("WARNING: not compiled") == 1
    assert why_plain(folder).startswith("the C compiler fails (")


@pytest.mark.night
def test_what_an_earlier_build_left_is_not_packed(folder: Path) -> None:
    left = folder / "build" / "lib" / "widerow" / "gone.py"
    left.parent.mkdir(parents=True)
    left.touch()
    said(folder, WIDEROW_COMPILE="0")
    (path,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(path) as wheel:
        assert "widerow/gone.py" not in wheel.namelist()


@pytest.mark.night
def test_types_that_do_not_fit_leave_the_modules_plain(folder: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: 'cc' is not on the path")
    words = folder / "src" / "widerow" / "rows" / "words.py"
    words.write_text(words.read_text() + '\nWRONG: int = "not a number"\n')
    text = said(folder)
    assert text.count("WARNING: not compiled") == 1
    assert "Incompatible types in assignment" in text
    assert "types of the modules" in why_plain(folder)


@pytest.mark.night
def test_a_fault_of_types_in_what_is_not_compiled_is_none(folder: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: 'cc' is not on the path")
    errors = folder / "src" / "widerow" / "errors.py"
    errors.write_text(errors.read_text() + '\nWRONG: int = "not a number"\n')
    words = folder / "src" / "widerow" / "rows" / "words.py"
    words.write_text("import widerow.errors\n" + words.read_text())
    assert "widerow.rows.words" in python(folder, "-c", ASK, "bdist_wheel").stdout


@pytest.mark.parametrize("command", ["editable_wheel", "egg_info", "dist_info", "sdist"])
def test_only_a_build_compiles(folder: Path, command: str) -> None:
    assert python(folder, "-c", ASK, command).stdout == NOTHING


def test_a_variable_leaves_everything_plain(folder: Path) -> None:
    assert "WARNING" not in said(folder, WIDEROW_COMPILE="0")
    assert why_plain(folder) == "built with WIDEROW_COMPILE=0"


def test_a_source_distribution_holds_what_a_build_needs(folder: Path) -> None:
    python(folder, "setup.py", "--quiet", "sdist", "--formats", "zip")
    (path,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(path) as archive:
        held = {name.partition("/")[2] for name in archive.namelist()}
    package = {
        path.relative_to(folder).as_posix()
        for path in (folder / "src" / "widerow").rglob("*")
        if path.is_file()
    }
    assert package | {"LICENSE", "README.md", "pyproject.toml", "setup.py"} <= held
