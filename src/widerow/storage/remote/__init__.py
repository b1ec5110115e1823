"""Databases across a network: one layer for all of them, and what a driver of one has to give.

`driver.py` is what a driver gives: reads, pages, conditional commits. `optimistic.py` makes a store
of it. A driver runs no bodies and knows no shards.
"""
