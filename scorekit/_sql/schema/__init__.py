"""
What is known of tables: columns, types, keys and other constraints.

In goes what users have: a dump, CREATE statements, or a mapping.  Out comes a `SqlSchema`, which
says of what is not known that it is not known.

Read `tables.py` first, then `definitions.py`.
"""
