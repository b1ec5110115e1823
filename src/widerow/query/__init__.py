"""Queries over rows of any table model: relations, expressions, operators, access paths, a budget.

No query language stands here: names, types, coercions and texts of errors belong to the language.
Start at `plan.py`, which has what a query can be made of; `run_plan.py` runs it.
"""
