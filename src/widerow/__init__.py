"""widerow: a self-hosted wide-column table store that speaks foreign table protocols.

Start reading at `model` (what exists), then `storage/interface.py` (what is promised about bytes),
then `engine` (what the operations mean). ARCHITECTURE.md draws the rest.
"""

from typing import Final

__version__: Final = "0.1.0"

__all__ = ["__version__"]
