"""
What databases are: the facts of each dialect, functions, and kinds of values, as tables.

In go names: of a dialect, a function, a type.  Out come meanings: what a function computes and
where, what a type holds, and which syntax a database refuses.

Read `functions.py` first, then `dialects.py`.
"""
