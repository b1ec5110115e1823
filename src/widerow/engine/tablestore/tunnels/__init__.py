"""Tunnels: rows and changes of a table, handed to programs that share the work (change §C2).

`state.py` assigns channels to clients, `service.py` has the operations.
"""
