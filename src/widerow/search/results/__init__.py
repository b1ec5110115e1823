"""What is made of the documents that a query selected: pages, metrics, groups, highlights.

`page.find_page` is the way in; `highlight.highlighted` marks what matched once a row was read. All
of it is pure and works on whole arrays: nothing is done in Python for each document.
"""
