"""
Two runs in, what is found of them out: what stands behind `scorekit.compare_reports`.

`versions` reads a table of both, and `pairs` any two runs, whose cases it pairs.  `suites` judges
each suite by one test and one interval, `cases` the single cases, and `missing` what outcomes
were lost.

Read `plan.py` and `suites.py` first; the record and its gate stand in `scorekit.comparison`.
"""
