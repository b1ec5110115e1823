"""Group-bys, one module for each way of making groups (search §6.3).

`breakdown.py` takes a level of groups, makes the groups below it for all of them at once, and goes
on with those that are answered.
"""
