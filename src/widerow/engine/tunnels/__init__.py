"""Tunnels: rows and changes of a table, handed to programs that share the work (change §C2).

`state.py` assigns channels to clients, `service.py` has the operations, for tables of every model
that has streams; `hooks.py` says what they ask of it.
"""
