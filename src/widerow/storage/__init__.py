"""Ordered bytes with transactions and durability.

`interface.py` is the contract; `opener.py` turns a URL into a store and is the only importer of the
drivers `memory.py` and `rocksdb.py`. Start reading at the contract, then `memory.py`.
"""
