"""When `ClaudeJudge` asks: the rate and outages, on a loop with a clock of its own."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import random
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generators.scenes import Asker, Service, VirtualTime, between, every, now, some
from scorekit._judge import pace as pacing
from scorekit._judge.line import Passing, Question
from scorekit._judge.pace import Pace, pause
from scorekit._judge.rate import LONGEST_WAIT_SECONDS, Rate
from scorekit.errors import JudgeError

T = TypeVar("T")


@pytest.fixture(autouse=True)
def _same_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pauses be as long in each run."""
    monkeypatch.setattr(pacing, "_random", random.Random(0))  # noqa: S311 - no secret


def in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Return what comes of *work* on a loop with a clock of its own."""
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        return runner.run(work)


class Run:
    """
    So many questions to a service, and what came of them.

    Args:
        service: The service to ask.
        n: How many questions.
        starts: When each comes.
        options: Of the `Asker`.
    """

    def __init__(
        self,
        service: Service,
        n: int,
        *,
        starts: Callable[[int], float] = lambda _: 0.0,
        **options: Any,
    ) -> None:
        self.service = service
        self.ended: dict[int, float] = {}

        async def ask(asker: Asker, i: int) -> None:
            await asyncio.sleep(starts(i))
            await asker.ask(i)
            self.ended[i] = now()

        async def run() -> Asker:
            asker = Asker(service, **options)
            await asyncio.gather(*(ask(asker, i) for i in range(n)))
            assert len(asker.pace) == 0
            return asker

        asker = in_virtual_time(run())
        self.errors, self.changes, self.n_checks = asker.errors, asker.changes, asker.n_checks

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max(self.ended.values())

    @property
    def n_requests(self) -> int:
        """How many requests were sent."""
        return len(self.service.times)


@pytest.mark.parametrize(
    ("rate", "burst"), [(5, 1), (5, 10), (20, 1), (20, 10), (2, 5), (100, 50)]
)
@pytest.mark.parametrize("wait", [None, "0.1", "1", "30", "inf"])
def test_one_rate_is_learned_for_all(rate: float, burst: int, wait: str | None) -> None:
    """At most twice the ideal time and two requests a pair, whatever it is asked to wait."""
    run = Run(Service(rate=rate, burst=burst, wait=wait), 150, max_retries=0)
    assert run.errors == {}
    assert run.seconds <= 2 * max(150 / 80, (150 - burst) / rate)
    assert run.n_requests <= 2 * 150


def test_nothing_limits_before_the_first_busy_answer() -> None:
    """Sixteen at once, as fast as they are answered."""
    run = Run(Service(), 400)
    assert run.seconds <= 1.1 * 400 / 80
    assert run.n_requests == 400


@pytest.mark.parametrize("rate", [5, 20])
def test_a_gateway_that_counts_refused_requests(rate: float) -> None:
    """Who goes on asking is never answered there."""
    run = Run(Service(rate=rate, counts_refused=True), 100)
    assert run.errors == {}
    assert run.seconds <= 2 * 100 / rate


def test_a_wait_is_bounded_and_counts_only_while_nothing_is_answered() -> None:
    """A minute at most; a first refusal among answers is none."""
    rate = Rate()
    times = [0.0, 1.0, 3.0, 7.0]
    for at in times:
        rate.note_sent(at)
        rate.note_busy(at, math.inf, at + 0.02)
    assert rate.opens_at() == pytest.approx(7.02 + LONGEST_WAIT_SECONDS)
    rate.note_answer(6.0, 8.0)
    assert rate.opens_at() < 7.02 + 5


@given(st.lists(st.tuples(st.sampled_from("abs"), st.floats(0, 10)), max_size=60))
def test_the_rate_is_always_one(steps: list[tuple[str, float]]) -> None:
    """Whatever happens when, somebody may ask within the longest wait."""
    rate, at, sent = Rate(), 0.0, [0.0]
    for what, seconds in steps:
        at += seconds
        if what == "s":
            rate.note_sent(at)
            sent.append(at)
        elif what == "a":
            rate.note_answer(sent[-1], at)
        else:
            rate.note_busy(sent[-1], math.inf, at)
        assert rate.opens_at() <= at + LONGEST_WAIT_SECONDS + 4


def test_requests_per_minute_spaces_questions_evenly() -> None:
    """Retries included."""
    run = Run(Service(bad=some(0.1, 50)), 50, per_minute=120.0)
    times = sorted(at for at, _ in run.service.times)
    assert min(b - a for a, b in itertools.pairwise(times)) >= 0.5 - 1e-3


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("share", "n"), [(0.01, 300), (0.05, 300), (0.25, 80), (0.5, 300)])
def test_pairs_that_always_fail_are_lost_and_no_others(share: float, n: int, seed: int) -> None:
    """In at most 2.5 times what two retries in place take; see the page on accuracy of time."""
    bad = some(share, n, seed)
    run = Run(Service(bad=bad), n)
    assert set(run.errors) == {i for i in range(n) if bad(i)}
    assert run.seconds <= 2.5 * (n / 80 + share * n * 1.5 / 16 + 1.5)
    assert max(run.service.asked.values()) <= 16


@pytest.mark.parametrize(
    ("n", "bad", "seconds"),
    [
        *((100, range(100 - n, 100), 6) for n in (1, 4, 20, 60)),
        *((260, bad, 15) for bad in (range(40), range(100, 160))),
    ],
)
def test_many_in_a_row_fail_by_themselves(n: int, bad: range, seconds: float) -> None:
    """As many as look like an outage, also the last: one that was answered before tells."""
    run = Run(Service(bad=bad.__contains__), n)
    assert set(run.errors) == set(bad)
    assert run.seconds <= seconds
    assert n == 260 or 1 <= run.n_checks <= 8


@pytest.mark.parametrize("kind", ["500", "cut", "refused", "529"])
@pytest.mark.parametrize(
    ("n", "span"), [(300, (0, 8)), (300, (2, 7)), (300, (2, 92)), (100, (1, 6))]
)
@pytest.mark.parametrize("max_retries", [0, 2])
def test_an_outage_loses_nothing(
    kind: str, n: int, span: tuple[float, float], max_retries: int
) -> None:
    """And the run goes on within five seconds, at the start and at the end as well."""
    away = between(span, kind=kind)
    run = Run(Service(away=away), n, max_retries=max_retries, timeout_seconds=120)
    assert run.errors == {}
    assert run.seconds <= n / 80 + span[1] - span[0] + 5
    if kind != "529":
        assert run.changes == [False, True]
    asked = [at for at, _ in run.service.times if span[0] + 1 <= at < span[1]]
    assert len(asked) <= 8 + (span[1] - span[0]) / 2.5  # one at a time


@pytest.mark.parametrize("kind", ["500", "refused", "529", "cut"])
@pytest.mark.parametrize(
    ("period", "seconds", "answers"), [(2, 0.05, 0.2), (2, 0.5, 0.2), (3, 1, 0.2), (3, 1, 1.0)]
)
def test_a_service_that_comes_and_goes_loses_the_bad_pairs_only(
    kind: str, period: float, seconds: float, answers: float
) -> None:
    """What fails with many others is forgiven; a cut fails all that are under way."""
    bad = some(0.05, 300)
    run = Run(Service(seconds=answers, away=every(period, seconds, kind), bad=bad), 300)
    assert set(run.errors) == {i for i in range(300) if bad(i)}
    assert kind != "cut" or run.seconds <= (30 if answers < 1 else 300)


@pytest.mark.parametrize("seed", [4, 19, 43])
def test_what_fails_during_a_check_decides_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the last bad pairs could go on as long as their pauses keep time with the cuts."""
    monkeypatch.setattr(pacing, "_random", random.Random(seed))  # noqa: S311 - no secret
    bad = some(0.05, 300)
    run = Run(Service(away=every(3, 1, "cut"), bad=bad), 300)
    assert set(run.errors) == {i for i in range(300) if bad(i)}
    assert run.seconds <= 20


