"""Delivery tasks, without their files: definitions, names of files, values of rows (change §D3).

`service.py` is what the actions call; `server/delivery` writes the files.
"""
