"""The parts of the dialect of Oracle NoSQL's drivers (docs/protocol/nosql.md)."""
