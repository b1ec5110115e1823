"""Compile the hot modules: build the wheel, and unpack it into build/compiled.

    python -m tools.compile               # wait for it
    python -m tools.compile --background  # start it with low priority, say so, and return

The wheel is built in an environment of its own (build/env) that holds what pyproject.toml asks for
under `build-system` and nothing else, as pip does it for somebody who installs the package; the
network is needed only where that list has changed. It is built from a copy of the sources, so that
nothing is written into src and an edit meanwhile does not mix two states.

build/compiled holds the wheel and its modules. It appears whole or not at all. Its file .stamp has
the time of the copy, and is missing where the modules stayed plain (setup.py says why). One
compilation runs at a time; a second one waits, and finds the work done.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BUILD: Final = ROOT / "build"
COMPILED: Final = BUILD / "compiled"
ENVIRONMENT: Final = BUILD / "env"
LOG: Final = ROOT / "build.log"
FILES: Final = ("LICENSE", "README.md", "pyproject.toml", "setup.py")
LOWEST_PRIORITY: Final = 19
STARTED: Final = (
    "Serving as plain Python. For the next start, which is about twice as fast, the hot modules "
    "are compiled in the background: two minutes with low priority, and Ctrl-C does not stop it. "
    "If it fails, build.log says why, and the next start is as this one and tries again."
)
STILL: Final = (
    "Serving as plain Python; the hot modules are still being compiled, for the next start."
)


class BuildFailed(Exception):
    """The wheel could not be built; the text says by which command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile what is not compiled yet; return what the process exits with."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--background", action="store_true", help="start it and return")
    options = parser.parse_args(arguments)
    if options.background:
        start_in_background()
        return 0
    try:
        with lock():
            if not is_current():
                compile_modules()
    except BuildFailed as error:
        print(f"The wheel could not be built: {error}", file=sys.stderr)
        return 1
    return 0


def start_in_background() -> None:
    """Start a compilation that goes on when this process and its terminal end."""
    if os.environ.get("WIDEROW_COMPILE") == "0":
        return
    if is_running():
        say(STILL)
        return
    with LOG.open("wb") as log:
        subprocess.Popen(  # noqa: S603  # this file
            [sys.executable, __file__],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lower_priority,  # noqa: PLW1509  # this process has one thread
        )
    say(STARTED)


def lower_priority() -> None:
    """Let every other process go first."""
    os.nice(LOWEST_PRIORITY)


@contextmanager
def lock() -> Iterator[None]:
    """Keep other compilations of this folder waiting; the system lets go if the process ends."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for a compilation that is running already ...")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_running() -> bool:
    """Whether another process compiles in this folder."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / ".lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def is_current() -> bool:
    """Whether build/compiled is newer than everything it is made from."""
    try:
        made = (COMPILED / ".stamp").stat().st_mtime_ns
    except FileNotFoundError:
        return False
    # .runtime: when the environment that is to run them was made, for its version of Python.
    also = [ROOT / "pyproject.toml", ROOT / "setup.py", Path(sys.prefix) / ".runtime"]
    paths = [*modules(), *filter(Path.exists, also)]
    return all(path.stat().st_mtime_ns <= made for path in paths)


def modules() -> Iterator[Path]:
    """The files of the package."""
    for path in (ROOT / "src").rglob("*"):
        if path.is_file() and not any(is_made(part) for part in path.parts):
            yield path


def copy_sources(target: Path) -> None:
    """Copy what the package is built from."""
    for path in [*(ROOT / name for name in FILES), *modules()]:
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def is_made(name: str) -> bool:
    """Whether a file or folder of this name is made by a program."""
    return name == "__pycache__" or name.endswith(".egg-info")


def compile_modules() -> None:
    """Build the wheel and put it and its modules into build/compiled.

    Raises:
        BuildFailed: There is no wheel, not even a plain one.
    """
    for left in BUILD.glob(".compile-*"):  # by a compilation that was killed
        shutil.rmtree(left)
    prepare_environment()
    print("Compiling the hot modules (about two minutes, once for each change) ...", flush=True)
    with tempfile.TemporaryDirectory(prefix=".compile-", dir=BUILD) as name:
        folder = Path(name)
        new, source = folder / "new", folder / "source"
        new.mkdir()
        stamp = folder / "stamp"
        stamp.touch()  # before the copy: what is edited from now on is newer
        copy_sources(source)
        # With -v, pip shows the words of a build that succeeds, too.
        wanted = ("--no-build-isolation", "--no-deps", "--wheel-dir", str(new), str(source))
        said = pip("wheel", "-v", *wanted)
        (new / "build.log").write_bytes(said)
        unpack(new)
        if compiled_parts(new):
            stamp.replace(new / ".stamp")
        if COMPILED.exists():
            COMPILED.rename(folder / "old")
        new.rename(COMPILED)
    if not compiled_parts(COMPILED):
        reason = (COMPILED / "widerow" / "not_compiled.txt").read_text(encoding="utf-8").strip()
        say(f"Not compiled: {reason}. build/compiled/build.log has all that was said.")


def prepare_environment() -> None:
    """Make build/env hold what pyproject.toml asks for under `build-system`."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["build-system"]["requires"]
    note = ENVIRONMENT / ".requires"
    expected = "\n".join((sys.version, *wanted))
    if note.exists() and note.read_text(encoding="utf-8") == expected:
        return
    print("Installing what compiling takes into build/env (once) ...", flush=True)
    run(sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT))
    pip("install", "--quiet", *wanted)
    note.write_text(expected, encoding="utf-8")


def pip(command: str, *arguments: str) -> bytes:
    """Run pip in build/env; return what it says."""
    python = str(ENVIRONMENT / "bin" / "python")
    return run(python, "-m", "pip", command, "--disable-pip-version-check", *arguments)


def run(*command: str) -> bytes:
    """Run a program to its end; return what it says, and show it if it fails.

    Raises:
        BuildFailed: It ended with another exit code than 0.
    """
    # Modules found by a variable would not be those of the environment.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(  # noqa: S603  # our own commands
        command, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode != 0:
        sys.stdout.buffer.write(done.stdout)
        raise BuildFailed(f"'{' '.join(command)}' ended with exit code {done.returncode}")
    return done.stdout


def unpack(folder: Path) -> None:
    """Lay the modules of the one wheel in `folder` beside it, without its metadata."""
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        archive.extractall(folder, names)


def compiled_parts(folder: Path) -> list[Path]:
    """The compiled modules in a folder; none where they stayed plain."""
    return list(folder.glob("widerow/rows/*.so"))


def say(text: str) -> None:
    """Tell whoever started this."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
