"""
Around any judge: what is asked, how fast and how often, at which cost, and what is kept of it.

In go a key and a function that asks.  Out comes the answer, from memory, from disk or asked.

Read `asking.py`, `pace.py` and `line.py` for asking; `shelf.py`, `memo.py` and `claims.py` for
keeping.
"""
