"""Rows into and out of a table: import, export and archive, over the protocol itself.

Works with every endpoint that speaks it. Start at `client.py`, which signs, sends and repeats;
`export.py`, `load.py` and `archive.py` are what the commands of the same names do.
"""

from widerow.transfer.client import Client, Endpoint

__all__ = ["Client", "Endpoint"]
