"""A loopback server that speaks the Messages protocol, with faults on order."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partialmethod
from typing import Any, Self
from urllib.parse import parse_qsl

from scorekit import JudgeRequest, SqlCase

Faults = Callable[[dict[str, Any], int], str] | str

USAGE = {"input_tokens": 700, "output_tokens": 120}
BOMB = gzip.compress(b" " * 10_000_000)
THOUGHT = {"type": "thinking", "thinking": "equivalent?", "signature": "s"}


def text(text: object) -> dict[str, object]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def requests(n: int, first: int = 0) -> list[JudgeRequest]:
    """Return different requests."""
    return [
        JudgeRequest(generated=f"SELECT {i} FROM t", expected="SELECT a FROM t")
        for i in range(first, first + n)
    ]


def cases(n: int, first: int = 0) -> list[SqlCase]:
    """Return different cases that only a judge can decide."""
    return [
        SqlCase(case_id=i, generated=f"SELECT {i} FROM t", expected="SELECT a FROM t")
        for i in range(first, first + n)
    ]


class AnthropicServer:
    """
    Answers ``POST /v1/messages`` in a thread of its own.

    Args:
        fault: Name of what happens, one of `_Replies`' methods, or a function of the request and
            its number from 1 that returns one.
        seconds: How long an answer takes.
    """

    def __init__(
        self, fault: Faults = "equivalent", *, seconds: float = 0.0, port: int = 0
    ) -> None:
        self.fault = fault
        self.seconds = seconds
        self.port = port
        self.hold: Callable[[int], bool] = lambda _: False
        """Says by its number whether the answer to a request still has to wait."""
        self.requests: list[dict[str, Any]] = []
        self.batches = Batches(self)
        self.times: list[float] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.n_open = 0
        self.n_under_way = self.most_under_way = 0
        self.url = ""
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        """Start the thread and wait until it listens."""
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, with every connection cut."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(120)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=256)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.n_open += 1
        try:
            while True:
                await self._exchange(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.n_open -= 1
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = lines[0].split(" ")
        self.paths.append(path)
        if path.startswith("/v1/messages/batches"):
            await self.batches.answer(method, path, body, writer)
            return
        request = json.loads(body)
        self.times.append(time.monotonic())
        self.requests.append(request)
        self.headers.append(headers)
        fault = self.fault
        name = fault if isinstance(fault, str) else fault(request, len(self.requests))
        self.n_under_way += 1
        self.most_under_way = max(self.most_under_way, self.n_under_way)
        # Someone who hangs up must be noticed while the answer takes its time.
        answer = asyncio.ensure_future(self._answer(name, len(self.requests), request, writer))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() or answer.exception() is not None:
                raise ConnectionResetError
        finally:
            self.n_under_way -= 1
            answer.cancel()
            gone.cancel()
            await asyncio.gather(answer, gone, return_exceptions=True)

    async def _answer(
        self, name: str, n: int, request: dict[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        await asyncio.sleep(self.seconds)
        while self.hold(n):  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.005)
        await _Replies(request, writer).give(name)


class Batches:
    """
    The Message Batches API, with faults on order.

    Args:
        server: Whose address the results have.
    """

    def __init__(self, server: AnthropicServer) -> None:
        self.server = server
        self.made: dict[str, dict[str, Any]] = {}
        """Every batch, the oldest first."""
        self.n_polls = 1
        """Times a batch is looked at before it has ended."""
        self.fault: Callable[[str, int], str | None] = lambda _, __: None
        """What goes wrong in a step, by its name and number from 1: a method of `_Replies`."""
        self.entry: Callable[[str, int], str] = lambda _, __: "succeeded"
        """
        What becomes of a question, by its custom_id and how often it was asked; the kind of its
        error stands behind an equals sign.
        """
        self.mangle: Callable[[list[bytes]], list[bytes]] = lambda lines: lines
        self.usage: Callable[[dict[str, Any]], dict[str, int]] = lambda _: USAGE
        """What a question is charged."""
        self.max_requests = 100_000
        self.n_steps: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        """Answers given, by custom_id."""

    async def answer(
        self, method: str, path: str, body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one request."""
        path, _, query = path.partition("?")
        parts = path.removeprefix("/v1/messages/batches").strip("/").split("/")
        if not parts[0]:
            step = "create" if method == "POST" else "list"
        else:
            step = parts[1] if len(parts) > 1 else "retrieve"
        self.n_steps[step] += 1
        n = self.n_steps[step]
        fault = self.fault(step, n)
        if fault is None:
            reply = _Later({}, writer)
            getattr(self, f"_{step}")(reply, parts[0], body, dict(parse_qsl(query)))
            fault = self.fault(f"{step} done", n)
            if fault is None:
                writer.write(reply.written)
        if fault is not None:
            await _Replies({}, writer).give(fault)
        else:
            await writer.drain()

    def _create(self, reply: _Replies, _: str, body: bytes, __: dict[str, str]) -> None:
        requests = json.loads(body)["requests"]
        if len(requests) > self.max_requests:
            reply.send_error(413, "request_too_large")
            return
        id_ = f"msgbatch_{len(self.made) + 1}"
        lines: list[bytes] = []
        for request in requests:
            name = request["custom_id"]
            self.asked[name] += 1
            type_, _, kind = self.entry(name, self.asked[name]).partition("=")
            result: dict[str, Any] = {"type": type_}
            if type_ == "succeeded":
                self.paid[name] += 1
                result["message"] = {
                    "id": f"msg_{name}",
                    "model": request["params"]["model"],
                    "content": [text('{"reasons": "r", "choice": "partial"}')],
                    "stop_reason": "end_turn",
                    "usage": self.usage(request["params"]),
                }
            elif type_ == "errored":
                result["error"] = {
                    "type": "error",
                    "error": {"type": kind or "api_error", "message": "odd"},
                }
            if type_ != "missing":
                lines.append(json.dumps({"custom_id": name, "result": result}).encode())
        self.made[id_] = {"n": len(requests), "polls": 0, "lines": lines, "canceled": False}
        self._send(reply, id_)

    def _body(self, id_: str) -> dict[str, Any]:
        batch = self.made[id_]
        ended = batch["polls"] > self.n_polls or batch["canceled"]
        return {
            "id": id_,
            "type": "message_batch",
            "created_at": "2026-11-22T07:00:00Z",
            "expires_at": "2026-11-23T07:00:00Z",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                **dict.fromkeys(("errored", "canceled", "expired"), 0),
                "processing": 0 if ended else batch["n"],
                "succeeded": batch["n"] if ended else 0,
            },
            "results_url": f"{self.server.url}/v1/messages/batches/{id_}/results",
        }

    def _send(self, reply: _Replies, id_: str) -> None:
        if id_ not in self.made:
            reply.send_error(404, "not_found_error")
        else:
            reply.send(200, json.dumps(self._body(id_)).encode())

    def _retrieve(self, reply: _Replies, id_: str, _: bytes, __: dict[str, str]) -> None:
        if id_ in self.made:
            self.made[id_]["polls"] += 1
        self._send(reply, id_)

    def _cancel(self, reply: _Replies, id_: str, _: bytes, __: dict[str, str]) -> None:
        self.made[id_]["canceled"] = True
        self._send(reply, id_)

    def _list(self, reply: _Replies, _: str, __: bytes, query: dict[str, str]) -> None:
        ids = list(reversed(self.made))
        if "after_id" in query:
            ids = ids[ids.index(query["after_id"]) + 1 :]
        limit = min(int(query["limit"]), 2)  # so that there are pages
        data = [self._body(id_) for id_ in ids[:limit]]
        last = data[-1]["id"] if data else None
        page = {"data": data, "has_more": len(ids) > limit, "last_id": last}
        reply.send(200, json.dumps(page).encode())

    def _results(self, reply: _Replies, id_: str, _: bytes, __: dict[str, str]) -> None:
        if id_ not in self.made:
            reply.send_error(404, "not_found_error")
            return
        lines = self.mangle(list(self.made[id_]["lines"]))
        reply.send(200, b"\n".join([*lines, b""]), content_type="application/x-jsonl")