def test_a_silent_service_costs_one_time_limit() -> None:
    """Who was under way waits it out; the others wait for one of them."""
    run = Run(Service(away=between((2, 30), kind="silent")), 300)
    assert run.errors == {}
    assert run.seconds <= 300 / 80 + 30 + 5


@pytest.mark.parametrize("away", ["529", "429", "500", "cut", "silent"])
@pytest.mark.parametrize("was_answered", [True, False])
def test_alone_a_question_ends_at_its_time_limit(away: str, *, was_answered: bool) -> None:
    """Whatever was answered before, waits included."""
    service = Service(away=lambda at: away if at >= 1 or not was_answered else "")
    run = Run(
        service, 1 + was_answered, timeout_seconds=3, max_retries=100, starts=lambda i: 2.0 * i
    )
    assert list(run.errors) == [int(was_answered)]
    assert run.seconds - 2 * was_answered <= 3.5


def test_alone_a_question_ends_after_its_retries() -> None:
    """Three requests and two pauses."""
    run = Run(Service(bad=lambda _: True), 1)
    assert (len(run.errors), run.n_requests) == (1, 3)
    assert run.seconds <= 2


@pytest.mark.parametrize("kind", ["500", "529", "cut"])
def test_a_service_that_stays_away_fails_all_after_max_wait(kind: str) -> None:
    """Those that come later as well, and one of them asks from time to time."""
    run = Run(
        Service(away=lambda at: kind if at >= 3 else ""), 400, max_wait_seconds=60, places=400
    )
    assert 100 < len(run.errors) < 400
    assert 60 <= run.seconds <= 3.3 + 60 + 5
    assert "(no answer within max_wait_seconds=60)" in str(run.errors[399])


