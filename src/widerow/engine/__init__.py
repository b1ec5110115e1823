"""The table store itself: pure, given a store, a clock and entropy.

`engine.py` is the core, which knows no table model by name. Each model has a room: `tablestore` and
`typed`. An operation is a function of a reader or transaction, a table, a request and the time: it
validates, reads, decides, and only then writes. Imports everything below, no wire dialect and no
driver.
"""
