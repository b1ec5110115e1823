"""What the numbers of a run depend on: the commit, the machine, the versions, the settings."""

import os
import platform
import re
import shutil
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.measure import Settings

from widerow.rows import checksum

_PACKAGES: Final = ("rocksdict", "uvloop", "httptools", "protobuf", "fastcrc")
_PROGRAMS: Final = (
    ("wrk", ("wrk", "-v")),
    ("PostgreSQL", ("pgbench", "--version")),
    ("Redis", ("redis-server", "--version")),
    ("Node", ("node", "--version")),
)


def describe(settings: Settings, generator: str) -> dict[str, Any]:
    """The head of a result document."""
    return {
        "commit": commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",  # noqa: TID251  # when it was measured
        "generator": generator,
        "compiled": Path(checksum.__file__ or "").suffix != ".py",
        "load_average": f"{os.getloadavg()[0]:.1f}",
        "machine": machine(),
        "versions": {name: version(name) for name in _PACKAGES} | programs(),
        "settings": asdict(settings),
    }


def machine() -> dict[str, Any]:
    """Processor, memory and system."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": processor(Path("/proc/cpuinfo").read_text()),
        "cores": os.cpu_count(),
        "memory_gib": round(pages * size / 2**30),
        "system": platform.platform(),
        "python": interpreter(),
    }


def interpreter() -> str:
    """The version and which build of it this is: how it was built is worth a tenth."""
    _, date = platform.python_build()
    return f"{platform.python_version()} (built {date}, {platform.python_compiler()})"


def processor(said: str) -> str:
    """The model of the processor, in what the kernel says about it."""
    for each in said.splitlines():
        name, _, value = each.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def programs() -> dict[str, str]:
    """The installed versions of what is compared with."""
    return {name: said(command) for name, command in _PROGRAMS if shutil.which(command[0])}


def said(command: tuple[str, ...]) -> str:
    """The first word with a digit and a point in the first line that a command prints."""
    done = subprocess.run(  # noqa: S603  # fixed commands
        command, check=False, capture_output=True, text=True
    )
    lines = (done.stdout or done.stderr).splitlines() or ["unknown"]
    words = [re.split("[/=]", word)[-1].strip("v,") for word in lines[0].split()]
    return next((word for word in words if word[:1].isdigit() and "." in word), "unknown")


def commit() -> str:
    """The commit that is checked out, and whether the product differs from it."""
    folder = str(Path(__file__).parent.parent)
    try:
        head = git(folder, "rev-parse", "--short=10", "HEAD")
        changed = git(folder, "status", "--porcelain", "--", "src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} with changes" if changed else head


def git(folder: str, *words: str) -> str:
    """What git prints."""
    command = ["git", "-C", folder, *words]
    done = subprocess.run(  # noqa: S603  # git and our own words
        command, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
