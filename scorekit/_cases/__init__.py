"""How many cases get their results: side by side, here and by workers, with one judge."""