class _Replies:
    """One method for each way to answer."""

    def __init__(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.writer = writer
        self.more: dict[str, str] = {}
        """Further headers."""

    async def give(self, reply: str) -> None:
        """Answer by a method, with an argument where one stands behind an equals sign."""
        name, _, argument = reply.partition("=")
        given: Awaitable[None] | None = getattr(self, name)(*filter(None, [argument]))
        if given is not None:
            await given
        await self.writer.drain()

    def send(self, status: int, body: bytes, **headers: str) -> None:
        head = {"content_type": "application/json", "content_length": str(len(body)), **headers}
        head |= self.more
        lines = [f"HTTP/1.1 {status} X"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in head.items()]
        self.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    def send_error(self, status: int, kind: str, message: str = "", **headers: str) -> None:
        message = message or f"this is {kind}"
        error = {"type": "error", "error": {"type": kind, "message": message}}
        self.send(status, json.dumps(error).encode(), **headers)

    def message(self, content: object, stop: str = "end_turn", **more: Any) -> None:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.request.get("model", "in the path"),
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": USAGE,
        }
        self.send(200, json.dumps({**message, **more}).encode())

    def verdict(self, *verdicts: dict[str, Any]) -> None:
        self.message([text(json.dumps(verdict)) for verdict in verdicts])

    def charged(self, how: str) -> None:
        told = json.loads(how)
        self.message([text(told["text"])], usage=told["usage"])

    def partly(self, **more: Any) -> None:
        self.message([text('{"reasons": "", "choice": "partial"}')], **more)

    def rate_limit(self, seconds: str = "0.05") -> None:
        self.send_error(429, "rate_limit_error", retry_after=seconds)

    def invalid_key(self, key: str) -> None:
        self.send_error(401, "authentication_error", f"invalid key {key}")

    def busy_with(self, key: str) -> None:
        self.send_error(500, "api_error", f"key {key} has to wait", retry_after="0.01")

    def choice(self, choice: str) -> None:
        self.verdict({"reasons": "", "choice": choice})

    def reasons(self, reasons: str) -> None:
        self.verdict({"reasons": reasons, "choice": "partial"})

    def firewall(self, status: str = "403") -> None:
        self.send(int(status), b"<html>blocked: 1=1</html>", content_type="text/html")

    def echo_model(self, model: str) -> None:
        self.partly(model=model)

    def echo_id(self, id_: str) -> None:
        self.partly(id=id_)

    def text_of(self, words: str) -> None:
        self.message([text(words)])

    def redirect(self, where: str) -> None:
        self.send(307, b"", location=where)

    def cookie(self) -> None:
        self.more = {"set-cookie": "session=7; path=/"}
        self.partly()

    async def slow(self) -> None:
        await asyncio.sleep(3600)

    async def reset(self) -> None:
        self.writer.write(b'HTTP/1.1 200 X\r\ncontent-length: 5000\r\n\r\n{"id":"msg')
        await self.writer.drain()
        self.writer.transport.abort()
        raise ConnectionResetError

    async def endless(
        self, status: int = 200, head: str = "", piece: bytes = b" " * 65536, pause: float = 0.0
    ) -> None:
        self.writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-length: 2000000000\r\n{head}\r\n".encode()
        )
        while True:  # until the other side hangs up; JSON may begin with any number of spaces
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(pause)

    trickle = partialmethod(endless, piece=b" ", pause=0.02)
    endless_error = partialmethod(endless, 500)
    endless_bomb = partialmethod(endless, head="content-encoding: gzip\r\n", piece=BOMB)
    bomb = partialmethod(send, 200, BOMB, content_encoding="gzip")

    authentication = partialmethod(send_error, 401, "authentication_error")
    payment = partialmethod(send_error, 402, "billing_error")
    permission = partialmethod(send_error, 403, "permission_error")
    unknown_model = unknown = partialmethod(send_error, 404, "not_found_error")
    gone = partialmethod(send_error, 410, "not_found_error")
    too_large = partialmethod(send_error, 413, "request_too_large")
    invalid_request = partialmethod(send_error, 400, "invalid_request_error")
    rate_limit_mute = partialmethod(send_error, 429, "rate_limit_error")
    overloaded = partialmethod(send_error, 529, "overloaded_error")
    overloaded_with_200 = partialmethod(send_error, 200, "overloaded_error")
    error_with_200 = partialmethod(send_error, 200, "odd_error")
    api_error = partialmethod(send_error, 500, "api_error")
    busy = partialmethod(send_error, 503, "api_error", retry_after="900")

    untold_error = partialmethod(send, 200, b'{"type": "error", "error": null}')
    gateway = partialmethod(send, 502, b"<html>bad gateway</html>", content_type="text/html")
    html = partialmethod(send, 200, b"<html>please log in</html>", content_type="text/html")
    teapot = partialmethod(send, 418, b"")
    bad_json = partialmethod(send, 200, b'{"id": "msg_1", "content": [')
    deep_json = partialmethod(send, 200, b"[" * 200_000)
    no_message = partialmethod(send, 200, b'{"content": null}')

    equivalent = partialmethod(verdict, {"reasons": "Same rows.", "choice": "equivalent"})
    partial = partialmethod(reasons, "No filter.")
    incorrect = partialmethod(verdict, {"reasons": "Wrong table.", "choice": "incorrect"})
    unsound_text = partialmethod(
        verdict, {"reasons": "nul \0 half \ud800", "choice": " equivalent "}
    )
    unknown_choice = partialmethod(choice, "Z")
    missing_choice = partialmethod(verdict, {"reasons": ""})
    number_choice = partialmethod(verdict, {"reasons": "", "choice": 1})
    conflicting = partialmethod(verdict, {"choice": "incorrect"}, {"choice": "partial"})
    agreeing = partialmethod(verdict, {"reasons": "a", "choice": "partial"}, {"choice": "partial"})

    after_thinking = partialmethod(message, [THOUGHT, text('{"choice": "partial"}')])
    fenced = partialmethod(
        message, [text('```json\n{"reasons": "f", "choice": "partial"}\n```\n')]
    )
    two_choices = partialmethod(message, [text('{"choice": "equivalent", "choice": "incorrect"}')])
    in_prose = partialmethod(
        message, [text('No filter.\n```json\n{"reasons": "f", "choice": "partial"}\n```\nSo.')]
    )
    tool_use = partialmethod(
        message, [{"type": "tool_use", "id": "t", "name": "verdict", "input": {}}], "tool_use"
    )
    text_only = partialmethod(message, [text("They are equivalent.")])
    not_an_object = partialmethod(message, [text('"equivalent"')])
    odd_blocks = partialmethod(message, ["equivalent", None, text(5)])
    refusal = partialmethod(message, [], "refusal")
    empty = partialmethod(message, [])
    truncated = partialmethod(message, [text('{"reasons": "half a')], "max_tokens")

    long_prompt = partialmethod(partly, usage={"input_tokens": 100_001, "output_tokens": 1000})
    huge_usage = partialmethod(partly, usage={"input_tokens": 10**17, "output_tokens": 1})
    cached_prompt = partialmethod(partly, usage={**USAGE, "cache_read_input_tokens": 5})
    odd_usage = partialmethod(
        partly,
        usage={"input_tokens": "many", "output_tokens": -1, "server_tool_use": {"a": 1}},
        id=7,
        model=None,
    )


class _Later(_Replies):
    """Keeps what it would send."""

    written = b""

    def write(self, data: bytes) -> None:
        self.written += data
