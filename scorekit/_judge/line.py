"""The questions of a judge that have no answer yet, by what each of them waits for."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Collection, Iterator

import attrs

from scorekit.errors import JudgeError


class Passing(Exception):  # noqa: N818 - never leaves this package
    """A failure that may be over when asked again."""

    is_passing = True
    is_busy = False
    """Whether the service refuses for its load, not for a fault."""
    wait: float | None = None
    """Seconds that the service asks to wait."""
    was_sent = True
    """Whether the service may have seen the request."""
    cost_usd: float | None = None
    """What the call cost; None if that is not known."""
    was_taken = True
    """Whether the service has, or may have, taken the request."""

    def __init__(self, failure: JudgeError | TimeoutError, cause: BaseException | None) -> None:
        super().__init__(failure)
        self.failure = failure
        self.cause = cause

    def because(self, why: str = "") -> JudgeError | TimeoutError:
        """Return the error to raise when the question is given up."""
        error = self.failure
        if why and isinstance(error, JudgeError):
            kind = "rate limit" if self.is_busy else error.kind
            error = JudgeError(kind, f"{error.message} ({why})")
        error.__cause__ = self.cause
        return error


@attrs.define(eq=False)
class Question:
    """What is asked, in one request or several."""

    limit_seconds: float
    """How long it may take where nobody else asks."""
    max_retries: float
    """Infinite for a call that is about no pair, which never checks the service."""
    asked_at: float
    turn: asyncio.Future[None]
    """What it waits for."""
    is_alone: bool = False
    """Whether no other question has been there since it was asked."""
    sent_at: float = -math.inf
    ready_at: float = -math.inf
    """The end of its pause."""
    failed_at: float = math.inf
    """When it failed, while it is open whose fault that was; else infinite."""
    n_charged: int = 0
    """Failures of its own: others were answered."""
    crowd: Collection[Question] = ()
    """The questions that failed with it, with no answer between."""
    is_check: bool = False
    """Whether its turn is for a question that was answered before, in place of its own."""
    is_sent: bool = False
    """Whether a request of its turn is on its way."""
    is_model: bool = False
    """Whether checks may ask what it asked: it was answered with a verdict."""
    last: Passing | None = None
    """Why it was not answered."""

    @property
    def is_open(self) -> bool:
        """Whether it has failed, and it is not known yet whose fault that was."""
        return self.failed_at < math.inf


class Line:
    """
    Who waits, and for what.

    A question is *fresh* until its first turn, or where it was refused for load, in order; *under
    way* in its turn; and waits *again* once it has failed: *open* while it is not known whose
    fault that was, else *decided*.
    """

    def __init__(self) -> None:
        self.fresh: OrderedDict[Question, None] = OrderedDict()
        self.again: dict[Question, None] = {}
        self.under_way: dict[Question, None] = {}
        self.was_again = False
        """Whether the last turn was for a question that had failed."""

    def __len__(self) -> int:
        """Return the number of questions that have no answer yet."""
        return len(self.fresh) + len(self.again) + len(self.under_way)

    def __iter__(self) -> Iterator[Question]:
        """Go through all of them."""
        yield from (*self.fresh, *self.again, *self.under_way)

    def enter(self, question: Question) -> None:
        """Let a question wait for its first turn; who is there already is not alone any more."""
        question.is_alone = not len(self)
        if len(self) == 1:
            for other in self:
                other.is_alone = False
        self.fresh[question] = None

    def leave(self, question: Question) -> None:
        """Forget a question."""
        for group in (self.fresh, self.again, self.under_way):
            group.pop(question, None)

    def start(self, question: Question) -> None:
        """Begin the turn of a question."""
        self.was_again = question in self.again
        self.leave(question)
        self.under_way[question] = None

    def put_first(self, question: Question) -> None:
        """Let a question keep its turn, which ended too early."""
        del self.under_way[question]
        if question.is_check:
            self.again[question] = None
        else:
            self.fresh[question] = None
            self.fresh.move_to_end(question, last=False)

    def put_again(self, question: Question) -> None:
        """Let a question wait for another turn."""
        self.under_way.pop(question, None)
        self.again[question] = None

    @property
    def is_stuck(self) -> bool:
        """Whether all that are left have failed, and nobody is there to show whose fault it is."""
        all_failed = all(question.is_open for question in self.again)
        return all_failed and not self.fresh and not self.under_way

    def decided(self) -> Iterator[Question]:
        """Yield those that have failed, and of which it is known whose fault that was."""
        return (question for question in self.again if not question.is_open)

    def forgive(self) -> None:
        """Let no failure be anybody's own."""
        for question in self.again:
            question.failed_at = math.inf

    @property
    def has_check(self) -> bool:
        """Whether a check is under way."""
        return any(question.is_check for question in self.under_way)
