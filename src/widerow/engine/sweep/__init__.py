"""Giving space back, in bounded steps between requests: one loop for every table model.

`sweep.py` is the loop; `model.py` what a table model contributes; `tablestore.py` that of
Tablestore's tables, which typed tables have in `engine/typed/sweep.py`; `record.py` the durable
record of a pass (docs/formats/statistics.md).
"""
