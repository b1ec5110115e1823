"""The data models as frozen values: cell values, schemas, rows, conditions, filters, ranges.

Imports `errors` and `limits` only. Start reading at `values.py`.
"""
