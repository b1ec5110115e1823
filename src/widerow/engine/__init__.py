"""The table store itself: pure, given a store, a clock and entropy.

Each operation is a function of a reader or transaction, a table, a request and the time: it
validates, reads, decides, and only then writes. `engine.py` lists the operations; `writes.py`,
`reads.py` and `ranges.py` hold them, `catalog/` the tables. Imports everything below, no wire
dialect and no driver.
"""
