"""A point at which a long loop lets other threads run.

Interpreted code hands over the interpreter's lock when another thread has waited for it as long as
the switch interval; compiled code asks nobody, and a batch of rows would keep the loop of the
server waiting for milliseconds. So this module is never compiled: calling into it is what asks.
"""

__all__ = ["safepoint"]


def safepoint() -> None:
    """Let another thread run if one has waited for a switch interval. Cost: a call."""
