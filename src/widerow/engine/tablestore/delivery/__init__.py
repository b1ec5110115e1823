"""Delivery tasks without input and output: definitions, file names, values (change §D3).

`service.py` is what the actions call; `server/delivery` writes the files.
"""
