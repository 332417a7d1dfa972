"""When `ClaudeJudge` asks: the pace and outages, in time that does not depend on the machine."""

from __future__ import annotations

import asyncio
import itertools
import random
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from scorekit._claude import pace
from scorekit._claude.pace import Pace, Passing, Question
from scorekit.errors import JudgeError

pytest.importorskip("anthropic")

BEGIN = 1000.0


class VirtualTime(asyncio.SelectorEventLoop):
    """An event loop in which nothing takes time but waiting, which is over at once."""

    def __init__(self) -> None:
        self.now = BEGIN
        super().__init__(self._Jump(self))

    def time(self) -> float:
        """Return the time in seconds."""
        return self.now

    class _Jump(selectors.SelectSelector):
        def __init__(self, loop: VirtualTime) -> None:
            super().__init__()
            self._loop = loop

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            """Let the time pass until the next task goes on."""
            assert timeout is not None, "nothing will ever happen"
            self._loop.now += timeout + 1e-7  # which rounding cannot lose
            return []


@pytest.fixture(autouse=True)
def _same_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pauses be as long in each run."""
    monkeypatch.setattr(pace, "_random", random.Random(0))  # noqa: S311 - no secret


def now() -> float:
    """Return the seconds since the beginning."""
    return asyncio.get_running_loop().time() - BEGIN


def failing(kind: str, wait: float | None = None, *, is_busy: bool = False) -> Passing:
    """Return a failure that may pass."""
    failure = Passing(JudgeError(kind, "odd"), None)
    failure.is_busy, failure.wait = is_busy, wait
    return failure


def busy(wait: float | None = None) -> Passing:
    """Return a refusal for load."""
    return failing("rate_limit_error", wait, is_busy=True)


class Run:
    """
    Questions on their way to a service.

    Args:
        service: Answers the question number *i*, the *n*-th time it is asked, or raises.
        options: Of the `Pace`.
    """

    def __init__(self, service: Callable[[int, int], Awaitable[None]], **options: Any) -> None:
        self.service = service
        given = {"max_concurrency": 16, "per_minute": None, "max_retries": 2, **options}
        self.options: dict[str, Any] = {"max_wait_seconds": 600.0, **given}
        self.sent: list[tuple[float, int]] = []
        self.ended: dict[int, float] = {}
        self.errors: dict[int, Exception] = {}

    async def ask(self, pace: Pace, i: int) -> None:
        """Ask one question."""
        n_sent = 0

        async def send(_: Question) -> None:
            nonlocal n_sent
            n_sent += 1
            self.sent.append((now(), i))
            await self.service(i, n_sent)

        try:
            async with pace.places:
                await pace.ask(send)
        except (JudgeError, TimeoutError) as error:
            self.errors[i] = error
        self.ended[i] = now()

    def of(self, n: int, starts: Callable[[int], float] = lambda _: 0.0) -> Run:
        """Ask so many, each at its time."""

        async def later(paced: Pace, i: int) -> None:
            await asyncio.sleep(starts(i))
            await self.ask(paced, i)

        async def all_of_them() -> None:
            paced = Pace(**self.options)
            await asyncio.gather(*(later(paced, i) for i in range(n)))

        with asyncio.Runner(loop_factory=VirtualTime) as runner:
            runner.run(all_of_them())
        return self


async def answer(_: int = 0, __: int = 0) -> None:
    """Answer within 0.1 to 0.3 s."""
    await asyncio.sleep(numbers.uniform(0.1, 0.3))


numbers = random.Random(0)  # noqa: S311 - keeps no secret


def away(is_away: Callable[[float], bool], kind: str) -> Callable[[int, int], Awaitable[None]]:
    """Return a service that is away at times; *kind* is the way in which it is."""

    async def service(_: int, __: int) -> None:
        if is_away(now()):
            if kind == "silent":
                await asyncio.sleep(10)
                raise TimeoutError("no verdict within 10 s")
            await asyncio.sleep(0.01)
            raise failing(kind)
        await answer()

    return service


@pytest.mark.parametrize("kind", ["connection", "api_error", "silent"])
@pytest.mark.parametrize(
    ("is_away", "end"),
    [
        (lambda at: 10 <= at < 15, 15),
        (lambda at: 10 <= at < 40, 40),
        (lambda at: 10 <= at < 310, 310),
    ],
    ids=["5 s", "30 s", "300 s"],
)
def test_an_outage_loses_nothing(is_away: Callable[[float], bool], end: float, kind: str) -> None:
    """Also where no retries are left; one question at a time asks whether it is over."""
    run = Run(away(is_away, kind), max_retries=0).of(2000)
    assert run.errors == {}
    asked = [at for at, _ in run.sent if 10.5 <= at < end]
    assert len(asked) <= 6 + (end - 10) / 6
    longest = 8 + (10 if kind == "silent" else 0)  # of an interval, and of the last that asked
    assert min(at for at in run.ended.values() if at > end) <= end + longest + 1
    assert max(run.ended.values()) <= 2000 / 80 + (end - 10) + longest + 1


@pytest.mark.parametrize("kind", ["connection", "api_error", "silent"])
def test_a_service_that_comes_and_goes_loses_nothing(kind: str) -> None:
    """Five seconds in every twenty."""
    run = Run(away(lambda at: at > 10 and at % 20 < 5, kind)).of(4000)
    assert run.errors == {}
    assert len(run.ended) == 4000


def test_a_service_that_stays_away_fails_all_after_max_wait() -> None:
    """What has waited and what comes later fails, and one asks from time to time."""
    run = Run(away(lambda at: at >= 10, "connection"), max_wait_seconds=60.0)
    run.of(3000, lambda i: 0 if i < 2000 else 60 + (i - 2000) / 10)
    assert {error.kind for error in run.errors.values() if isinstance(error, JudgeError)} == {
        "connection"
    }
    assert "(the service has been away for max_wait_seconds=60)" in str(run.errors[1999])
    waited = [at for i, at in run.ended.items() if i in run.errors and i < 2000]
    assert max(waited) <= 71
    assert all(run.ended[i] <= 60 + (i - 2000) / 10 + 1 for i in range(2200, 3000))


def test_a_service_that_comes_back_after_max_wait_is_found() -> None:
    """By the first that asks then; nobody has to make a new judge."""
    run = Run(
        away(lambda at: 1 <= at < 100, "connection"), max_wait_seconds=20.0, max_concurrency=1
    )
    run.of(40, lambda i: i * 5.0)
    assert {i for i in run.errors if i * 5 > 110} == set()


@pytest.mark.parametrize("kind", ["connection", "api_error"])
def test_a_service_that_is_away_from_the_start_fails_all_within_seconds(kind: str) -> None:
    """An address may be wrong: nobody waits ten minutes to hear it."""
    run = Run(away(lambda _: True, kind)).of(1000)
    assert len(run.errors) == 1000
    assert max(run.ended.values()) <= 5
    assert len(run.sent) <= 16 + 4
    assert "(no question has ever been answered)" in str(run.errors[999])


def test_a_service_that_never_answers_fails_all_within_its_time_limit() -> None:
    """It accepts connections, and that is all."""
    run = Run(away(lambda _: True, "silent")).of(1000)
    assert len(run.errors) == 1000
    assert max(run.ended.values()) <= 25


def test_a_slow_pair_among_others_is_its_own_fault() -> None:
    """Somebody has been answered meanwhile."""

    async def service(i: int, _: int) -> None:
        if i == 3:
            await asyncio.sleep(10)
            raise TimeoutError("no verdict within 10 s")
        await answer()

    run = Run(service).of(2000)
    assert list(run.errors) == [3]
    assert [i for _, i in run.sent].count(3) == 1


def test_a_slow_pair_by_itself_is_its_own_fault() -> None:
    """Nobody else can tell, and to ask again would cost as much."""

    async def service(_: int, __: int) -> None:
        await asyncio.sleep(10)
        raise TimeoutError("no verdict within 10 s")

    run = Run(service).of(1)
    assert [str(error) for error in run.errors.values()] == ["no verdict within 10 s"]


@pytest.mark.parametrize("bad", [{3}, {3, 4, 500}, set(range(0, 1000, 100))], ids=len)
@pytest.mark.parametrize("max_retries", [0, 2])
def test_pairs_that_always_fail_are_their_own_fault(bad: set[int], max_retries: int) -> None:
    """The service answers about the others: it is not away, and they are given up."""

    async def service(i: int, _: int) -> None:
        if i in bad:
            await asyncio.sleep(0.01)
            raise failing("api_error")
        await answer()

    run = Run(service, max_retries=max_retries).of(1000)
    assert set(run.errors) == bad
    assert max(run.ended.values()) <= 13 + 15 * len(bad) * (1 + max_retries)


def test_a_refused_question_waits_for_itself() -> None:
    """As long as it was told, while others go on."""

    async def service(i: int, n: int) -> None:
        if i == 3 and n == 1:
            raise busy(30.0)
        await answer()

    run = Run(service, max_retries=0).of(200)
    assert run.errors == {}
    assert run.ended.pop(3) == pytest.approx(30.2, abs=0.11)
    assert max(run.ended.values()) < 3


def test_a_refused_question_keeps_its_place() -> None:
    """Else as many as there are would ask one after the other, and all be refused."""
    run = Run(lambda _, n: refuse_first(n), max_concurrency=2).of(6)
    assert [{i for _, i in run.sent[k : k + 4]} for k in (0, 4, 8)] == [{0, 1}, {2, 3}, {4, 5}]


async def refuse_first(n: int) -> None:
    """Refuse what is asked for the first time."""
    if n == 1:
        raise busy(5.0)
    await answer()


def test_pauses_grow_where_the_service_does_not_say_how_long() -> None:
    """From half a second to eight, and up to a quarter less: never more."""

    async def service(_: int, n: int) -> None:
        if n <= 8:
            raise busy()
        await answer()

    run = Run(service).of(1)
    times = [at for at, _ in run.sent]
    pauses = [b - a for a, b in itertools.pairwise(times)]
    longest = [0.5, 1, 2, 4, 8, 8, 8, 8]
    assert all(0.75 * most <= p <= most + 1e-3 for p, most in zip(pauses, longest, strict=True))
    assert len({round(p / most, 6) for p, most in zip(pauses, longest, strict=True)}) == 8


def test_to_be_told_zero_is_to_be_told_nothing() -> None:
    """A service that says 0 must not be asked without a pause."""

    async def service(_: int, n: int) -> None:
        if n <= 3:
            raise busy(0.0)
        await answer()

    assert Run(service).of(1).ended[0] >= 0.75 * 3.5


def test_a_service_that_is_busy_for_ever_fails_all_after_max_wait() -> None:
    """Which counts from the last answer."""

    async def service(_: int, __: int) -> None:
        if now() >= 10:
            raise busy(2.0)
        await answer()

    run = Run(service, max_wait_seconds=60.0).of(1000)
    lost = {i: at for i, at in run.ended.items() if i in run.errors}
    assert {getattr(error, "kind", "") for error in run.errors.values()} == {"rate limit"}
    assert min(lost.values()) >= 69
    assert len(run.ended) == 1000


def test_max_wait_counts_from_the_last_answer_that_anyone_got() -> None:
    """One of sixteen is answered, every 50 s: the others wait much longer than max_wait."""
    next_at = 0.0

    async def service(_: int, __: int) -> None:
        nonlocal next_at
        if now() < next_at:
            raise busy()
        next_at = now() + 50
        await answer()

    run = Run(service, max_wait_seconds=60.0).of(16)
    assert run.errors == {}
    assert max(run.ended.values()) > 15 * 50


def test_rest_does_not_count_as_waiting() -> None:
    """An hour later the service has as much time as at first."""

    async def service(i: int, n: int) -> None:
        if i == 1 and n <= 3:
            raise busy(10.0)
        await answer()

    assert Run(service, max_wait_seconds=60.0).of(2, lambda i: i * 3600.0).errors == {}


def test_requests_per_minute_spaces_questions_evenly() -> None:
    """Retries included; none is late for what comes before it."""
    run = Run(lambda _, n: refuse_first(n), per_minute=120.0).of(50)
    times = sorted(at for at, _ in run.sent)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert min(gaps) >= 0.5 - 1e-3
    assert times[-1] <= 100 * 0.5 + 6


@pytest.mark.parametrize("burst", [5, 50])
@pytest.mark.parametrize(("wait", "share"), [(None, 0.75), (2.0, 0.75), (30.0, 0.05)])
@pytest.mark.parametrize("rate", [2.0, 20.0])
def test_much_of_what_a_gateway_takes_is_used(
    rate: float, wait: float | None, share: float, burst: int
) -> None:
    """And no verdict is lost, though sixteen that were told the same come back together."""
    left, at = float(burst), 0.0

    async def service(_: int, __: int) -> None:
        nonlocal left, at
        left, at = min(burst, left + (now() - at) * rate), now()
        if left < 1:
            raise busy(wait)
        left -= 1
        await answer()

    run = Run(service).of(400)
    assert run.errors == {}
    assert 400 / max(run.ended.values()) >= share * rate
