"""Local transactions: requests on one partition key value that happen together or not at all.

`transactions` is what the engine offers, `open_transaction` is one that is open, `row_writes` makes
row changes inside it, `commit` hands them to the store, `identity` gives and reads ids. What other
writers ask is in `engine/locks.py`. (docs/spec/tablestore-change.md, section B)
"""
