"""What identifies a question about a pair of queries, for verdicts and for proofs alike."""

from __future__ import annotations

import hashlib
import json

_to_json = json.JSONEncoder(ensure_ascii=False).encode


def key_of(*parts: str | int | None) -> str:
    """Return a SHA-256 digest, as hexadecimal digits, that no other parts give."""
    return hashlib.sha256(_to_json(parts).encode("utf-8", "surrogatepass")).hexdigest()
