"""
Why two queries return the same rows on every database: a proof, step by step.

In go two trees and a schema.  Out comes a proof with what it rests on, or nothing.  Rules are
pure functions from a tree to an equal tree.

Read `rule.py` first, then `search.py`.
"""
