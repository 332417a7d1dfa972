"""The cases of a report as columns, so that a million of them need little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import eq
from typing import Any, ClassVar, Self, TypeGuard, TypeVar, cast, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Counts, Floats
from scorekit._core.attempts import Attempts
from scorekit._core.checks import (
    check_records,
    check_text,
)
from scorekit._core.columns import (
    check_count_column,
    check_number_column,
    check_text_column,
    numbered,
)
from scorekit._core.mappings import is_mapping
from scorekit._stats.exact import is_tuple
from scorekit.errors import InputError, refuse, shown
from scorekit.records import build, listing
from scorekit.sampling import PassAtK

R = TypeVar("R")
"""The record of a case."""


def _listings(estimates: Iterable[tuple[PassAtK, ...]]) -> tuple[tuple[PassAtK, ...], ...]:
    return tuple(map(listing, estimates))


@attrs.frozen(eq=False, repr=False)
class CaseColumns(Sequence[R]):
    """Cases as columns: reads as a tuple, whose records are made when they are asked for."""

    record: ClassVar[Callable[..., Any]]
    """Makes the record of a case from its fields."""

    case_ids: tuple[str, ...]
    models: tuple[str, ...]
    """Each model once."""
    model_of: Counts
    """The model of each case, as its place in *models*."""
    estimates: tuple[tuple[PassAtK, ...], ...] = attrs.field(converter=_listings)
    """Estimates of pass@k, those that cases have in common once."""
    estimates_of: Counts
    """The estimates of each case, as their place in *estimates*."""
    mean_scores: Floats
    attempts: Attempts
    n_correct: Counts

    def __attrs_post_init__(self) -> None:
        """Make the columns read-only."""
        for column in (self.model_of, self.estimates_of, self.mean_scores, self.n_correct):
            column.setflags(write=False)

    @classmethod
    def of(cls, cases: Iterable[Any]) -> Self:
        """Make columns of records; refuse a case that is there twice."""
        if isinstance(cases, cls):
            return cases
        items = check_records("cases", cases, cast("type[Any]", cls.record), empty=True)
        models, model_of = numbered([case.model for case in items])
        estimates, estimates_of = numbered([case.pass_at_k for case in items])
        table = cls(
            tuple(case.case_id for case in items),
            models,
            model_of,
            estimates,
            estimates_of,
            np.array([case.mean_score for case in items], dtype=np.float64),
            Attempts.of(case.scores for case in items),
            np.array([case.n_correct for case in items], dtype=np.int64),
        )
        table.check_distinct()
        return table

    def check_distinct(self) -> None:
        """Refuse a case that is there twice: a comparison would see one of the two."""
        if len(set(self.case_ids)) == len(self):
            return
        _, id_of = numbered(self.case_ids)
        keys, key_of = numbered((id_of * len(self.models) + self.model_of).tolist())
        if len(keys) < key_of.size:
            again = int(np.argmax(np.maximum.accumulate(key_of) != np.arange(key_of.size)))
            key = self.case_ids[again], self.models[int(self.model_of[again])]
            refuse(f"case_id and model of cases[{again}]", "unlike those of all others", key)

    def of_model(self, model: str) -> Self:
        """Return the cases of one model."""
        return self._take(model, np.flatnonzero(self.model_of == self.models.index(model)))

    def by_model(self) -> list[Self]:
        """Return the cases of each model that has some, in one pass however many there are."""
        order = np.argsort(self.model_of, kind="stable")
        ends = np.cumsum(np.bincount(self.model_of, minlength=len(self.models)))
        parts = zip(self.models, np.split(order, ends), strict=False)  # the last one is empty
        return [self._take(model, places) for model, places in parts if places.size]

    def _take(self, model: str, places: NDArray[np.intp]) -> Self:
        return type(self)(
            tuple(map(self.case_ids.__getitem__, places.tolist())),
            (model,),
            np.zeros(places.size, dtype=np.int64),
            self.estimates,
            self.estimates_of[places],
            self.mean_scores[places],
            self.attempts.take(places),
            self.n_correct[places],
        )

    def rows(self) -> Iterator[tuple[str, str, tuple[PassAtK, ...], float, int, int]]:
        """Yield the fields of each case without its scores, in their order."""
        return zip(
            self.case_ids,
            map(self.models.__getitem__, self.model_of.tolist()),
            map(self.estimates.__getitem__, self.estimates_of.tolist()),
            self.mean_scores.tolist(),
            self.attempts.sizes.tolist(),
            self.n_correct.tolist(),
            strict=True,
        )

    def to_dict(self) -> dict[str, Any]:
        """
        Return the columns as nested builtins, the scores of all attempts in one.

        Means that are those of the scores are left out.
        """
        models, model_of = _in_order(self.models, self.model_of)
        estimates, estimates_of = _in_order(self.estimates, self.estimates_of)
        distinct_estimates = [[one.to_dict() for one in own] for own in estimates]
        follow = np.array_equal(self.mean_scores, self.attempts.means)
        return {
            "case_id": list(self.case_ids),
            "model": {"distinct": models, "of_case": model_of},
            "pass_at_k": {"distinct": distinct_estimates, "of_case": estimates_of},
            "mean_score": None if follow else self.mean_scores.tolist(),
            "n_samples": self.attempts.sizes.tolist(),
            "n_correct": self.n_correct.tolist(),
            "scores": self.attempts.scores.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Any, path: str) -> Self:
        """Rebuild the columns of what `to_dict` returned; *path* names them in errors."""
        try:
            return cls._read(_FileColumns(data, path))
        except TypeError as error:
            raise InputError(str(error)) from None

    @classmethod
    def _read(cls, columns: _FileColumns) -> Self:
        case_ids = columns.texts("case_id")
        columns.length = len(case_ids)
        models, model_of = columns.coded("model")
        estimates, estimates_of = columns.coded("pass_at_k")
        n_samples, n_correct = columns.counts("n_samples", 1), columns.counts("n_correct", 0)
        excess = np.flatnonzero(n_correct > n_samples)
        if excess.size:
            i = int(excess[0])
            domain = f"an integer in [0, n_samples = {n_samples[i]}]"
            refuse(f"{columns.path}.n_correct[{i}]", domain, int(n_correct[i]))
        means = None if columns.data["mean_score"] is None else columns.scores("mean_score")
        columns.length = int(n_samples.sum())
        attempts = Attempts(columns.scores("scores"), n_samples)
        table = cls(
            tuple(case_ids),
            tuple(check_text(f"{columns.path}.model", model) for model in models),
            model_of,
            build(tuple[tuple[PassAtK, ...], ...], estimates, f"{columns.path}.pass_at_k"),
            estimates_of,
            attempts.means if means is None else means,
            attempts,
            n_correct,
        )
        table.check_distinct()
        return table

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.case_ids)

    @overload
    def __getitem__(self, place: int) -> R: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[R, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        """Return a case."""
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        return self._made(
            self.case_ids[place],
            self.models[int(self.model_of[place])],
            self.estimates[int(self.estimates_of[place])],
            float(self.mean_scores[place]),
            int(self.attempts.sizes[place]),
            int(self.n_correct[place]),
            scores=self.attempts[place],
        )

    def _made(self, *row: Any, scores: tuple[float, ...]) -> Any:
        """Make the record of a case from its row and its scores."""
        names = ("case_id", "model", "pass_at_k", "mean_score", "n_samples", "n_correct")
        return self.record(**dict(zip(names, row, strict=True)), scores=scores)

    def __iter__(self) -> Iterator[R]:
        """Iterate over the cases."""
        for row, scores in zip(self.rows(), self.attempts, strict=True):
            yield self._made(*row, scores=scores)

    def __eq__(self, other: object) -> bool:
        """Compare with a table, or with a tuple of records."""
        if not isinstance(other, CaseColumns):
            if not is_tuple(other):
                return NotImplemented
            return len(self) == len(other) and all(map(eq, self, other))
        return (
            self.case_ids == other.case_ids
            and _agree(self.models, self.model_of, other.models, other.model_of)
            and _agree(self.estimates, self.estimates_of, other.estimates, other.estimates_of)
            and np.array_equal(self.mean_scores, other.mean_scores)
            and np.array_equal(self.attempts.sizes, other.attempts.sizes)
            and np.array_equal(self.attempts.scores, other.attempts.scores)
            and np.array_equal(self.n_correct, other.n_correct)
        )

    def __hash__(self) -> int:
        """Hash the cases as a tuple of them does, which equals the table."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Show the cases as a tuple."""
        return repr(tuple(self))


