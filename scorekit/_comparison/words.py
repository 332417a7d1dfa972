"""What a gate says of a run that stops, or may: each sentence with what goes on all the same."""

from __future__ import annotations

ONE_REPORT = (
    "no case rose as far; this holds if attempts at a case are independent, and copies of one "
    "answer fall together"
)
"""What is said where single cases of one report stop a job."""

ALONE = ", as only the suites of two models count"
"""What is said where a case may have dropped, and the gate passes."""

REMEDY = (
    "copies of one answer look like this too: if attempts are copies, make one a case or repeat "
    'the suite; if not, use compare_reports(attempts="independent"); '
    'raise_for_regressions(cannot_tell="pass") goes on'
)
"""What is said where a fall cannot be distinguished from a copied answer that flipped."""

GO_ON = 'raise_for_regressions(cannot_see="pass") goes on all the same'
"""What is said where a gate is blind."""

RESCORE = (
    "measure some answers of the baseline again, with rescore(), and give them as rescored=; or "
    'compare_reports(ruler="ignore") goes on, and raise_for_regressions(cannot_tell="pass")'
)
"""What is said where too few cases were measured alike."""

MISSING = (
    "outcomes that are unknown, and attempts that were not made, may hide failures; "
    "raise_for_regressions(allow_missing=True) goes on, and compare_reports(attempts="
    '"fixed") says that numbers of attempts were fixed beforehand'
)
"""What is said where more outcomes are missing than before."""

COPIES = "the same as another in every case, and copies count as one report"
"""What is said of repeats that are the same as another."""
