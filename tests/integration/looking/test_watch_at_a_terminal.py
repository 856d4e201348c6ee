"""``redisson-dq watch`` on a real terminal: in place, with Redis away and back, and each way to end it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pexpect
import pytest
import redis

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, emptied, environment

HOUR = 3600.0
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
Watch = Callable[..., Any]


@pytest.fixture
def server(servers: Any) -> EmbeddedServer:
    server: EmbeddedServer = emptied(servers("redis"))
    return server


def offered(url: str, *items: tuple[Any, float]) -> None:
    with redisson_dq.connect(url) as client:
        client.delayed_queue("orders", transfer=False).offer_all(items)


@pytest.fixture
def watch() -> Iterator[Watch]:
    with ExitStack() as stack:

        def watch(url: str, *words: str, columns: int = 130) -> Any:
            env = {**environment(), "REDISSON_DQ_URL": url, "TERM": "xterm"}
            env.pop("COLUMNS", None)
            arguments = ["-m", "redisson_dq", "watch", "--interval", "100ms", *words]
            child = pexpect.spawn(
                sys.executable, arguments, env=env, encoding="utf-8", dimensions=(24, columns), timeout=PATIENCE
            )
            stack.callback(child.close, force=True)
            return child

        yield watch


def test_it_shows_changes_and_redis_away_and_back_in_place(watch: Watch) -> None:
    with EmbeddedServer() as own:
        offered(own.url, ("a", HOUR), ("b", HOUR), ("c", 0.001))
        child = watch(own.url)
        child.expect(r"queue[^\n]*waiting[^\n]*overdue[^\n]*p50[^\n]*p99[^\n]*dead[^\n]*due 1s 10s 1m 10m 1h 1d 7d")
        child.expect(r"orders +3 [^\n]*1 +\d[\w. ]*s +\d[\w. ]*s +0 [^\n]*▄[^\n]*█")
        offered(own.url, *[(n, HOUR) for n in range(40)])
        child.expect(r"orders +43 +\+\d")
        own.kill()
        child.expect(r"no figures since \d\d:\d\d:\d\d UTC: ")
        # The last figures stay beside it.
        child.expect(r"orders +43 ")
        own.restart()
        offered(own.url, ("d", HOUR))
        child.expect(r"orders +1 ")
        # Each look goes up to where the one before began.
        child.expect("\x1b\\[1A")
        child.send("q")
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus == 0


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda child: child.send("Q"), 0),
        (lambda child: child.sendintr(), 130),
        (lambda child: child.kill(signal.SIGTERM), 143),
    ],
    ids=["q", "Ctrl-C", "SIGTERM"],
)
def test_it_leaves_the_terminal_as_it_was(
    server: EmbeddedServer, watch: Watch, end: Callable[[Any], object], code: int
) -> None:
    offered(server.url, ("a", HOUR))
    child = watch(server.url)
    modes = termios.tcgetattr(child.child_fd)[3]
    child.expect("orders")
    assert termios.tcgetattr(child.child_fd)[3] & (termios.ECHO | termios.ICANON) == 0
    end(child)
    child.expect(pexpect.EOF)
    told = child.before
    assert told.rfind(SHOWN) > told.rfind(HIDDEN)
    assert "Traceback" not in told
    assert termios.tcgetattr(child.child_fd)[3] == modes
    child.wait()
    assert child.exitstatus == code


def test_a_narrow_terminal_has_fewer_columns_and_no_broken_lines(server: EmbeddedServer, watch: Watch) -> None:
    offered(server.url, ("a", HOUR), ("b", 0.001))
    child = watch(server.url, "--count", "1", columns=40)
    child.expect(pexpect.EOF)
    lines = [re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", line).strip("\r ") for line in child.before.splitlines()]
    assert lines[0].split() == ["queue", "waiting", "overdue", "p99", "ready"]
    assert lines[1].split()[:3] == ["orders", "2", "1"]
    assert max(map(len, lines)) <= 40
    child.wait()
    assert child.exitstatus == 0


def test_json_is_one_line_a_look_and_nothing_is_written(server: EmbeddedServer) -> None:
    offered(server.url, ("a", HOUR), ("b", 45.0), ("c", 0.001))
    with redis.Redis.from_url(server.url) as admin:
        changes = admin.info("persistence")["rdb_changes_since_last_save"]
        words = ["watch", "orders", "--json", "--count", "3", "--interval", "10ms", "--url", server.url]
        done = subprocess.run(
            [sys.executable, "-m", "redisson_dq", *words], env=environment(), capture_output=True, text=True, check=True
        )
        assert admin.info("persistence")["rdb_changes_since_last_save"] == changes
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["schema"] for line in lines] == [1, 1, 1]
    (last,) = lines[-1]["queues"]
    assert list(last["due"]) == ["due", "1s", "10s", "1m", "10m", "1h", "1d", "7d", "later"]
    assert list(last["due"].values()) == [1, 0, 0, 1, 0, 1, 0, 0, 0]
    assert list(last["late_seconds"]) == ["p50", "p90", "p99", "max"]
    assert (lines[0]["queues"][0]["waiting_change"], last["waiting_change"]) == (None, 0.0)


def test_a_first_look_that_fails_ends_it(watch: Watch) -> None:
    child = watch("redis://127.0.0.1:1")
    child.expect("redisson-dq: error: ")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 69
