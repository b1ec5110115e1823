"""What users and our own tests build on: a fake clock, and a server inside the process.

Shipped with the package. Imports anything; nothing in the product imports it.
Start at `server.py`, or at docs/guide/testing.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widerow.testing.clock import FakeClock
    from widerow.testing.server import WiderowServer

__all__ = ["FakeClock", "WiderowServer"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    """Load a name when it is asked for.

    pytest loads `plugin.py`, and this package with it, into every session of an environment that
    has widerow; those that start no server must not pay for loading one.
    """
    if name == "FakeClock":
        from widerow.testing.clock import FakeClock  # noqa: PLC0415  # see above

        return FakeClock
    if name == "WiderowServer":
        from widerow.testing.server import WiderowServer  # noqa: PLC0415  # see above

        return WiderowServer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
