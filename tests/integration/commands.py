"""``redisson-dq worker`` as tests run it: the command, its processes, its probes, and the work of its handlers."""

from __future__ import annotations

import io
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.cli import main
from tests.conftest import PATIENCE, environment, eventually
from tests.integration.whereabouts import whereabouts

WORKERS = {"sync": "in_threads", "asyncio": "in_a_loop"}
THREADS = "tests.workers.of_the_command:in_threads"


class Command:
    """The command, while it runs. What it logs is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._pool = ThreadPoolExecutor(1)
        self._reading = self._pool.submit(self._read)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def until(self, text: str, count: int = 1) -> None:
        try:
            eventually(lambda: self.log.count(text) >= count)
        except AssertionError:
            raise AssertionError(f"{text!r} has not come {count} times in:\n{self.log}") from None

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ends(self) -> int:
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        # Its processes end after it, and the last of them closes the pipe.
        self._reading.result(PATIENCE)
        self._pool.shutdown()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def command(url: str, target: str, *options: str, **told: Any) -> Iterator[Command]:
    """``redisson-dq worker``, once all its processes run."""
    with starting(url, target, *options, **told) as made:
        made.until("all processes are running")
        yield made


@contextmanager
def starting(
    url: str,
    target: str,
    *options: str,
    env: dict[str, str] | None = None,
    cwd: Any = None,
    stdin: int = subprocess.DEVNULL,
    before: Sequence[str] = (),
    **told: Any,
) -> Iterator[Command]:
    """``before``: words of the program that starts the command."""
    words = [*before, sys.executable, "-m", "redisson_dq", "worker", target, "--url", url, "--grace", "5", *options]
    more = {"COMMAND_WORKER": json.dumps({"url": url, **told}), **(env or {})}
    made = Command(
        subprocess.Popen(
            words, stdin=stdin, stderr=subprocess.PIPE, env={**environment(), **more}, cwd=cwd, encoding="utf-8"
        )
    )
    try:
        yield made
    finally:
        made.close()


def done(admin: Any) -> list[list[str]]:
    """For each handled value: the value, its attempt, its crashes, the process."""
    return [line.decode().split() for line in admin.lrange("done", 0, -1)]


def children(made: Command) -> list[int]:
    """The processes that run now, oldest first."""
    found = Path(f"/proc/{made.process.pid}/task/{made.process.pid}/children").read_text().split()
    return [int(pid) for pid in found]


def in_hand(admin: Any) -> int:
    return whereabouts(admin).leased.total()


def asked(port: int, path: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def checked(url: str, target: str, *options: str) -> tuple[int, str, str]:
    """``redisson-dq worker --check`` in this process: its exit code, and what it prints and says."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        # Only of the module's first import.
        patch.setenv("COMMAND_WORKER", json.dumps({"url": url, "handler": {"timeout": 5}}))
        code = main(["worker", target, "--check", "--url", url, *options])
    return code, out.getvalue(), err.getvalue()


def ended(url: str, *options: str) -> tuple[int, str, str]:
    env = {**environment(), "COMMAND_WORKER": json.dumps({"url": url, "handler": {"timeout": 5}})}
    words = [sys.executable, "-m", "redisson_dq", "worker", *options]
    made = subprocess.run(words, env=env, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)
    return made.returncode, made.stdout, made.stderr
