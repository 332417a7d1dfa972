"""Every recipe of the docs, run against the real package in a program of its own."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest

from scorekit import SqlCase, score_sql_cases

pytestmark = pytest.mark.slow
DOCS = Path(__file__).parents[2] / "docs"
RECIPES = DOCS / "recipes"
NEEDS = {
    "autoevals_scorer": "autoevals", "braintrust_eval": "braintrust", "data_frames": "polars",
    "deepeval_metric": "deepeval", "evaluate_metric": "evaluate", "inspect_log": "inspect_ai",
    "inspect_scorer": "inspect_ai", "own_database": "duckdb",
    "progress_bar": "tqdm",
}  # fmt: skip
PRINTED = {
    "autoevals_scorer": "0.5\n0.5",
    "braintrust_eval": "All orders? 1 -> 0\ninconclusive on 3 questions\n6 of 8 attempts judged",
    "data_frames": "inconclusive -0.25\ninconclusive -0.25\n[0.5, 1.0, 0.0, 1.0]",
    "deepeval_metric": "0.5 0.5 True",
    "inspect_scorer": (
        "lowest mean 0.333 end 0.008\nhighest mean 0.667 end 0.992\ndecided mean 0.667"
    ),
    "own_database": (
        "duckdb refuted by in_duckdb\nsnowflake refuted by fake_snowflake\n"
        "orders(id, customer, total): (6, '1', 3), (4, '1', 20)\n"
        "The first query returns: ('1', 'small')\nThe second query returns: ('1', 'large')"
    ),
    "progress_bar": "100 100",
    "evaluate_metric": "pass@3 0.675\ninterval [0.13, 0.97]",
}
VERDICTS = {
    "inspect_log": "{'score': 0.983, 'low': 0.476, 'high': 1.0}\n",
}
"""Of those that print a comparison: what stands in it."""

NO_NETWORK = """
import os, sys

def stop(event, args):
    if event == "socket.connect" and isinstance(args[1], (str, bytes)):
        return  # a process of its own, not the network
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        os.write(2, f"{event} {args}".encode())
        os._exit(97)

sys.addaudithook(stop)
"""


def _run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in *folder*, where all that a peer leaves stays; a connection ends it."""
    (folder / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    flags = ("DEEPEVAL_TELEMETRY_OPT_OUT", "NO_COLOR", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    quiet = dict.fromkeys(flags, "1") | {"PYTEST_ADDOPTS": ""}
    env = {**os.environ, **quiet, "HOME": str(folder), "PYTHONPATH": path}
    shown: Any = {"capture_output": True, "text": True, "timeout": 600}
    return subprocess.run([sys.executable, *command], cwd=folder, env=env, check=False, **shown)


def test_every_recipe_is_shown_and_run() -> None:
    """A recipe that is on no page helps nobody; one that is not run may be wrong."""
    files = {path.stem for path in RECIPES.glob("*.py")}
    assert files == {*PRINTED, *VERDICTS, "openai_judge", "regression_gate", "pytest_suite"}
    pages = ("gate.md", "integrations.md", "judging.md")
    page = "".join((DOCS / name).read_text("utf-8") for name in pages)
    assert all(f"recipes/{name}.py" in page for name in files)


@pytest.mark.parametrize("name", [*PRINTED, *VERDICTS])
def test_the_recipe_works(name: str, tmp_path: Path) -> None:
    """The real package takes what scorekit gives it, or scorekit what the package wrote."""
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"could not import {NEEDS[name]!r}")
    run = _run(str(RECIPES / f"{name}.py"), folder=tmp_path)
    assert run.returncode == 0, run.stderr[-2000:]
    if name in PRINTED:
        assert run.stdout.strip() == PRINTED[name]
    else:
        assert VERDICTS[name] in run.stdout


class ChatCompletions(BaseHTTPRequestHandler):
    """An OpenAI-compatible service that is busy at first, and answers in prose."""

    asked: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        """Answer."""
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        choice = {"message": {"role": "assistant", "content": CHAT}, "index": 0}
        body = json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(429 if len(self.asked) == 1 else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


CHAT = 'No filter.\n```json\n{"reasons": "r", "choice": "partial"}\n```'


def test_a_judge_on_another_model() -> None:
    """Asked over HTTP by the client of another library, again after it was busy."""
    openai = pytest.importorskip("openai")
    recipe = runpy.run_path(str(RECIPES / "openai_judge.py"))
    service = ThreadingHTTPServer(("127.0.0.1", 0), ChatCompletions)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{service.server_port}/v1"
    judge = recipe["openai_judge"](
        openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0), "m"
    )
    cases = [SqlCase(case_id=i, generated=f"SELECT {i}", expected="SELECT a") for i in range(5)]
    report = score_sql_cases(cases, judge=judge, evidence="judge")
    service.shutdown()
    service.server_close()
    assert dict(report.n_by_method) == {"judge": 5}
    assert report.query_correctness is not None
    assert len(ChatCompletions.asked) == 6
    assert {one["role"] for one in ChatCompletions.asked[0]["messages"]} == {"system", "user"}


def test_a_connection_ends_a_recipe(tmp_path: Path) -> None:
    """Or the test above would not show that each works offline."""
    program = "import socket; socket.create_connection(('127.0.0.1', 9))"
    run = _run("-c", program, folder=tmp_path)
    assert run.returncode == 97
    assert run.stderr.startswith("socket.getaddrinfo")


def test_the_gate_opens_and_closes(tmp_path: Path) -> None:
    """Without a baseline it fails and stores none; an equal run passes, a worse one fails."""
    text = (RECIPES / "regression_gate.py").read_text(encoding="utf-8")
    gate = tmp_path / "regression_gate.py"
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", gate.name)
    gate.write_text(text, encoding="utf-8")
    run = _run(*command, folder=tmp_path)
    assert (run.returncode, (tmp_path / "baseline.json").exists()) == (1, False)
    assert "no baseline: run python regression_gate.py and commit baseline.json" in run.stdout
    assert _run(gate.name, folder=tmp_path).returncode == 0
    assert _run(*command, folder=tmp_path).returncode == 0
    gate.write_text(text.replace("passed=3, failed=0", "passed=0, failed=3"), encoding="utf-8")
    run = _run(*command, folder=tmp_path)
    assert run.returncode == 1
    shown = (RECIPES / "data" / "comment.md").read_text(encoding="utf-8")
    assert (tmp_path / "comparison.md").read_text(encoding="utf-8") == shown.rstrip("\n")
    assert "RegressionError: regressed: pass@1 -1.000" in run.stdout
    assert (
        "pass@1: regressed: 1.000 -> 0.000, a loss of 1.000, 97.5 % interval [-1.000, "
        in run.stdout
    )
    assert re.search(r"parse +candidate +pass@1 +1.000 +0.000 +-1.000", run.stdout)
