"""The operations of typed tables: one file each, over the same store as the other dialect's.

`engine` is the facade, `model` and `tables` are the tables, `form` is what is worked out once for a
table, `stored` a row as it is read. Reads take a reader, writes are bodies that run in a
transaction of one shard.
"""
