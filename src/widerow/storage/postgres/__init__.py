"""PostgreSQL: a driver for the layer over databases across a network, with psycopg's libpq.

Everything stands in one table of keys and values (docs/formats/postgres.md).
"""
