"""Programs that tests need, from the machine's own distribution, where they may be installed.

python3 -m tools.debian           # all of them; needs nothing but Python
python3 -m tools.debian --night   # also what the night needs
"""

import os
import shutil
import subprocess
import sys
from typing import Final

__all__ = [
    "CHROMIUM",
    "HAPROXY",
    "INSTALL_SECONDS",
    "MARIADB",
    "POSTGRES",
    "PROMETHEUS",
    "install",
    "main",
]

CHROMIUM: Final = ("chromium", "chromium-driver")
POSTGRES: Final = ("postgresql",)
MARIADB: Final = ("mariadb-server-core", "mariadb-client-core")
PROMETHEUS: Final = ("prometheus",)
HAPROXY: Final = ("haproxy",)
NIGHT: Final = ("eatmydata", "xfsprogs")
INSTALL_SECONDS: Final = 400


def install(*packages: str) -> int:
    """Install Debian's packages as root; elsewhere, and as somebody else, do nothing.

    Returns the exit code of apt, 0 where nothing was done.
    """
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return 0
    _apt("update")
    return _apt("install", "--no-install-recommends", *packages)


def _apt(*words: str) -> int:
    # Another process may be installing the same: apt waits for it.
    command = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", *words]
    done = subprocess.run(  # noqa: S603  # packages of the machine's own distribution
        command,
        capture_output=True,
        check=False,
        timeout=INSTALL_SECONDS,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
    return done.returncode


def main() -> int:
    """The command. Returns the exit code."""
    missing = [
        *(CHROMIUM if shutil.which("chromedriver") is None else ()),
        *(POSTGRES if shutil.which("psql") is None else ()),
        *(MARIADB if shutil.which("mariadbd") is None else ()),
        *(PROMETHEUS if shutil.which("promtool") is None else ()),
        *(HAPROXY if shutil.which("haproxy") is None else ()),
        *(NIGHT if "--night" in sys.argv and shutil.which("mkfs.xfs") is None else ()),
    ]
    return install(*missing) if missing else 0


if __name__ == "__main__":
    sys.exit(main())
