"""Frozen values of Tablestore's model: schemas, rows, conditions, filters, requests and answers."""
