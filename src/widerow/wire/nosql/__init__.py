"""Oracle NoSQL's protocol over HTTP: NSON, operations, SQL (docs/protocol/nosql.md)."""
