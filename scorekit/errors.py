"""What scorekit raises: one family under `ScorekitError`, each also the builtin it resembles."""

from __future__ import annotations


class ScorekitError(Exception):
    """Base of every exception that scorekit raises on purpose."""


class InputError(ScorekitError, ValueError):
    """
    An argument lies outside the domain its metric documents.

    The message reads ``<name> must be <domain>, got <value>``.  An argument of the wrong type
    raises the builtin `TypeError` with a message of the same form.
    """


class RegressionError(ScorekitError):
    """
    A comparison found what its caller asked to be stopped for.

    Raised by `Comparison.raise_for_regressions` only; the message lists what got worse.
    """
