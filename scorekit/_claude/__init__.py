"""
Claude as a judge: by which client a question is sent, and what comes back.

In go requests of `scorekit.judges` and the settings of a judge.  Out come verdicts, or a
`JudgeError` that says what came instead.

Read `service.py` first, which asks one question, then `batch.py`, which asks many at once; how
fast and how often stands in `scorekit._judge`.
"""
