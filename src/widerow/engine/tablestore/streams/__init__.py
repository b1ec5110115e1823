"""Change streams: what every write of a table leaves behind for those who follow it (change §C1).

`recorder.py` writes a record of each change in the transaction of the change, `reading.py` reads
them, `trim.py` removes what has expired. A stream has a shard for each partition of its table
(`engine/tablestore/log_shards.py`); where the records lie says `log.py`.
"""
