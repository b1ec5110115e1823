"""The console: pages for people, on the port of the server (docs/operating/console.md).

`console.py` takes a request to its page, `gate.py` decides who may come in, `pages.py` lists the
pages, and each page has a module. A page is a function from a visit to a document: plain data,
which is the answer to `PATH.json` as it stands, and what the page's template shows.
"""
