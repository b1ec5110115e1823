"""Search indexes in memory and in files: documents, conditions on them, orders, metrics, groups.

Pure: it gets rows and the bytes of files, and reads no clock. `interface.py` has the interfaces
between the parts. Tables, durability and permissions are in `engine/tablestore/search`. Everything
below is imported with the first index, because it needs numpy.
"""
