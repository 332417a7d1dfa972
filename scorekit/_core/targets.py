"""What a mean over cases is of, where they do not all weigh the same: weights, or fixed strata."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats, Groups
from scorekit._core.checks import check_items, check_number, check_same_length, is_missing
from scorekit._core.columns import as_builtins, check_labels
from scorekit._core.mappings import is_mapping
from scorekit.errors import refuse, shown


class Target(NamedTuple):
    """The share of each case in a mean, and its stratum where strata are fixed."""

    shares: Floats
    """They sum to 1."""
    strata: Groups | None
    """Numbered from 0."""

    @classmethod
    def weighted(cls, weights: Floats) -> Target:
        """Let each case weigh as given."""
        scaled = weights / weights.max()  # no sum can overflow
        return cls(scaled / scaled.sum(), None)

    @classmethod
    def stratified(cls, strata: Groups) -> Target:
        """Let each stratum weigh the same, and each case of it."""
        sizes = np.bincount(strata)
        return cls(1.0 / (sizes.size * sizes[strata]), strata)

    @property
    def name(self) -> str:
        """What the mean is."""
        return "weighted mean" if self.strata is None else "mean of strata"

    @property
    def words(self) -> str:
        """The same with the number of strata."""
        n_strata = 0 if self.strata is None else int(self.strata.max()) + 1
        kind = "stratum" if n_strata == 1 else "strata"
        return f"mean of {n_strata} {kind}" if n_strata else self.name

    @property
    def n_effective(self) -> float:
        """The number of cases, as if all weighed the same."""
        return 1.0 / float(self.shares @ self.shares)

    def mean(self, values: Floats) -> float:
        """Return the mean, its sum rounded once."""
        return min(max(math.fsum(self.shares * values), float(min(values))), float(max(values)))

    def stderr(self, values: Floats) -> float | None:
        """
        Return the standard error of the mean; None with one case, or one in a stratum.

        Of strata it is the root of the sum of the squared errors of their means, over their
        number: what lies between fixed strata is no error.
        """
        if values.size == 1:
            return None
        offsets = values - values[0]  # equal values have no spread at all
        if self.strata is None:
            off = offsets - float(self.shares @ offsets)
            return math.sqrt(float(np.sum((self.shares * off) ** 2 / (1.0 - self.shares))))
        sizes, squares = self._within(offsets)
        if sizes.min() < 2:  # noqa: PLR2004 - one case has no spread
            return None
        return math.sqrt(float((squares / (sizes - 1) / sizes).sum())) / sizes.size

    def df(self, values: Floats) -> float:
        """Return the degrees of freedom of the error, of strata by Welch and Satterthwaite."""
        if self.strata is None:
            return self.n_effective - 1.0
        sizes, squares = self._within(values - values[0])
        errors: Floats = squares / np.maximum(sizes - 1, 1) / sizes
        if not errors.any():
            return float(values.size - sizes.size)
        errors = errors / errors.max()
        return float(errors.sum() ** 2 / (errors**2 / np.maximum(sizes - 1, 1)).sum())

    def leveled(self, values: Floats) -> Floats:
        """Return values of the same mean and error without what lies between strata."""
        if self.strata is None:
            return values
        sizes = np.bincount(self.strata)
        means = np.bincount(self.strata, weights=values) / sizes
        n = values.size
        fitted = np.sqrt(sizes / np.maximum(sizes - 1, 1) * (n - 1) / n)
        return self.mean(values) + (values - means[self.strata]) * fitted[self.strata]

    def of(self, kept: NDArray[np.bool_]) -> Target | None:
        """Return the same of some of the cases; None where a stratum is left with none."""
        if self.strata is None:
            return Target.weighted(self.shares[kept]) if kept.any() else None
        strata = self.strata[kept]
        n_left = np.bincount(strata, minlength=int(self.strata.max()) + 1)
        return Target.stratified(strata) if n_left.all() else None

    def _within(self, values: Floats) -> tuple[Groups, Floats]:
        """Return the size of each stratum, and the sum of squares about its mean."""
        squares: Floats
        strata = np.zeros(values.size, np.intp) if self.strata is None else self.strata
        sizes = np.bincount(strata)
        means = np.bincount(strata, weights=values) / sizes
        off = values - means[strata]
        squares = np.asarray(np.bincount(strata, weights=off * off), np.float64)
        return sizes, squares


def read_target(
    case_weights: object, strata: object, case_ids: Sequence[Hashable] | None, n: int
) -> Target | None:
    """
    Read the target of a mean of *n* cases; None where all weigh the same.

    Weights and strata are a column of one for each case, or a mapping from *case_ids*, where these
    are known.
    """
    if case_weights is not None and strata is not None:
        refuse("strata", "None where case_weights are given", strata)
    if case_weights is not None:
        named = _entries("case_weights", case_weights, case_ids, n)
        weights = [_check_weight(name, value) for name, value in named]
        return Target.weighted(np.array(weights))
    if strata is None:
        return None
    labels = [label for _, label in _entries("strata", strata, case_ids, n)]
    codes = np.array(check_labels("strata", labels, n), np.intp)
    sizes = np.bincount(codes)
    if (alone := np.flatnonzero(sizes == 1)).size:
        one = labels[int(np.flatnonzero(codes == alone[0])[0])]
        refuse("strata", "labels that two cases or more have", one)
    return Target.stratified(codes)


def _check_weight(name: str, value: object) -> float:
    if is_missing(value):
        refuse(name, "a finite number > 0", value)
    weight = check_number(name, value)
    if weight <= 0.0:
        refuse(name, "a finite number > 0", value)
    return weight


def _entries(
    name: str, values: object, case_ids: Sequence[Hashable] | None, n: int
) -> list[tuple[str, Any]]:
    """Return the entry of each case, with what to call it."""
    if not is_mapping(values):
        items = as_builtins(check_items(name, as_builtins(values)))
        check_same_length(name, len(items), "values", n)
        return [(f"{name}[{i}]", item) for i, item in enumerate(items)]
    if case_ids is None:
        refuse(
            name, "a column of one for each value, where these have no names", values, TypeError
        )
    by_id = {**values, **{str(key): value for key, value in values.items()}}
    for case_id in case_ids:
        if case_id not in by_id:
            refuse(name, f"a mapping with an entry for case {shown(case_id)}", values)
    return [(f"{name}[{shown(case_id)}]", by_id[case_id]) for case_id in case_ids]


def targets_by_case(
    case_weights: Any,
    strata: Any,
    rows: Callable[[], Sequence[Hashable]],
    other: str = "case_id",
) -> dict[str, Any]:
    """Return both by case, where either is given as a column beside *rows*, the case of each."""
    given = {"case_weights": case_weights, "strata": strata}
    if case_weights is None and strata is None:
        return given
    case_ids = rows()
    return {name: _by_case(name, values, case_ids, other) for name, values in given.items()}


def _by_case(name: str, values: Any, case_ids: Sequence[Hashable], other: str) -> Any:
    """Return the entry of each case, of a column with a row for each of *case_ids*."""
    if values is None or is_mapping(values):
        return values
    items = as_builtins(check_items(name, as_builtins(values)))
    check_same_length(name, len(items), other, len(case_ids))
    found: dict[Hashable, Any] = {}
    for i, (case_id, item) in enumerate(zip(case_ids, items, strict=True)):
        known = found.setdefault(case_id, item)
        if known is not item and known != item:
            refuse(
                f"{name}[{i}]", f"{shown(known)}, as in another row of case {shown(case_id)}", item
            )
    return found
