"""Search indexes in memory and in files: documents, conditions on them, orders, metrics, groups.

Pure: it is handed rows and the bytes of files, and reads no clock. `interface.py` says what the
parts promise each other. What belongs to a table, what is durable and who may ask is the business
of `engine/tablestore/search`. Everything below is imported with the first index, because it needs
numpy.
"""
