"""Timeseries tables as values: series, points, metas, tables, requests and their rules.

The rules stand in docs/spec/tablestore-timeseries.md.
"""
