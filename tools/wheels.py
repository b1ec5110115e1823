"""Build the wheels of a release: one for each Python that is here, compiled, and a plain one.

    python -m tools.wheels               # into dist; make wheels does it

A Python is looked for on the path and among those of pyenv; one that is missing is named and
skipped. The sources are copied once, so that an edit meanwhile does not mix two states. pip makes
an environment for each build, of what pyproject.toml asks for under `build-system`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tools.compile import ROOT, BuildFailed, copy_sources, run

VERSIONS: Final = ((3, 11), (3, 12), (3, 13), (3, 14))
_WHY_PLAIN: Final = "widerow/not_compiled.txt"  # what setup.py leaves in a package
_ASKED: Final = "import sys; print(*sys.version_info[:2])"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the wheels; return what the process exits with: 1 if a build failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="the folder of the wheels")
    folder: Path = parser.parse_args(arguments).into.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    with tempfile.TemporaryDirectory(prefix="widerow-wheels-") as name:
        source = Path(name) / "source"
        copy_sources(source)
        for python, compiled in builds():
            try:
                print(f"{build(python, source, folder, compiled=compiled).name}", flush=True)
            except BuildFailed as error:
                print(f"failed: {error}", flush=True)
                failed = True
    return 1 if failed else 0


def builds() -> Iterator[tuple[Path, bool]]:
    """What is to be built: with which Python, and whether compiled. Names Pythons that lack."""
    for version in VERSIONS:
        python = find_python(version)
        if python is None:
            print(f"skipped: CPython {'.'.join(map(str, version))} is not here", flush=True)
        else:
            yield python, True
    yield Path(sys.executable), False


def find_python(version: tuple[int, int]) -> Path | None:
    """A Python of this version that runs, or None."""
    name = "python{}.{}".format(*version)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = shutil.which(name)
    places = [Path(sys.executable), *([Path(found)] if found else [])]
    places += sorted(pyenv.glob(f"versions/{version[0]}.{version[1]}.*/bin/{name}"), reverse=True)
    for place in places:
        asked = [str(place), "-c", _ASKED]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603  # a Python
        if done.returncode == 0 and done.stdout.split() == [str(part) for part in version]:
            return place
    return None


def build(python: Path, source: Path, folder: Path, *, compiled: bool) -> Path:
    """Build one wheel of `source` into `folder`; the wheel.

    Raises:
        BuildFailed: The build failed, or the wheel is not compiled although it should be.
    """
    with tempfile.TemporaryDirectory(prefix="widerow-wheel-") as name:
        own, new = Path(name) / "source", Path(name) / "new"
        shutil.copytree(source, own)  # a build leaves files beside the sources
        switch = () if compiled else ("env", "WIDEROW_COMPILE=0")
        wanted = ("--no-deps", "--disable-pip-version-check", "--wheel-dir", str(new), str(own))
        run(*switch, str(python), "-m", "pip", "wheel", *wanted)
        (wheel,) = new.glob("*.whl")
        if compiled == wheel.name.endswith("-none-any.whl"):
            with zipfile.ZipFile(wheel) as archive:
                why = archive.read(_WHY_PLAIN).decode().strip() if compiled else "it is compiled"
            raise BuildFailed(f"{python} made {wheel.name}: {why}")
        return Path(shutil.move(wheel, folder / wheel.name))


if __name__ == "__main__":
    sys.exit(main())
