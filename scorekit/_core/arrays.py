"""Kinds of arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Groups: TypeAlias = NDArray[np.intp]
"""The group of each value, numbered from 0."""
