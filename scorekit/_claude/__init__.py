"""
Claude as a judge: how a question is put, sent, paced, paid for and read.

In go requests of `scorekit.judges` and the settings of a judge.  Out come verdicts, or a
`JudgeError` that says what came instead.

Read `service.py` first, which asks one question, then `pace.py`, which says when.
"""
