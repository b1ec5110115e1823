"""Results from the documents that a query selected: pages, metrics, groups, highlights.

Begin at `page.find_page`; `highlight.Highlighter` marks matches in rows that were read. All of it
is pure and works on whole arrays: nothing is done in Python for each document.
"""
