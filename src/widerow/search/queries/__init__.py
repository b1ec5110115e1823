"""Conditions on documents, carried out (search §4).

`compile.py` makes a tree of nodes from a query, against the schema and the bounds; `node.py` says
what a node is; the other modules have one kind of query each.
"""
