"""What a process that serves is set up with: the collector, descriptors, files, its loop."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable
from typing import Final

from widerow.cli.collector import calm_collector, collect_rarely
from widerow.limits import CONNECTIONS_MAX, DESCRIPTORS_FOR_FILES
from widerow.server.settings import passed_over

__all__ = ["loop_factory", "prepare_process", "tell_passed_over"]

_log = logging.getLogger("widerow.server")

# A write needs the writer's thread twice and the loop once, and the loop waits as long for each
# thread that computes. Python's default of 5 ms is longer than a sync takes.
_SWITCH_SECONDS: Final = 0.0001
_OWNER_ALONE: Final = (
    0o077  # for the files of the store, which the engine makes for everyone to read
)


def prepare_process() -> int | None:
    """Set this process up to serve; how many descriptors it has, None where there is no bound."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    calm_collector()
    collect_rarely()
    descriptors = _raise_descriptor_limit()
    _forbid_core_files()
    os.umask(_OWNER_ALONE)
    return descriptors


def tell_passed_over() -> None:
    """Warn in the log of variables that somebody may have meant for a setting."""
    for each in passed_over():
        _log.warning("a variable of the environment is not read", extra={"facts": each._asdict()})


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where there is one for this machine, else the standard loop."""
    with contextlib.suppress(ImportError):
        import uvloop  # noqa: PLC0415  # optional

        return uvloop.new_event_loop
    return None


def _raise_descriptor_limit() -> int | None:
    """Ask for as many descriptors as the bound on connections needs, as far as allowed.

    How many there are then; None where the system does not say, or has no bound.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  # not on every platform

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = CONNECTIONS_MAX + DESCRIPTORS_FOR_FILES
        if soft != resource.RLIM_INFINITY and soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return None if soft == resource.RLIM_INFINITY else soft
    return None


def _forbid_core_files() -> None:
    """What the process holds in memory, secrets first, is not to be written to a disk."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  # not on every platform

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
