"""Claude as the judge of queries, asked through AutoEvals and the Anthropic SDK."""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, Self

import attrs

from scorekit._claude.service import Service
from scorekit._claude.settings import Settings
from scorekit._core.checks import check_instance, check_records
from scorekit._core.progress import reporting
from scorekit._judge.asking import Limits
from scorekit._judge.journal import Journal, journal
from scorekit._judge.prompt import CHOICE_SCORES, PROMPT_VERSION
from scorekit._judge.waiting import Queue, caller, renew_in_forks, run_to_end
from scorekit._sheet.values import counted
from scorekit.errors import InputError, JudgeError, MissingExtraError
from scorekit.judges import JudgeRequest, Verdict, ask_each
from scorekit.prices import DEFAULT_ANSWER, ModelPrice
from scorekit.prompts import variables_of
from scorekit.records import Record

CANCELLED_WITHIN_SECONDS = 6.0
"""How long an interrupt waits until the service knows."""


@attrs.frozen(kw_only=True, repr=False)
class JudgeUsage(Record):
    """What a `ClaudeJudge` has asked and paid."""

    n_calls: int
    """Requests that the service took, those under way included; not what it refused for load."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where the cost of a call is not known (under way, lost, a model without price)."""

    def _line(self) -> str:
        cost = "cost unknown" if self.cost_usd is None else f"{self.cost_usd:.4g} USD"
        tokens = f"{self.input_tokens} tokens in, {self.output_tokens} out"
        return f"{counted(self.n_calls, 'call')}, {cost} ({tokens})"


_abandoned: list[Service] = []


