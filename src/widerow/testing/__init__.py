"""The test kit, for users and our own tests: a fake clock, and a server inside the process.

Shipped with the package. Imports anything; nothing in the product imports it. Start at `plugin.py`
and `server.py`, or at docs/guide/testing.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from widerow.testing.clock import FakeClock
    from widerow.testing.instance import WiderowInstance
    from widerow.testing.kit import FaultList
    from widerow.testing.server import WiderowServer

__all__ = ["FakeClock", "FaultList", "WiderowInstance", "WiderowServer"]

_MODULES: Final = {
    "FakeClock": "clock",
    "FaultList": "kit",
    "WiderowInstance": "instance",
    "WiderowServer": "server",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # of any type
    """Load a name when it is asked for.

    pytest loads `plugin.py`, and this package with it, into every session of an environment that
    has widerow; a session without a server must not load one.
    """
    if name in _MODULES:
        return getattr(import_module(f"widerow.testing.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
