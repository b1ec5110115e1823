"""File systems in a file, whose power can be cut.

ext4 and XFS have an ioctl that drops dirty pages and the journal that is not yet written, at once
(FS_IOC_SHUTDOWN without a flush of the log). Mounted again, the file system holds what had been
synced and whatever else happened to be written, as after a loss of power.
"""

import fcntl
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

__all__ = ["Disk", "why_not"]

_SHUTDOWN: Final = 0x8004587D  # _IOR('X', 125, __u32)
_NO_LOG_FLUSH: Final = 2
_MIB: Final = 1024 * 1024
_SIZE_MB: Final = {"ext4": 512, "xfs": 512}  # mkfs.xfs takes nothing below 300
_TAKEN_SECONDS_MAX: Final = 60.0
_TAKEN_PAUSE_SECONDS: Final = 0.2
_MAKE: Final = {
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,nodiscard"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
}


def why_not(kind: str) -> str:
    """Why there can be no such disk here; empty if there can."""
    if os.geteuid() != 0:
        return "mounting needs root"
    if shutil.which(_MAKE[kind][0]) is None:
        return f"{_MAKE[kind][0]} is not installed"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    with suppress(subprocess.CalledProcessError):
        _run("losetup", "--find")
        return ""
    return "no loop device can be had"


class Disk:
    """A file system of its own under `directory`, mounted between `mount` and `unmount`."""

    def __init__(self, kind: str, directory: Path, *, size_mb: int | None = None) -> None:
        """Make the image and its file system; `kind` is ext4 or xfs."""
        self.kind = kind
        self.place = directory / "mounted"
        self._image = directory / f"{kind}.image"
        self.place.mkdir()
        with self._image.open("wb") as file:
            file.truncate((size_mb or _SIZE_MB[kind]) * _MIB)
        _run(*_MAKE[kind], str(self._image))

    def __enter__(self) -> Self:
        """Mount with the usual options."""
        self.mount()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Unmount, whatever happened, and remove the image."""
        with suppress(subprocess.CalledProcessError):
            self.unmount()
        self._image.unlink()

    def mount(self, options: Sequence[str] = ()) -> None:
        """Mount it.

        A process in another mount namespace (`unshare -m`) may have taken the mount along; then the
        one that was cut is still there and comes back dead, until that process has ended.
        """
        text = ",".join(("loop", *options))
        end = time.monotonic() + _TAKEN_SECONDS_MAX
        while True:
            _run("mount", "-t", self.kind, "-o", text, str(self._image), str(self.place))
            try:
                alive = self.place / "alive"
                alive.touch()
                alive.unlink()
            except OSError:
                self.unmount()
                if time.monotonic() > end:
                    raise
                time.sleep(_TAKEN_PAUSE_SECONDS)
            else:
                return

    def unmount(self) -> None:
        """Unmount it; nothing may be open there."""
        _run("umount", str(self.place))

    def cut(self) -> None:
        """Cut its power. Whoever uses it gets errors from now on."""
        descriptor = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(descriptor)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # fixed programs
