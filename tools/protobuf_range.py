"""Run the tests of the dialect under both ends of the range of protobuf that widerow supports.

The vendor's SDK pins `protobuf<6`, so everyone who has it runs the other tests under an old
runtime; a server without the SDK gets the newest. This makes an environment for each end, below
`.venv`, puts the SDK there against its own pin, and runs what touches messages. Needs a package
index. The first run takes a minute for each environment, later ones some seconds.

    python -m tools.protobuf_range              # both ends
    python -m tools.protobuf_range 'protobuf==6.33.*'
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["ends", "main"]

ROOT: Final = Path(__file__).resolve().parents[1]
ENVIRONMENTS: Final = ROOT / ".venv" / "protobuf"
TOOLS: Final = ("pytest", "pytest-timeout", "hypothesis", "tablestore", "grpcio-tools")
TESTS: Final = ("tests/unit/wire", "tests/golden", "tests/compat/python/test_rows.py")


def ends(requirement: str) -> tuple[str, str]:
    """The oldest and the newest release that `requirement`, as in `protobuf>=5.26`, allows.

    Raises: `ValueError` if it has no lower bound.
    """
    lower = re.fullmatch(r"protobuf>=(?P<version>[\d.]+)(?P<more>,.+)?", requirement)
    if lower is None:
        raise ValueError(f"no lower bound in {requirement!r}")
    return f"protobuf=={lower['version']}.*", requirement


def declared() -> str:
    """What pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [each for each in project["dependencies"] if each.startswith("protobuf")]
    requirement: str = found[0]
    return requirement


def check(requirement: str) -> int:
    """Make the environment of one requirement, and the exit code of the tests in it."""
    folder = ENVIRONMENTS / re.sub(r"[^\w.]+", "-", requirement).strip("-.")
    python = str(folder / "bin" / "python")
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if not folder.exists():
        run(sys.executable, "-m", "venv", str(folder))
        run(*install, "--editable", str(ROOT), *TOOLS)
    # pip warns that the SDK wants an older one. It does, and works.
    run(*install, "--upgrade", requirement)
    version = "from google.protobuf import __version__ as v; print('protobuf', v, flush=True)"
    run(python, "-c", version)
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603  # ours


def run(*command: str) -> None:
    """One step. Raises: `CalledProcessError`."""
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603  # ours


def main(arguments: Sequence[str]) -> int:
    """0 if the tests pass under every requirement named, or under both ends of the range."""
    requirements = arguments or ends(declared())
    return max([check(each) for each in requirements])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
