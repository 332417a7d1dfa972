"""
What every room uses: checks of arguments, columns, texts, sums, and when rows are the same.

In goes what a caller passes.  Out comes the checked value, or an error in the one message form.

Read `checks.py` first, then `columns.py`.
"""
