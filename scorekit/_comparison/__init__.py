"""
Two runs in, what is found of them out: what stands behind `scorekit.compare_reports`.

`pairs` reads both runs and pairs their cases; `suites` judges each suite by one test and one
interval, `cases` the single cases, and `missing` what outcomes were lost.  Read `plan` and
`suites` first; the record and its gate stand in `scorekit.comparison`.
"""
