"""
What evaluation harnesses write, read into one form.

In goes what a user has parsed: a mapping, rows, the text of an XML file, never a path.  Out comes
a `scorekit._readers.reading.Reading`: the attempts as columns, and each number that the harness
states beside ours, computed by its own rule.  `scorekit.readers` makes a `HarnessRun` of it.

There is a module for a harness, or for harnesses whose files are alike.

Read `reading.py` first, which all of them fill, then `content.py`, by which they look.
"""
