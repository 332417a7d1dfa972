"""Columns of every kind that users have; a test of one that is not installed is skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest


def polars_series(values: Sequence[Any]) -> Any:
    """Return a Series of polars."""
    return pytest.importorskip("polars").Series(values)


def arrow_array(values: Sequence[Any]) -> Any:
    """Return an array of Arrow."""
    return pytest.importorskip("pyarrow").array(values)


def arrow_chunks(values: Sequence[Any]) -> Any:
    """Return an array of Arrow as it is read from a file, in chunks."""
    return pytest.importorskip("pyarrow").chunked_array([values])


COLUMN_TYPES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "numpy": np.array,
    "pandas": pd.Series,
    "category": lambda values: pd.Series(values).astype("category"),
    "polars": polars_series,
    "arrow": arrow_array,
    "chunked": arrow_chunks,
}
