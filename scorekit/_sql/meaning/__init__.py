"""
What a query means: one typed relational tree, its names resolved against a schema.

In go a parsed statement and a schema.  Out comes a tree, what a database would refuse when it
plans the query, and which columns it reads.

A text is read by `queries.py`, which asks `sources.py` for tables, `expressions.py` and
`conditions.py` for values, and `names.py` for what a name means.

Read `tree.py` first, then `read.py`.
"""
