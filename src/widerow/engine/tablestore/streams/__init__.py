"""Change streams: records of every write of a table, for clients that follow it (change §C1).

`recorder.py` writes a record of each change in the transaction of the change, `stream_reads.py`
reads them, `trim.py` removes what has expired. A stream has a shard for each partition of its
table (`engine/tablestore/log_shards.py`); `log.py` has the layout of the records.
"""
