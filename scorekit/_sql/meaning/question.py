"""What is asked about two queries: where they run, and when two of their results are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Literal, TypeAlias

import attrs

from scorekit._core.rows import Rows, same_bag
from scorekit._sql.schema.tables import SqlSchema

Same: TypeAlias = Callable[[Rows, Rows], bool]
"""Says whether two results hold the same rows."""

TOLERANCE: Final = 1e-9
SAME_BAG: Final[Same] = partial(same_bag, tolerance=TOLERANCE)


@attrs.frozen
class Question:
    """Whether two queries mean the same: all that every way to an answer has to know."""

    schema: SqlSchema | None
    """What is known of the tables."""
    dialect: str | None
    """What the queries are written in; None for what several dialects have in common."""
    semantics: Literal["bag", "set"] = "bag"
    column_order: Literal["significant", "ignored"] = "significant"
    row_order: Literal["auto", "expected", "ignored"] = "auto"
    """Whether the order of results counts where both queries ask for one, where the second does,
    or nowhere."""
    tolerance: float = TOLERANCE
    same: Same = SAME_BAG
    """Whether two results hold the same rows, as evidence takes it."""
    n_databases: int = 40
    """Databases to try."""
    seed: int = 0
    """What their rows depend on."""
    effort: float = 1.0
    """The share of the usual steps that the search may take."""
