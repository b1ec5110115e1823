"""Tunnels: rows and changes of a table, handed to programs that share the work (change §C2).

`state.py` decides who consumes what, `service.py` is what operations call.
"""
