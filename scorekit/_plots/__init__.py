"""
What all figures share: axes of one look, and names that stand where there is room.

In go axes or none, colors and texts; out come the axes with marks on them, for `scorekit.plots`,
which knows the results.  Read `canvas.py` first, then `labels.py`.
"""
