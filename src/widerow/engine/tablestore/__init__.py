"""Tablestore's table model: rows, versions, indexes, transactions, streams, tunnels, search.

`model.py` is what the core of the engine knows of it; `row_operations.py`,
`table_definitions.py` and the packages are its operations, by the vendor's names.
"""
