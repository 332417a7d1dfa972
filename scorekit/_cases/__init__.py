"""
How many SQL cases get their results: side by side, here and by workers, with one judge.

In go cases and options.  Out comes a result of each metric for each case, in the order of input.

Read `metrics.py` first, then `runner.py`.
"""
