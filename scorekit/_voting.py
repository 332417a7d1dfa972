"""A judge that asks another one several times and counts: `VotingJudge`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from scorekit._checks import check_count, check_flag, check_text
from scorekit._judges import (
    Judge,
    JudgeRequest,
    Verdict,
    as_verdict,
    check_judge,
    keeps_limit,
    total_cost,
    total_usage,
)
from scorekit.errors import JudgeError, refuse
from scorekit.judging import TIMEOUT_MESSAGE


def checked_judge(judge: object) -> Judge:
    """Return *judge* if it is one that can be told from others."""
    known = check_judge(judge)
    check_text("identity of the judge", known.identity)
    return known


class VotingJudge:
    """
    Put each pair to a judge several times and let the majority decide.

    The score that most votes gave wins; where several share the lead, the median of all votes
    does.  A language model may favour what it is shown first, hence every second ask shows the
    two queries the other way round.  `Verdict.votes` holds the single scores in the order asked:
    votes that differ are a verdict to look at.  Reasoning, model and response id are those of the
    first vote that gave the winning score; tokens and cost are the sums over all votes, the cost
    None if that of one vote is not known.

    Each vote is a request with a *trial* of its own, so that around a `CachedJudge` each is
    remembered by itself.  `judge` asks one after the other, `ajudge` asks all at once.  If a vote
    fails there is no verdict; the error carries the tokens and the cost of the votes there were.

    Args:
        judge: The judge to ask.
        n_votes: Asks for each pair (odd count, ``>= 1``).
        swap_order: Whether every second ask has *generated* and *expected* exchanged.

    Raises:
        InputError: If *n_votes* is even or below 1.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from scorekit import judge_from_function, query_correctness
        >>> moody = judge_from_function(lambda pair: (0.5, 1.0, 0.5)[pair.trial], identity="moody")
        >>> judge = VotingJudge(moody)
        >>> result = query_correctness("SELECT a FROM t", "SELECT b FROM t", judge=judge)
        >>> result.score, result.votes
        (0.5, (0.5, 1.0, 0.5))
        >>> VotingJudge(moody, n_votes=2)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_votes must be an odd integer >= 1, got 2

    .. versionadded:: 0.1.0
    """

    def __init__(self, judge: Judge, *, n_votes: int = 3, swap_order: bool = True) -> None:
        self._judge = checked_judge(judge)
        self._n_votes = check_count("n_votes", n_votes, 1)
        if self._n_votes % 2 == 0:
            refuse("n_votes", "an odd integer >= 1", n_votes)
        self._swap_order = check_flag("swap_order", swap_order)

    def __repr__(self) -> str:
        """Show the arguments."""
        arguments = f"n_votes={self._n_votes}, swap_order={self._swap_order}"
        return f"VotingJudge({self._judge!r}, {arguments})"

    @property
    def identity(self) -> str:
        """The judge's own, the number of votes and their order."""
        order = "either order" if self._swap_order else "one order"
        return f"{self._n_votes} votes in {order}: {self._judge.identity}"

    @property
    def keeps_limit(self) -> bool:
        """Whether the judge keeps its callers' limit by itself."""
        return keeps_limit(self._judge)

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return the majority verdict, asking one time after the other."""
        votes: list[Verdict | BaseException] = []
        for ballot in self._ballots(request):
            try:
                votes.append(as_verdict(self._judge.judge(ballot)))
            except (JudgeError, TimeoutError) as error:
                votes.append(error)
                break
        return _elected(votes)

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return the majority verdict, asking all at once."""
        asks = [self._avote(ballot) for ballot in self._ballots(request)]
        # The others are paid for when one fails: they are waited for, a cache may keep them.
        return _elected(await asyncio.gather(*asks, return_exceptions=True))

    async def _avote(self, ballot: JudgeRequest) -> Verdict:
        return as_verdict(await self._judge.ajudge(ballot))

    def peek(self, request: JudgeRequest, /) -> Verdict | None:
        """Return the majority verdict if the judge remembers every vote; never raises."""
        peek = getattr(self._judge, "peek", None)
        if peek is None:
            return None
        votes: list[Verdict] = []
        for ballot in self._ballots(request):
            vote = peek(ballot)
            if vote is None:
                return None
            votes.append(vote)
        return _elected(votes)

    def _ballots(self, request: JudgeRequest) -> Iterable[JudgeRequest]:
        """Return the requests; those of one trial of the whole differ from those of another."""
        for i in range(self._n_votes):
            ballot = attrs.evolve(request, trial=request.trial * self._n_votes + i)
            if self._swap_order and i % 2:
                ballot = attrs.evolve(
                    ballot, generated=request.expected, expected=request.generated
                )
            yield ballot


def _elected(votes: Sequence[Verdict | BaseException]) -> Verdict:
    """Return the verdict of the majority, or raise the first failure among the votes."""
    counted = [vote for vote in votes if isinstance(vote, Verdict | JudgeError)]
    usage, cost_usd = (
        total_usage(vote.usage for vote in counted),
        total_cost(v.cost_usd for v in counted),
    )
    for vote in votes:
        if isinstance(vote, JudgeError):
            error = JudgeError(vote.kind, vote.message, usage, cost_usd)
            error.instructions_found = vote.instructions_found
            raise error from vote
        if isinstance(vote, TimeoutError) and counted:
            message = f"{TIMEOUT_MESSAGE}: a vote is missing"
            raise JudgeError("timeout", message, usage, cost_usd) from vote
        if isinstance(vote, BaseException):
            raise vote
    verdicts = [vote for vote in counted if isinstance(vote, Verdict)]
    scores = tuple(verdict.score for verdict in verdicts)
    score = _winner(scores)
    first = verdicts[scores.index(score)]
    return attrs.evolve(
        first,
        usage=usage,
        cost_usd=cost_usd,
        cached=all(verdict.cached for verdict in verdicts),
        votes=scores,
        instructions_found=verdicts[0].instructions_found,  # of the generated SQL, not swapped
    )


def _winner(scores: Sequence[float]) -> float:
    (score, lead), *others = Counter(scores).most_common()
    if others and others[0][1] == lead:
        return sorted(scores)[len(scores) // 2]
    return score
