"""
What a result shows, and how that becomes text, Markdown, LaTeX and a notebook's page.

In goes a `Sheet` that a record makes of itself.  Out come texts that cannot differ, as they come
from the same data.

Read `model.py` first, then `values.py`.
"""
