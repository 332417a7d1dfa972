"""
Around any judge: one call at a time for a question, answers that are kept, what asking costs.

In go a key and a function that asks.  Out comes the answer, from memory, from disk or asked.

Read `shelf.py` first, then `claims.py`.
"""
