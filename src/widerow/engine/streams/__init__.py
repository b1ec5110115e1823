"""Logs of changes, and their readers, for every table model that keeps them (change §C1).

A table has up to two logs: the stream, whose records clients read, and the journal, whose records
say which row was written. `appender.py` writes a record in the transaction of the change,
`stream_reads.py` reads them, `trim.py` removes what has expired. A log has a shard for each
partition of its table (`log_shards.py`); `log.py` has the layout. What a record says is the model's
(`logged.py`).
"""
