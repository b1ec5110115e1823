"""How long to wait between two looks for intents.

A look reads the store even where nothing was left, and a store across a network is read by
PostgreSQL or HBase as well. So the pause between two looks doubles as long as none of them finds
an intent, and is short again behind one that does.
"""

from typing import final

from widerow.limits import HOUSEKEEPING_PAUSE_SECONDS, INTENT_LOOK_SECONDS_MAX

__all__ = ["LookPause"]


@final
class LookPause:
    """`seconds`: the pause before the next look.

    It begins with HOUSEKEEPING_PAUSE_SECONDS and grows to INTENT_LOOK_SECONDS_MAX.
    """

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = HOUSEKEEPING_PAUSE_SECONDS

    def looked(self, *, found: bool) -> None:
        """Note a look, and whether it found an intent."""
        longer = min(2 * self.seconds, INTENT_LOOK_SECONDS_MAX)
        self.seconds = HOUSEKEEPING_PAUSE_SECONDS if found else longer
