"""What a generated text is to blame for by itself, beside those that are accepted."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, TypeAlias

import attrs

from scorekit._sql.audit import holding, refused
from scorekit._sql.databases.dialects import NO_FUNCTION
from scorekit._sql.meaning.columns import (
    Lacking,
    has_tables,
    known_schema,
    lacking_names,
    reads_catalog,
)
from scorekit._sql.meaning.operands import lacks_function, not_run
from scorekit._sql.schema.tables import Schema
from scorekit._sql.text.parsing import (
    UNREADABLE,
    changes_data,
    is_explain,
    is_long,
    is_query,
    n_queries,
    parse,
    refused_by_all,
    returns_no_rows,
)
from scorekit.errors import InputError, SqlError

Fault: TypeAlias = tuple[str, Exception | str]
"""The kind and the reason of an error."""

NONE_LACKING: Final = Lacking()

CHANGES_DATA: Final = "generated: the text changes data where a query is expected"


@attrs.frozen
class Faults:
    """What is wrong with texts, as far as their dialect and the schema say it."""

    generated: str
    accepted: tuple[str, ...]
    schema: Schema | None
    """Perhaps one that only a judge understands."""
    dialect: str | None
    by_schema: bool
    """Whether the schema counts as evidence, and not only the grammar."""
    only_built_in: bool = False
    """Whether a function that the database does not have is an error."""

    def of_generated(self) -> Fault | None:
        """Return the error that the generated query is to blame for."""
        if self._changes_data():
            return "changes_data", CHANGES_DATA
        try:
            parse(self.generated, self.dialect)
        except SqlError as error:
            is_ours = error.kind in UNREADABLE or all(map(self._foreign, self.accepted))
            return None if is_ours else (error.kind, error)
        why = refused_by_all(self.generated) if self.dialect is None else None
        if why is not None and not all(map(refused_by_all, self.accepted)):
            return "parse", why
        return self._of_names() if self.by_schema else None

    def _of_names(self) -> Fault | None:
        """Return the fault of a query that can be read, and which its database does not run."""
        lacking = NONE_LACKING if self.schema is None else self._lacking(self.generated)
        if lacking.error is not None:
            others = list(map(self._lacking, self.accepted))
            if all(other.error is not None for other in others):
                return None  # it is the schema or the reference that is wrong
            for other in others:
                lacking -= other
            return lacking.error and (lacking.error[0], f"generated: {lacking.error[1]}")
        looks = {"unknown_function": self._lacks_function, "refused": self.not_run}
        for kind, look in looks.items() if self.dialect is not None else ():
            why = look(self.generated)
            if why is not None and not all(map(look, self.accepted)):
                return kind, f"generated: {why}"
        return self._of_statements()

    def of_identical(self) -> str | None:
        """Return why a query that is the expected one does not run."""
        if not self.by_schema:
            return None
        return self.not_run(self.generated) or self._lacks_function(self.generated)

    def of_reference(self, query: str) -> str | None:
        """Return why an accepted query does not run, by its dialect and a schema of tables."""
        if is_long(query):
            return None
        is_known = self.by_schema and self.is_schema_known()
        try:
            schema = self.schema if is_known else None
            return refused(query, schema, self.dialect, only_built_in=self.only_built_in)
        except Exception:  # noqa: BLE001 - a schema that only a judge understands, say
            return None

    def not_run(self, query: str) -> str | None:
        """Return why the dialect's database does not run a query, if that is certain."""
        try:
            return not_run(query, self.dialect, known_schema(self.schema, self.dialect))
        except Exception:  # noqa: BLE001 - as above
            return None

    def is_no_query(self) -> bool:
        """Say whether the SQL, which parses, returns no rows of tables where these are asked."""
        try:
            no_rows = returns_no_rows(self.generated, self.dialect)
            return (no_rows or is_explain(self.generated)) and self._asks_for_rows()
        except SqlError:  # which the text is not to blame for
            return False

    def _changes_data(self) -> bool:
        """Say whether the SQL, if it parses, changes data where rows of tables are asked."""
        try:
            changes = changes_data(self.generated, self.dialect)
            return changes and self._asks_for_rows()
        except SqlError:
            return False

    def _asks_for_rows(self) -> bool:
        """Say whether the accepted queries all read tables, and do nothing else."""
        return all(
            is_query(expected, self.dialect)
            and not is_explain(expected)
            and not changes_data(expected, self.dialect)
            and not reads_catalog(expected, self.dialect)
            for expected in self.accepted
        )

    def _lacks_function(self, query: str) -> str | None:
        """Return which function of a query its database does not have, where that is asked."""
        return lacks_function(query, self.dialect) if self.only_built_in else None

    def is_schema_known(self) -> bool:
        """Say whether there is a schema, and it can be read."""
        try:
            return has_tables(self.schema, self.dialect)
        except (TypeError, InputError):
            return False

    def _foreign(self, query: str) -> str | None:
        """Return why a query that is SQL is not that of the dialect."""
        if self.dialect is not None and not is_long(query):
            try:
                parse(query, self.dialect)
            except SqlError as error:
                with suppress(SqlError):
                    parse(query)
                    return error.message
        return None

    def _of_statements(self) -> Fault | None:
        """Return the fault of a text of several queries where one is expected."""
        n = n_queries(self.generated, self.dialect)
        if n <= 1 or not any(is_query(one, self.dialect) for one in self.accepted):
            return None
        return "refused", f"generated: {holding(n)}"

    def _lacking(self, query: str) -> Lacking:
        """Return what a query names and the schema does not have."""
        try:
            return lacking_names(query, self.schema, self.dialect)
        except (TypeError, InputError):
            return NONE_LACKING

    @staticmethod
    def lacks_only_function(reason: str) -> bool:
        """Say whether a pair is undecided for a function that its database does not have."""
        return NO_FUNCTION in reason
