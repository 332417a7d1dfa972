"""What two queries and a schema say, before anything is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.conditions import can_be_checked
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.faithful import Reading, asks_time, check_reasonable
from scorekit._sql.refute.hints import Hints, hints
from scorekit._sql.refute.inference import TablesRead, known_tables, linked_columns
from scorekit._sql.refute.reading import Pair
from scorekit._sql.schema.definitions import CheckRule


class Asked(NamedTuple):
    """Two queries, the tables that they read, and the values that they name."""

    trees: tuple[exp.Expr, exp.Expr]
    nodes: Sequence[Sequence[exp.Expr]]
    """All nodes of each."""
    dialect: str
    known: TablesRead
    hint: Hints

    @property
    def asking(self) -> list[bool]:
        """Whether each query asks for the time."""
        return [any(map(asks_time, several)) for several in self.nodes]

    def enforcing(self, readings: Sequence[Reading]) -> Asked:
        """
        Keep the rules about rows that the sandbox can check as every reading does.

        Raises:
            UnfaithfulError: If it cannot check one, and the queries use a column of it.
        """
        known = self.known
        if not known.rules:
            return self
        kept: dict[str, tuple[CheckRule, ...]] = {}
        conditions: list[exp.Expr] = []
        assumed: list[str] = []
        for table, rules in known.rules.items():
            keyed = linked_columns(known, table)
            for rule in rules:
                condition = rule.condition
                if condition is not None and can_be_checked(condition, known, table, readings):
                    unknown = exp.Is(this=condition.copy(), expression=exp.Null())
                    passed = rule._replace(condition=exp.or_(condition, unknown))
                    kept[table] = (*kept.get(table, ()), passed)
                    conditions.append(condition)
                elif any(name in known.used or name in keyed for name in rule.columns):
                    why = f"rows of {table} must pass a check that is not looked into"
                    raise UnfaithfulError(why)
                else:
                    assumed.append(f"some rows of {table} pass a check that is not looked into")
        further = (list(condition.walk()) for condition in conditions)
        found = self._replace(hint=hints((*self.nodes, *further)))
        return found.with_rules(kept).assuming(*dict.fromkeys(assumed))

    def with_rules(self, rules: Mapping[str, tuple[CheckRule, ...]]) -> Asked:
        """Return the same where rows must pass these rules alone."""
        return self._replace(known=self.known._replace(rules=rules))

    def assuming(self, *said: str) -> Asked:
        """Return the same with further assumptions."""
        assumptions = tuple(dict.fromkeys((*self.known.assumptions, *said)))
        return self._replace(known=self.known._replace(assumptions=assumptions))


def asked(pair: Pair, question: Question) -> Asked:
    """
    Look at two queries.

    Raises:
        UnfaithfulError: If they are too large, of an unfamiliar dialect, or their tables are not
            known well enough.
    """
    trees = pair.first, pair.second
    nodes = [list(tree.walk()) for tree in trees]
    for several in nodes:
        check_reasonable(several, question.dialect)
    hint = hints(nodes)
    known = known_tables(trees, nodes, question.schema, hint, dialect=pair.dialect)
    return Asked(trees, nodes, pair.dialect, known, hint)
