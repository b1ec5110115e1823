"""Timeseries tables: points of series, metas, splits, last-point indexes, analytical stores.

What the vendor promises stands in docs/spec/tablestore-timeseries.md, how it is stored in
docs/formats/timeseries.md.
"""
