"""Local transactions: requests on one partition key value that take effect together or not at all.

`transactions` has the operations and their rules. Where one process has the store, what is open is
in its memory: `memory_transactions`, `open_transaction`, `commit`; locks against other writers are
in `engine/locks.py`. Where several share it, it is in the shard of the key: `shard_transactions`,
`shard_state`, `shard_commit`, `request_records`, what of it a process knows in
`known_transactions`, what nobody ends in `lock_sweep`; locks are in `../shard_locks.py`. Both make
row changes by `row_writes`, and ids by `identity`. (docs/spec/tablestore-change.md, section B)
"""
