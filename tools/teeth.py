"""Plant one defect at a time and see that the tests catch it.

    python -m tools.teeth                      # all of them, one recorded line each
    python -m tools.teeth version-order        # only this one
    python -m tools.teeth --fit                # only see that each patch fits (`make check`)

A defect is a patch in tests/teeth. Its first line says what it breaks, its second what catches it:
arguments of pytest, or `-m` and a module with arguments. The repository is copied to a temporary
folder, one patch is applied there, and what catches it is run there and must fail. The copy without
a patch is the control: in it, all of them must pass.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from compileall import compile_dir
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from rich.progress import track
from tools.evidence import record

__all__ = [
    "PATCHES",
    "Defect",
    "PatchMisfit",
    "apply",
    "copy_of_repository",
    "defects",
    "main",
    "misfits",
    "prepare",
    "verdict",
]

ROOT: Final = Path(__file__).resolve().parents[1]
PATCHES: Final = ROOT / "tests" / "teeth"
_CAUGHT_BY: Final = "# caught by: "
_APPLYING: Final = ("-C1", "--whitespace=nowarn")
_SECONDS_MAX: Final = 300  # four seconds on an idle machine
_WHOLE: Final = ("-m", "night or not night", "--hypothesis-profile=teeth")
_LEFT_OUT: Final = (
    *(".git", ".venv", "build", "dist", "node_modules", "widerow-data", "__pycache__"),
    *("*.egg-info", ".*_cache", ".hypothesis", "target"),
)


class Defect(NamedTuple):
    """A patch: its name, what it breaks, and the command that catches it."""

    name: str
    told: str
    command: tuple[str, ...]

    @property
    def patch(self) -> Path:
        """The file."""
        return PATCHES / f"{self.name}.patch"


def defects() -> list[Defect]:
    """All of them, by name. Raises `ValueError` for a file that does not begin as it must."""
    return [_defect(path) for path in sorted(PATCHES.glob("*.patch"))]


def _defect(path: Path) -> Defect:
    told, caught_by, *_ = path.read_text(encoding="utf-8").splitlines()
    if not told.startswith("# ") or not caught_by.startswith(_CAUGHT_BY):
        raise ValueError(f"{path.name} does not begin with what it breaks and what catches it")
    return Defect(path.stem, told[2:], tuple(shlex.split(caught_by.removeprefix(_CAUGHT_BY))))


class PatchMisfit(Exception):
    """The code that a patch breaks has changed."""


@cache
def _first_copy() -> TemporaryDirectory[str]:
    """The repository as it stands; made once in a process."""
    folder = TemporaryDirectory(prefix="widerow-teeth-")
    ignored = shutil.ignore_patterns(*_LEFT_OUT)
    shutil.copytree(ROOT, Path(folder.name) / "widerow", ignore=ignored)
    return folder


def prepare() -> None:
    """Make what each of many suites would make first, in all copies.

    That is the bytecode of each module that it imports, and the tables of Unicode of Hypothesis:
    half of the time of many suites. Python compares bytecode with the bytes of its source, so a
    patch makes it compile what it changes.
    """
    copy = Path(_first_copy().name) / "widerow"
    for part in ("src", "tests", "tools"):
        compile_dir(copy / part, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    tables = "from hypothesis import strategies; strategies.text().validate()"
    subprocess.run([sys.executable, "-c", tables], cwd=copy, check=True)  # noqa: S603  # our own


@contextmanager
def copy_of_repository() -> Iterator[Path]:
    """The repository as it stood at the first call, in a temporary folder.

    Its files are links, as copying takes longer than most suites: git puts a new file in the place
    of one that a patch changes, and no suite may write into one.
    """
    with TemporaryDirectory(prefix="widerow-teeth-") as folder:
        copy = Path(folder) / "widerow"
        shutil.copytree(Path(_first_copy().name) / "widerow", copy, copy_function=os.link)
        yield copy


def apply(defect: Defect, copy: Path, *options: str) -> None:
    """Plant a defect in a copy; with `--check`, only see that it could be planted.

    Raises `PatchMisfit` if the patch fits no more.
    """
    done = subprocess.run(  # noqa: S603  # our own patch
        ["git", "apply", *_APPLYING, *options, str(defect.patch)],  # noqa: S607  # wherever git is
        cwd=copy,
        check=False,
        capture_output=True,
        text=True,
        # A folder inside a repository would be taken for a part of it, and the patch be skipped.
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)},
    )
    if done.returncode != 0:
        raise PatchMisfit(f"{defect.patch.name} fits no more, make it again: {done.stderr}")


def verdict(command: Sequence[str], copy: Path) -> bool:
    """Whether a command finds a copy to be right.

    Raises `RuntimeError` where it says nothing of the copy, because it could not run at all or took
    too long: that is not a defect caught.
    """
    tested = command[0] != "-m"
    if tested:
        # A directory of its own: pytest fails at the end where others clear the common one.
        own = f"--basetemp={copy.parent / 'pytest'}"
        # Nobody reads why a test fails, but where it hangs.
        stacks = ("-o", f"faulthandler_timeout={_SECONDS_MAX * 2 // 3}")
        quiet = ("--assert=plain", "-p", "no:cacheprovider", *stacks)
        command = ("-m", "pytest", "-x", "-q", "-n", "0", *_WHOLE, *quiet, own, *command)
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(  # noqa: S603  # our own tests
            [sys.executable, *command],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stderr or b""
        last = said[-4000:].decode(errors="replace") if isinstance(said, bytes) else said[-4000:]
        raise RuntimeError(f"{shlex.join(command)} took too long: {last}") from error
    told = " failed" in done.stdout if tested else done.stdout.startswith("{")
    if done.returncode == 0 or (done.returncode == 1 and told):
        return done.returncode == 0
    raise RuntimeError(f"{shlex.join(command)} could not run: {done.stdout}{done.stderr}")


def misfits(chosen: Iterable[Defect]) -> list[str]:
    """What is wrong with each patch that cannot be applied to the repository as it stands."""
    found = []
    for defect in chosen:
        try:
            apply(defect, ROOT, "--check")
        except PatchMisfit as error:
            found.append(str(error))
    return found


def _record(name: str, caught: int, seconds: float, facts: dict[str, str]) -> None:
    record(
        name, volume=1, unit="plantings", violations=1 - caught, seconds=seconds, facts=dict(facts)
    )


def _run_control(chosen: Iterable[Defect]) -> int:
    """Everything that catches something passes where there is nothing to catch."""
    commands = sorted({defect.command for defect in chosen})
    begun = time.monotonic()
    failed = []
    with copy_of_repository() as copy:
        for command in commands:
            try:
                why = "" if verdict(command, copy) else "it fails"
            except RuntimeError as error:
                why = str(error)
            if why:
                failed.append(command)
                print(f"without any defect: {shlex.join(command)}: {why}", file=sys.stderr)
    record(
        "teeth: nothing planted",
        volume=len(commands),
        unit="suites",
        violations=len(failed),
        seconds=time.monotonic() - begun,
    )
    return len(failed)


def _show_misfits(chosen: Iterable[Defect]) -> int:
    if shutil.which("git") is None:
        print("SKIPPED: whether the planted defects fit, because git is not installed")
        return 0
    found = misfits(chosen)
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return int(bool(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code: 1 if a defect was missed, or the control failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = {defect.name: defect for defect in defects()}
    parser.add_argument("names", nargs="*", help="of defects; all of them if none is given")
    parser.add_argument("--fit", action="store_true", help="only see that the patches fit")
    given = parser.parse_args(arguments)
    names = given.names or list(known)
    if unknown := set(names) - known.keys():
        parser.error(f"no such defect: {', '.join(sorted(unknown))}")
    chosen = [known[name] for name in names]
    if given.fit:
        return _show_misfits(chosen)
    prepare()
    missed = _run_control(chosen)
    for defect in track(chosen, "defects", disable=not sys.stdout.isatty()):
        begun = time.monotonic()
        try:
            with copy_of_repository() as copy:
                apply(defect, copy)
                caught = not verdict(defect.command, copy)
        except (PatchMisfit, RuntimeError) as error:
            print(error, file=sys.stderr)
            caught = False
        missed += not caught
        facts = {"breaks": defect.told, "caught_by": shlex.join(defect.command)}
        _record(f"control: teeth, {defect.name}", int(caught), time.monotonic() - begun, facts)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