def test_an_address_where_nobody_answers_ends_at_the_time_limit() -> None:
    """A refused connection with nothing ever answered: the address may be wrong."""
    run = Run(Service(away=lambda _: "refused"), 200, timeout_seconds=10)
    assert len(run.errors) == 200
    assert run.seconds <= 11
    assert "(no answer within timeout_seconds=10)" in str(run.errors[199])


@pytest.mark.parametrize(("kind", "span"), [("refused", (2, 32)), ("500", (0, 30))])
def test_an_outage_may_outlast_the_time_limit(kind: str, span: tuple[float, float]) -> None:
    """The address is right where somebody has answered before, or says that it cannot."""
    run = Run(Service(away=between(span, kind=kind)), 300, timeout_seconds=10)
    assert run.errors == {}


def test_a_service_that_answers_one_in_a_hundred_ends() -> None:
    """Nobody waits for ever."""
    run = Run(Service(answers_one_in=100), 50, max_wait_seconds=30)
    assert run.seconds <= 50 * 31
    assert len(run.ended) == 50


def test_ten_thousand_questions_can_be_cancelled_at_once() -> None:
    """No turn is left behind."""

    async def run() -> None:
        pace = Pace(
            max_concurrency=16, per_minute=None, max_wait_seconds=600.0, timeout_seconds=30.0
        )

        async def ask() -> None:
            async with pace.turn(30.0, 2):
                await asyncio.sleep(1e6)

        tasks = [asyncio.ensure_future(ask()) for _ in range(10_000)]
        await asyncio.sleep(1)
        assert (len(pace), len(pace.under_way)) == (10_000, 16)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(pace) == 0
        async with asyncio.timeout(1), pace.turn(30.0, 2):
            pass

    in_virtual_time(run())


def test_pauses_grow() -> None:
    """From half a second to eight, and up to a quarter less: never more."""
    for n, longest in enumerate([0.5, 1, 2, 4, 8, 8, 8]):
        assert 0.75 * longest <= pause(n) <= longest


@given(
    st.lists(st.sampled_from("aafb"), min_size=1, max_size=40),
    st.lists(st.tuples(st.floats(0, 5), st.none() | st.floats(0, 5)), min_size=1, max_size=12),
    st.integers(1, 4),
    st.integers(0, 2),
)
def test_a_pace_keeps_its_books(
    outcomes: list[str],
    questions: list[tuple[float, float | None]],
    max_concurrency: int,
    max_retries: int,
) -> None:
    """No more under way than allowed, nobody forgotten, and an end, whatever becomes of whom."""
    becomes = itertools.cycle(outcomes)

    async def run() -> None:
        pace = Pace(
            max_concurrency=max_concurrency,
            per_minute=None,
            max_wait_seconds=60.0,
            timeout_seconds=30.0,
        )

        async def send(_: Question) -> None:
            assert len(pace.under_way) <= max_concurrency
            await asyncio.sleep(0.1)
            what = next(becomes)
            if what != "a":
                failure = Passing(JudgeError("x", "y"), None)
                failure.is_busy = what == "b"
                raise failure

        async def ask(starts: float, leaves: float | None) -> None:
            await asyncio.sleep(starts)
            with contextlib.suppress(JudgeError, TimeoutError):
                async with asyncio.timeout(leaves), pace.turn(30.0, max_retries) as question:
                    await pace.ask(question, send)

        await asyncio.gather(*(ask(*question) for question in questions))
        assert (len(pace), now() < 62 * (len(questions) + 1)) == (0, True)

    in_virtual_time(run())
