"""What a table or a workload costs and need not: read over the protocol, so of any endpoint.

`expiry.py` judges a sample of rows (`sampling.py`), `cost.py` a recording of the proxy or the
counters of a running server. Both are pure; the commands read and show.
"""
