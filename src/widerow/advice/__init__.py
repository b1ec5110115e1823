"""Advice on the cost of a table or a workload, over the protocol, so for any endpoint.

`expiry.py` judges a sample of rows (`sampling.py`), `cost.py` a recording of the proxy or the
counters of a running server. Both are pure; the commands read and show.
"""
