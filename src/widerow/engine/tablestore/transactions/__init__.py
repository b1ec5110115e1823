"""Local transactions: requests on one partition key value that take effect together or not at all.

`transactions` has the operations, `open_transaction` is one open transaction, `row_writes` makes
row changes inside it, `commit` writes them to the store, `identity` makes and checks ids. Locks
against other writers are in `engine/locks.py`. (docs/spec/tablestore-change.md, section B)
"""
