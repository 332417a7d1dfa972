"""
What a text says before anything is known of a schema: statements, names, tables.

In goes text of any origin.  Out come parsed statements, or a `SqlError` that says whose fault it
is; the base tables of a script; and what the error messages of databases mean.

Read `parsing.py` first, then `base_tables.py`.
"""
