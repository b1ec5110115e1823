"""The actions of search indexes (search §1, §4 to §7). `actions.py` has them.

`queries.py`, `orders.py` and `breakdowns.py` read what a search asks for, `answers.py` writes what
it came to, `schemas.py` does both for the fields of an index. `unfolding.py` bounds them all.
"""
