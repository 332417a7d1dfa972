"""Every record that a user meets, those too that only come as a part of another."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import scorekit
from scorekit import Record

_BASES = {"MetricResult", "Record", "Report", "SuiteEstimate", "TableRecord"}
_TOPICS = sorted(path.stem for path in Path(scorekit.__file__).parent.glob("[!_]*.py"))
RECORDS: dict[str, type[Record]] = {
    name: value
    for topic in _TOPICS
    for name, value in vars(import_module(f"scorekit.{topic}")).items()
    if not name.startswith("_")
    and name not in _BASES
    and inspect.isclass(value)
    and value.__module__ == f"scorekit.{topic}"
    and issubclass(value, Record)
}
"""By name."""
