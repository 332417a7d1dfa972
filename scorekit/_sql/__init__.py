"""
The wing of SQL: from a text to what it means, and to evidence that two texts mean the same.

In go texts, a schema and a dialect.  Out come tables, faults, a proof, a counterexample.
Its rooms stand on each other, from the ground up: databases, text, schema, meaning, prove and
refute, and the audit.

Read `door.py` first, which names what the house may use, then `text/parsing.py` and
`meaning/tree.py`.
"""
