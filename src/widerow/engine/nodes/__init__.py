"""The servers of one shared store, as they know of each other: its nodes.

`record.py` is what a node tells the others, `nodes.py` how it tells them, hears them, and when it
may go by the catalogue that it has read; `clocks.py` how far clocks are apart. A store that is one
process's own has no nodes, and nothing here is asked then.
"""
