"""
Numbers in, numbers out: estimators, intervals and tests, without a word about models or cases.

In go arrays of counts, scores and differences.  Out come estimates and bounds.

Read `suites.py` first, then `sides.py`.
"""
