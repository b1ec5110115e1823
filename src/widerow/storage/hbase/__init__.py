"""HBase: a driver for the layer over databases across a network, in HBase's own protocol.

No JVM, no gateway and no ZooKeeper on this side. `rpc.py` speaks to one server, `regions.py` knows
which server has what, `rows.py` says under which rows keys stand, `driver.py` reads and commits,
`opening.py` makes the table and refuses one that is not safe.
"""