def _in_order(values: Sequence[Any], of: Counts) -> tuple[list[Any], list[int]]:
    """Return a coded column such that what comes first has the first code."""
    places, codes = numbered(of.tolist())
    return [values[place] for place in places], codes.tolist()


def _agree(first: Sequence[object], of: Counts, second: Sequence[object], other: Counts) -> bool:
    """Tell whether two coded columns hold the same."""
    pairs = set(zip(of.tolist(), other.tolist(), strict=True))
    return all(first[i] == second[j] for i, j in pairs)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


class _FileColumns:
    """Columns of a file, to be checked one by one."""

    def __init__(self, data: Any, path: str) -> None:
        if not is_mapping(data):
            refuse(path, "a mapping of columns", data)
        names = ("case_id", "model", "pass_at_k", "mean_score", "n_samples", "n_correct", "scores")
        for name in data:
            if name not in names:
                refuse(path, f"a mapping with no keys but {', '.join(names)}", name)
        for name in names:
            if name not in data:
                raise InputError(f"{path} must have the key {name!r}, got {shown(list(data))}")
        self.data, self.path, self.length = data, path, 0

    def texts(self, name: str) -> list[str]:
        values = self.data[name]
        if not _is_list(values):
            refuse(f"{self.path}.{name}", "a list", values)
        return check_text_column(f"{self.path}.{name}", values) if values else []

    def coded(self, name: str) -> tuple[list[Any], Counts]:
        """Return the distinct values of a column, and which of them each case has."""
        column, path = self.data[name], f"{self.path}.{name}"
        if not is_mapping(column) or set(column) != {"distinct", "of_case"}:
            refuse(path, "a mapping of 'distinct' and 'of_case'", column)
        distinct, of_case = column["distinct"], column["of_case"]
        if not _is_list(distinct):
            refuse(f"{path}.distinct", "a list", distinct)
        places = self._numbers(f"{path}.of_case", of_case, check_count_column)
        if places.size and int(places.max()) >= len(distinct):
            domain = f"places among {len(distinct)} in distinct"
            refuse(f"{path}.of_case", domain, int(places.max()))
        return distinct, places

    def counts(self, name: str, low: int) -> Counts:
        path, values = f"{self.path}.{name}", self.data[name]
        counts: Counts = self._numbers(path, values, check_count_column, low)
        return counts

    def scores(self, name: str) -> Floats:
        path, values = f"{self.path}.{name}", self.data[name]
        scores: Floats = self._numbers(path, values, check_number_column, 0.0, 1.0)
        return scores

    def _numbers(self, name: str, values: Any, check: Callable[..., Any], *limits: float) -> Any:
        if not _is_list(values):
            refuse(name, "a list", values)
        if len(values) != self.length:
            refuse(name, f"a list of {self.length} numbers", values)
        return check(name, values, *limits) if values else np.zeros(0, dtype=np.int64)
