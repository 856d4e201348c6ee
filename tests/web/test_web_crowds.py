"""Many clients that misbehave at a time: a user of the pages waits for none of them, and they take little memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest

import redisson_dq
from redisson_dq.web.live import LiveStream
from tests.conftest import PATIENCE, environment
from tests.web.conftest import Open

QUEUES = 500
READERS, FORMS = 200, 100
TOKEN = "a-token-of-the-tests"


def offered(client: redisson_dq.Client, delay: float) -> None:
    for i in range(QUEUES):
        with client.delayed_queue(f"queue-{i:03}", transfer=False) as queue:
            queue.offer("a", delay)


def test_the_stream_is_sent_in_small_pieces(browse: Open, client: redisson_dq.Client) -> None:
    """A server keeps one piece for a tab that does not read."""
    offered(client, 3600)
    dashboard = browse().app.state.dashboard  # type: ignore[attr-defined]
    sent: list[bytes] = []

    async def first() -> None:
        async def seeing(names: list[str]) -> list[str]:
            return names

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message.get("body", b""))
            if b'"gone"' in sent[-1]:
                gone.set()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        gone = asyncio.Event()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(LiveStream(dashboard.live, None, seeing)({}, receive, send), PATIENCE)

    asyncio.run(first())
    assert max(map(len, sent)) < 100_000
    found = re.search(rb"event: snapshot\ndata: (.*)\n\n", b"".join(sent))
    assert found is not None
    assert len(json.loads(found[1])["rows"]) == QUEUES
    assert len(found[1]) > 200_000


def memory_of(pid: int) -> int:
    """The bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def command(url: str) -> Iterator[tuple[subprocess.Popen[str], httpx.URL]]:
    """The dashboard as a process, and its address."""
    words = ["dashboard", "--url", url, "--port", "0", "--auth", "token"]
    process = subprocess.Popen(
        [sys.executable, "-m", "redisson_dq", *words],
        env={**environment(), "REDISSON_DQ_DASHBOARD_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, httpx.URL(process.stdout.readline().split()[-1])
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.nightly
def test_a_user_goes_on_amid_readers_that_never_read_and_slow_forms(redis_url: str, client: redisson_dq.Client) -> None:
    offered(client, 3600)
    with command(redis_url) as (process, place), contextlib.ExitStack() as stack:

        def connected(request: str) -> socket.socket:
            made = stack.enter_context(socket.socket())
            # With little room for what it does not read.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.connect((place.host, place.port))
            made.sendall(request.replace("\n", "\r\n").encode())
            return made

        given = {"authorization": f"Bearer {TOKEN}"}
        user = stack.enter_context(httpx.Client(base_url=place, timeout=PATIENCE, headers=given))
        for path in ("/", "/doctor", "/queues/queue-007", "/queues/queue-007/items"):
            assert user.get(path).status_code == 200
        before = memory_of(process.pid)
        for _ in range(READERS):
            connected(f"GET /live HTTP/1.1\nHost: localhost\nAuthorization: Bearer {TOKEN}\n\n")
        forms = [connected("POST /login HTTP/1.1\nHost: localhost\nContent-Length: 500000\n\n") for _ in range(FORMS)]
        took, largest, end = [0.0], 0, threading.Event()

        def changing() -> None:
            while not end.is_set():
                offered(client, 7200)

        thread = threading.Thread(target=changing)
        thread.start()
        try:
            until = time.monotonic() + 20
            while time.monotonic() < until:
                for form in forms:
                    # The server ends those that come too slowly.
                    with contextlib.suppress(OSError):
                        form.sendall(b"x" * 100)
                for path in ("/", "/queues/queue-007", "/queues/queue-007/items"):
                    began = time.monotonic()
                    assert user.get(path).status_code == 200
                    took.append(time.monotonic() - began)
                largest = max(largest, memory_of(process.pid))
        finally:
            end.set()
            thread.join()
    # One page of fifty may meet a busy moment of the machine.
    assert sorted(took)[-1 - len(took) // 50] < 1
    assert largest - before < 100_000_000
