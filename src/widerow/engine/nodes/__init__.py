"""Nodes: the servers of one shared store, and what they know of each other.

`record.py` is what a node tells the others, `nodes.py` how nodes write and read these records, and
how long the catalogue that a node has read may be used; `clocks.py` how far clocks are apart. A
store of one process has no nodes.
"""
