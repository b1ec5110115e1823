"""Partitions: contiguous ranges of the partition key, what they carry, when they split and merge.

`rules` decides, from statistics alone; `table_load` keeps the statistics of one table; `balance`
puts both beside a store. Keys here are encoded partition key values without any prefix; the empty
key stands for INF_MIN. (semantics §1.2)
"""
