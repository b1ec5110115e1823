"""What users and our own tests build on: a fake clock, and a server inside the process.

Shipped with the package. Imports anything; nothing in the product imports it.
"""
