"""What is asked about two queries: where they run, and when two of their results are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import attrs

from scorekit._core.rows import Rows, same_bag, same_in_some_column_order, same_set
from scorekit._sql.schema.tables import SqlSchema

Same: TypeAlias = Callable[[Rows, Rows], bool]
"""Says whether two results hold the same rows."""

TOLERANCE: Final = 1e-9

WHOLE_EFFORT_SECONDS: Final = 5.0
"""The time limit from which on no step fewer is taken."""


@attrs.frozen
class Question:
    """Whether two queries mean the same: all that every way to an answer has to know."""

    schema: SqlSchema | None
    """What is known of the tables."""
    dialect: str | None
    """What the queries are written in; None for what several dialects have in common."""
    texts: tuple[str, str] = ("", "")
    """The queries as they are written."""
    semantics: Literal["bag", "set"] = "bag"
    column_order: Literal["significant", "ignored"] = "significant"
    row_order: Literal["auto", "expected", "ignored"] = "auto"
    """Whether the order of results counts where both queries ask for one, where the second does,
    or nowhere."""
    tolerance: float = TOLERANCE
    rule: str = "scorekit"
    """The benchmark by whose rule results are compared; our own name for no other rule."""
    is_alike: Same | None = None
    """Whether that rule takes two results for the same."""
    locate: bool = False
    """Whether it is asked in which clauses the queries differ."""
    n_databases: int = 40
    """Databases to try."""
    seed: int = 0
    """What their rows depend on."""
    seconds: float = WHOLE_EFFORT_SECONDS
    """The CPU time after which the search is ended."""

    @property
    def effort(self) -> float:
        """The share of the usual steps that the search may take."""
        return min(1.0, self.seconds / WHOLE_EFFORT_SECONDS)

    @property
    def out_of_time(self) -> str:
        """What is said of a search that the clock ended."""
        return f"the clock ended it after {self.seconds:g} s"

    def same_rows(self, first: Rows, second: Rows) -> bool:
        """Say whether two results hold the same rows, whatever the rule of a benchmark says."""
        compare = same_set if self.semantics == "set" else same_bag
        if first and second and len(first[0]) != len(second[0]):
            return False
        if self.column_order == "significant" or compare(first, second, self.tolerance):
            return compare(first, second, self.tolerance)
        # no difference is proved where the search for an order of columns was given up
        return same_in_some_column_order(first, second, self.tolerance, compare) is not False

    def same(self, first: Rows, second: Rows) -> bool:
        """Say whether two results are the same, as evidence takes it."""
        alike = self.is_alike
        return self.same_rows(first, second) or (alike is not None and alike(first, second))
