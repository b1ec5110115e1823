"""Evaluates queries (search §4).

`compile.py` makes a tree of nodes from a query, against the schema and the bounds; `node.py` has
the interface of nodes; the other modules have one kind of query each.
"""
