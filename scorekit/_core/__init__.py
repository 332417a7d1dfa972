"""
What every room uses: checks of arguments, columns, texts, sums, and when rows are the same.

In goes what a caller passes.  Out comes the checked value, or an error in the one message form.

What `scorekit.intervals` computes with stands here as well, since `scorekit._stats` stands above
both: `gaffke.py`, `tails.py`, `targets.py`, `sums.py`.

Read `checks.py` first, then `columns.py`.
"""
