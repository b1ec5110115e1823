"""Giving space back, in bounded steps between requests: one loop for every table model.

`sweep.py` is the loop; `model.py` what a table model contributes; `record.py` the durable record of
a pass (docs/formats/statistics.md).
"""
