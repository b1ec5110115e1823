"""The catalogue: the tables, namespaces and drop notes of every table model, as one value.

`model` says what a table model is, `state` what the catalogue holds, `draft` how a change of it is
made in a transaction, `catalog` is the class through which it is read and changed, `partitioned`
shows its tables to the code that divides them into partitions.
"""