class ClaudeJudge:
    """
    Ask Claude whether two queries mean the same: equivalent 1.0, partial 0.5, incorrect 0.0.

    The question goes through AutoEvals' ``LLMClassifier`` and the Anthropic SDK.  All that is
    judged is untrusted text and reaches the model inside tags that it cannot contain.

    You can use one judge in any number of threads and event loops, and after a fork. The first
    question starts a thread, and `close`, or leaving the ``with`` block, ends it. A pickle
    contains the configuration, but not the key.

    Args:
        client: A client of the Anthropic SDK to ask through, such as ``AnthropicBedrock()``,
            ``AsyncAnthropicVertex()`` or ``Anthropic(auth_token=..., base_url=...)``; it stays
            yours to close, and an async one must not be used elsewhere. None makes one.
        model: Name of the model.
        api_key: The key; None leaves finding one to the SDK (``ANTHROPIC_API_KEY``, profiles).
        base_url: Address of the service, with or without ``/v1``; None leaves it to the SDK
            (``ANTHROPIC_BASE_URL``).
        timeout_seconds: Bound on each request (``> 0``); of a pair that is asked alone, on all of
            it, waits and retries included.
        max_concurrency: Requests under way at once (count, ``>= 1``); no more than half as many as
            the process may have open files.
        max_retries: Further calls about a pair for which the service fails while it answers about
            others, or which is asked alone (count).  Refusals for load (429, 529, 503 with
            retry-after) and failures while the service is away do not count.
        effort: How hard the model thinks, from ``"low"`` to ``"max"``; None says nothing about it.
        max_tokens: Bound on the answer, thinking included (count, ``>= 1``).
        structured_output: Whether the service is to hold the answer to a JSON schema; False leaves
            out ``output_config``, *effort* too, for routes and models that refuse it.
        max_calls: Budget of calls that the service takes, retries included; None for no bound.
        max_cost_usd: Budget of money; a call that could exceed it is not made, and a batch is
            ordered in slices that cannot.
        prices: Price by model, in place of those in `PRICES`.
        requests_per_minute: Most requests in a minute, evenly spaced (``> 0``); None leaves the
            pace to the refusals of the service.
        max_wait_seconds: Longest time since the last answer to any question in which the service
            may be busy or away (``>= 0``); beyond it judgements fail.  A connection that cannot
            be made, with nothing ever answered, ends at *timeout_seconds*.
        batch: Whether `score_sql_cases` asks through the Message Batches API, at half the price
            and within a day.

    Raises:
        InputError: If an argument is outside its domain, *max_cost_usd* is given and no price
            is known for *model*, *client* is closed or given beside *api_key* or *base_url*, or
            *batch* is True for a client without batches.
        MissingExtraError: If autoevals or anthropic is not installed.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> judge = ClaudeJudge(base_url="https://api.anthropic.com", timeout_seconds=10)
        >>> judge
        ClaudeJudge(model='claude-sonnet-5-5', effort='low')
        >>> json.loads(judge.identity)["choices"]
        {'equivalent': 1.0, 'partial': 0.5, 'incorrect': 0.0}
        >>> ClaudeJudge(max_concurrency=0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: max_concurrency must be an integer >= 1, got 0
    """

    def __init__(
        self,
        *,
        client: Any = None,
        model: str = "claude-sonnet-5-5",
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_seconds: float = 30.0,
        max_concurrency: int = 16,
        max_retries: int = 2,
        effort: str | None = "low",
        max_tokens: int = DEFAULT_ANSWER,
        structured_output: bool = True,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        prices: Mapping[str, ModelPrice] | None = None,
        requests_per_minute: float | None = None,
        max_wait_seconds: float = 600.0,
        batch: bool = False,
    ) -> None:
        given = locals()
        bounds = Limits(**{name: given[name] for name in attrs.fields_dict(Limits)})
        fields = attrs.fields_dict(Settings).keys() - {"limits"}
        settings = Settings(limits=bounds, **{name: given[name] for name in fields})
        for package in ("anthropic", "autoevals"):
            if find_spec(package) is None:
                raise MissingExtraError("judge", package)
        if client is not None:
            for name in ("api_key", "base_url"):
                if given[name] is not None:
                    raise InputError(f"{name} must be None beside client, which has its own")
            from scorekit._claude.connection import check_client

            check_client(client, batch=settings.batch)
        self._settings = settings
        self._pricing = settings.pricing
        self._queue = Queue(bounds.max_concurrency)
        self._begin(Service(settings, client))
        renew_in_forks(self, ClaudeJudge._renew)

    def _begin(self, service: Service) -> None:
        self._service = service
        self._identity: tuple[dict[str, str], str] | None = None
        self._journal = Journal()  # of orders that were interrupted
        # A judge that is dropped without being closed must not leave its thread behind.
        self._finalizer = weakref.finalize(self, service.worker.stop)
        self._finalizer.atexit = False

    def _renew(self) -> None:
        """Leave thread and loop to the parent, which closing them here would disturb."""
        self._finalizer.detach()
        _abandoned.append(self._service)
        self._begin(self._service.fork())

    @property
    def identity(self) -> str:
        """
        Everything about the judge that can change a verdict, as JSON; never the key.

        Without *base_url* the address is the one of ``ANTHROPIC_BASE_URL``, or what the SDK finds
        beside credentials on disk; the SDK is loaded only to look there. A client of yours has its
        own address and region. Headers that are no secret are part of it as a digest. Once a
        question has been asked it stays the same.
        """
        routes = self._service.routes()
        if self._identity is None or self._identity[0] != routes:
            settings = self._settings
            text = json.dumps(
                {
                    "judge": "claude",
                    "base_url": None,
                    **routes,
                    "model": settings.model,
                    "effort": settings.effort_sent,
                    "structured_output": settings.structured_output,
                    "max_tokens": settings.max_tokens,
                    "prompt": PROMPT_VERSION,
                    "choices": CHOICE_SCORES,
                }
            )
            self._identity = routes, text
        return self._identity[1]

    @property
    def usage(self) -> JudgeUsage:
        """What has been asked and paid since the judge was made, in this process."""
        paid = self._service.asking.budget
        return JudgeUsage(
            n_calls=paid.n_calls,
            input_tokens=paid.tokens["input_tokens"],
            output_tokens=paid.tokens["output_tokens"],
            cost_usd=paid.cost_usd,
        )

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """
        Return the verdict on one pair.

        Raises:
            JudgeError: If there is none; *kind* says why, for instance ``"authentication_error"``,
                ``"refusal"``, ``"budget"``.
            TimeoutError: If none came in time.
            TypeError: If *request* is not a `JudgeRequest`.
        """
        return run_to_end(lambda: self.ajudge(request))

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """
        Return the verdict on one pair, without blocking the event loop.

        Raises:
            JudgeError: As `judge`.
            TimeoutError: As `judge`.
            TypeError: As `judge`.
        """
        check_instance("request", request, JudgeRequest)
        try:
            asked = self._service.submit(variables_of(request), caller.get())
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise self._service.worker.closed() from None

    @property
    def asks_together(self) -> bool:
        """Whether `score_sql_cases` gives it all undecided pairs at once."""
        return self._settings.batch

    def judge_many(
        self,
        requests: Iterable[JudgeRequest],
        *,
        progress: Callable[[int, int], object] | bool | None = None,
    ) -> list[Verdict | Exception]:
        """
        Return a verdict, or why there is none, for each request, in order.

        With ``batch=True`` they are asked through the Message Batches API, else side by side.  An
        interrupt cancels the batches; the next call collects what they had answered.

        Args:
            requests: The pairs.
            progress: Called with the number of requests done and of all, from time to time; True
                shows a bar.

        Returns:
            A `Verdict` or an exception each.

        Raises:
            TypeError: If an item is not a `JudgeRequest`.
        """
        return run_to_end(lambda: self.ajudge_many(requests, progress=progress))

    async def ajudge_many(
        self,
        requests: Iterable[JudgeRequest],
        *,
        progress: Callable[[int, int], object] | bool | None = None,
    ) -> list[Verdict | Exception]:
        """Do what `judge_many` does without blocking the event loop."""
        items = check_records("requests", requests, JudgeRequest, empty=True)
        if not items:
            return []
        with reporting(progress, "request") as hear:
            if not self._settings.batch:
                return await ask_each(self, items, hear)
            return await self._ask_in_batches(items, hear)

    async def _ask_in_batches(
        self, items: tuple[JudgeRequest, ...], hear: Callable[[int, int], object] | None
    ) -> list[Verdict | Exception]:
        loop = asyncio.get_running_loop()
        notes = journal.get() or self._journal

        def tell(n_done: int, n: int) -> None:
            if hear is not None:
                loop.call_soon_threadsafe(hear, n_done, n)

        async def work() -> list[Verdict | Exception]:
            try:
                await self._service.load()
                from scorekit._claude.batch import Batches

                batches = Batches(self._service, self.identity, notes, tell)
                return await batches.judge(items)
            except JudgeError as error:
                return [error] * len(items)
            finally:
                ended.set()

        ended = threading.Event()
        try:
            answers = await asyncio.wrap_future(self._service.worker.start(work))
        except asyncio.CancelledError:
            await asyncio.to_thread(
                ended.wait, CANCELLED_WITHIN_SECONDS
            )  # the service is being informed
            raise
        if notes is self._journal:
            notes.settle()
        return answers

    def close(self) -> None:
        """End the thread and its connections; what is under way fails as ``"closed"``."""
        self._service.worker.close()

    def __enter__(self) -> Self:
        """Return the judge."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the judge."""
        self.close()

    def __repr__(self) -> str:
        """Show what is asked, without key and address."""
        settings = self._settings
        return f"{type(self).__name__}(model={settings.model!r}, effort={settings.effort_sent!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the configuration, without the key."""
        if self._service.has_given_client:
            raise TypeError("a judge with client= cannot be pickled; make it where it is used")
        arguments = {
            name: getattr(holder, name)
            for holder in (self._settings, self._settings.limits)
            for name in attrs.fields_dict(type(holder))
            if name not in {"api_key", "limits"}
        }
        return partial(type(self), **arguments), ()
