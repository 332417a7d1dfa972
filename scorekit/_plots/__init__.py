"""
How pictures look, and where the names in them stand; the pictures are in `scorekit.plots`.

In go axes, values and names.  Out come axes on which no label covers another.

Read `canvas.py` first, then `labels.py`.
"""
