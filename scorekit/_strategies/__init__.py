"""
Hypothesis strategies behind `scorekit.strategies`.

In goes a type or a schema.  Out come values that scorekit takes, ugly ones included.

Read `fields.py` first, then `queries.py`.
"""
