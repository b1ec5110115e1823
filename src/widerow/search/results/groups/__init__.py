"""Group-bys, one module for each way of making groups (search §6.3).

`breakdown.py` makes the groups below all groups of a level at once, and goes on with the groups
that are answered.
"""
