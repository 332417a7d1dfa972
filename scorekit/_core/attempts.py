"""Scores of attempts at cases as columns, which read as the tuples and dicts they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Counts, Floats
from scorekit._core.sums import exact_means

Places: TypeAlias = NDArray[np.intp]


class Attempts(Sequence[tuple[float, ...]]):
    """The scores of the attempts at each of some cases; there is one at least."""

    def __init__(self, scores: Floats, sizes: Counts) -> None:
        self.scores = scores
        """Of all attempts, those at one case together."""
        self.sizes = sizes
        """How many there are at each case."""
        for column in (scores, sizes):
            column.setflags(write=False)

    @classmethod
    def of(cls, cases: Iterable[tuple[float, ...]]) -> Attempts:
        """Make columns of tuples."""
        if isinstance(cases, Attempts):
            return cases
        items = list(cases)
        sizes = np.fromiter(map(len, items), np.int64, len(items))
        return cls(np.fromiter(chain.from_iterable(items), np.float64), sizes)

    @classmethod
    def of_counts(cls, sizes: Counts, n_right: Counts) -> Attempts:
        """Make columns of ones, and of zeros behind them."""
        if sizes.size == int(sizes.sum()):
            return cls(n_right.astype(np.float64), sizes)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls((within < np.repeat(n_right, sizes)).astype(np.float64), sizes)

    @property
    def are_single(self) -> bool:
        """Whether each case has one attempt."""
        return self.scores.size == self.sizes.size

    @cached_property
    def starts(self) -> Places:
        """The place of each case's first attempt."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def case_of(self) -> Places:
        """The case of each attempt."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def means(self) -> Floats:
        """The mean score of each case, its sum rounded once."""
        if self.are_single:
            return self.scores
        found = exact_means(self.scores, self.case_of, self.sizes)
        found.setflags(write=False)
        return found

    @property
    def are_mixed(self) -> NDArray[np.bool_]:
        """Whether the attempts at each case differ."""
        if self.are_single:
            return np.zeros(self.sizes.size, np.bool_)
        highest, lowest = (
            one.reduceat(self.scores, self.starts) for one in (np.maximum, np.minimum)
        )
        return np.asarray(highest > lowest, np.bool_)

    def totals(self) -> Floats:
        """Return the sum of each case's scores, exact where they are 0 or 1."""
        return self.scores if self.are_single else np.add.reduceat(self.scores, self.starts)

    def take(self, places: Places) -> Attempts:
        """Return the cases at these places, in their order."""
        sizes = self.sizes[places]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return Attempts(self.scores[np.repeat(self.starts[places], sizes) + within], sizes)

    def __len__(self) -> int:
        """Return the number of cases."""
        return self.sizes.size

    @overload
    def __getitem__(self, place: int) -> tuple[float, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[float, ...], ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        """Return the scores of a case."""
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        start, size = int(self.starts[place]), int(self.sizes[place])
        return tuple(self.scores[start : start + size].tolist())

    def __iter__(self) -> Iterator[tuple[float, ...]]:
        """Iterate over the cases' scores."""
        scores = tuple(self.scores.tolist())
        if self.are_single:
            return ((score,) for score in scores)
        ends = [0, *np.cumsum(self.sizes).tolist()]
        return (scores[start:end] for start, end in pairwise(ends))


class CaseScores(Mapping[str, tuple[float, ...]]):
    """The scores of the attempts at each case, by its id."""

    def __init__(self, case_ids: tuple[str, ...], attempts: Attempts) -> None:
        self.case_ids = case_ids
        self.attempts = attempts

    @classmethod
    def of(cls, cases: Mapping[str, tuple[float, ...]]) -> CaseScores:
        """Make columns of a mapping."""
        if isinstance(cases, CaseScores):
            return cases
        return cls(tuple(cases), Attempts.of(cases.values()))

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each case."""
        return dict(zip(self.case_ids, range(len(self.case_ids)), strict=True))

    def take(self, case_ids: Iterable[str]) -> Attempts:
        """Return the scores of these cases, in their order."""
        return self.attempts.take(np.fromiter(map(self.place_of.__getitem__, case_ids), np.intp))

    def __getitem__(self, case_id: str) -> tuple[float, ...]:
        """Return the scores of one case."""
        return self.attempts[self.place_of[case_id]]

    def __contains__(self, case_id: object) -> bool:
        """Say whether there is such a case."""
        return case_id in self.place_of

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids."""
        return iter(self.case_ids)

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.case_ids)
