"""Rows into and out of a table: import, export and archive, over the protocol itself.

Works with every endpoint that speaks it, through `widerow.client`. `export.py`, `load.py` and
`archive.py` are what the commands of the same names do.
"""
