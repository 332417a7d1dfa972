"""
Samples and cases as columns, so that a million of them need little memory.

In go records or the columns of a table.  Out come arrays that read as the records they stand for.

Read `samples.py` first, then `table.py`.
"""
