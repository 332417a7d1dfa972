"""
A database on which two queries differ.

In go two trees, a schema and a seed.  Out comes a counterexample that was run, or nothing.
Databases are aimed at what the queries compare.

Read `search.py` first, then its backends (`backend.py`; `sqlite.py` and `engine.py`), then
`databases.py`.
"""
