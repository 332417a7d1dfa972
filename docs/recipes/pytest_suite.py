"""pytest: keep the report of each session, and compare it with the one that is committed."""

from __future__ import annotations

from pathlib import Path

import scorekit

BASELINE, CURRENT = (Path(__file__).with_name(f"{name}.json") for name in ("baseline", "current"))


def pytest_scorekit_baseline() -> scorekit.CodeReport | None:
    """Read the baseline, if there is one."""
    return (
        scorekit.CodeReport.from_json(BASELINE.read_text("utf-8")) if BASELINE.exists() else None
    )


def pytest_scorekit_finished(report: scorekit.CodeReport) -> None:
    """Keep the report: copied to baseline.json it is what later sessions are compared with."""
    CURRENT.write_text(report.to_json(), encoding="utf-8")
