"""The plugin for pytest, as a project of a user has it: in processes of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis

from redisson_dq.testing._plugin import pytest_report_header
from tests.conftest import PATIENCE, by_night, eventually

PROJECT = """
import asyncio, os, signal, sys, time
from datetime import timedelta

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.testing import assert_offered, assert_settled


def test_threads(redisson_url, redisson_clock, redisson_queue):
    with redisson_dq.connect(redisson_url, codec=StringCodec()) as client:
        delayed = client.delayed_queue(redisson_queue)
        delayed.offer("a", delay=timedelta(days=30))
        assert_offered(delayed, "a", delay=timedelta(days=30))
        redisson_clock.advance(days=30)
        queue = client.blocking_queue(redisson_queue)
        assert queue.poll() == "a"
        assert_settled(queue)


def test_tasks(redisson_clock, redisson_aio_client, redisson_queue):
    async def main():
        async with redisson_aio_client as client:
            delayed = client.delayed_queue(redisson_queue)
            await delayed.offer("a", delay=timedelta(days=30))
            await redisson_clock.aio.advance(days=30)
            assert await client.blocking_queue(redisson_queue).poll() == "a"

    asyncio.run(main())


def test_real_time(redisson_client, redisson_queue):
    queue = redisson_client.blocking_queue(redisson_queue)
    redisson_client.delayed_queue(queue).offer("a", delay=0.05)
    assert queue.poll(timeout=10) == "a"
"""

# A plugin that runs tests and fixtures in a loop of its own.
ANYIO = """
import pytest


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def client(redisson_aio_client):
    async with redisson_aio_client as made:
        yield made


@pytest.mark.anyio
async def test_coroutine(client, redisson_clock, redisson_queue):
    await client.delayed_queue(redisson_queue).offer("a", delay=timedelta(days=30))
    with redisson_clock.auto():
        assert await client.blocking_queue(redisson_queue).take() == "a"
"""

LEAKING = """
import asyncio
import logging
import redisson_dq
import redisson_dq.aio
from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Retry, Worker, fixed

kept = []


def test_lease(redisson_client, redisson_queue):
    queue = redisson_client.blocking_queue(redisson_queue)
    queue.add("a")
    queue.receive()


def test_lease_under_a_clock(redisson_client, redisson_clock):
    redisson_client.blocking_queue("orders").add("a")
    redisson_client.blocking_queue("orders").receive()


def test_undecodable(redisson_client, redisson_server, redisson_queue):
    redisson_server.admin.rpush(redisson_queue, b"\\xff")
    try:
        redisson_client.blocking_queue(redisson_queue).poll()
    except redisson_dq.errors.RedissonDQError:
        pass


class TestClean:
    def test_nothing_is_left_of_others(self, redisson_client, redisson_queue):
        assert redisson_client.blocking_queue(redisson_queue).size() == 0

    def test_a_handler_that_fails_is_part_of_a_test(self, redisson_client, redisson_clock):
        worker = Worker(redisson_client)

        @worker.handler("orders", retry=Retry(limit=2, backoff=fixed(60)))
        def handle(value, event):
            if event.attempt == 1:
                raise ValueError(value)

        redisson_client.blocking_queue("orders").add("a")
        with worker:
            redisson_clock.advance(60)

    def test_a_warning_that_the_test_looks_at(self, redisson_queue, caplog):
        logging.getLogger("redisson_dq").warning("a transfer failed")
        assert caplog.messages == ["a transfer failed"]

    @__import__("pytest").mark.redisson_leaks("off")
    def test_lease_that_is_meant(self, redisson_client, redisson_queue):
        queue = redisson_client.blocking_queue(redisson_queue)
        queue.add("a")
        queue.receive()


def test_client(redisson_server, redisson_queue):
    kept.append(redisson_dq.connect(redisson_server.url))
    kept[0].blocking_queue(redisson_queue).size()


def test_client_under_a_clock(redisson_server, redisson_clock):
    kept.append(redisson_dq.connect(redisson_server.url))
    kept[1].blocking_queue("orders").size()


def test_client_of_asyncio(redisson_server, redisson_queue):
    async def main():
        kept.append(await redisson_dq.aio.connect(redisson_server.url).__aenter__())
        await kept[2].blocking_queue(redisson_queue).size()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    kept.append(loop)


def test_warning(redisson_queue):
    logging.getLogger("redisson_dq").warning("a transfer failed")
"""

KILLED_WORKERS = """
import pytest, time

@pytest.mark.parametrize("number", range(4))
def test_waits(redisson_client, redisson_clock, redisson_queue, number):
    redisson_client.delayed_queue(redisson_queue).offer("a", delay=60)
    with open(f"ready-{number}", "w") as file:
        file.write(redisson_client.runtime.connections.client)
    time.sleep(600)
"""

NO_NETWORK = """
import socket, sys

def refuse(event, args):
    if event == "socket.connect" and args[0].family != socket.AF_UNIX and not args[1][0].startswith("127."):
        raise OSError(f"a test without a network connects to {args[1]}")
    if event == "socket.getaddrinfo" and args[0] not in ("127.0.0.1", "localhost", None):
        raise OSError(f"a test without a network looks {args[0]} up")

sys.addaudithook(refuse)
"""

KILLED = """
import os, signal

def test_killed(redisson_server, redisson_clock):
    print("URL", redisson_server.url, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


# Hypothesis, which no test of theirs needs, takes a third of the time that pytest takes to start.
COMMAND = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_project.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "REDISSON_"))}
    # A CI system names no server so.
    environment["REDISSON_DQ_TEST_URL"] = ""
    command = [*COMMAND, "--rootdir", str(folder), *options]
    # One that hangs ends with the test.
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_project_imports_nothing_and_needs_no_network(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(NO_NETWORK)
    done = run(tmp_path, PROJECT + ANYIO)
    assert "4 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("processes", ["2", by_night("8")])
@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_many_processes_on_one_server(tmp_path: Path, url: str, admin: redis.Redis, processes: str) -> None:
    tests = PROJECT[PROJECT.index("def test_threads") :]
    copies = PROJECT + "".join(re.sub(r"def (test_\w+)", rf"def \1_{number}", tests) for number in range(3))
    done = run(tmp_path, copies, "-n", processes, "--redisson-url", url)
    assert "12 passed" in done.stdout, done.stdout
    # Nothing is left, in any database.
    assert admin.info("keyspace") == {}


@pytest.mark.nightly
def test_a_server_that_holds_anything_else_is_refused(tmp_path: Path, url: str, admin: redis.Redis) -> None:
    admin.set("theirs", 1)
    done = run(tmp_path, PROJECT, "--redisson-url", url)
    assert "holds keys that no test made, such as 'theirs'" in done.stdout
    assert admin.keys() == [b"theirs"]


def test_the_header_shows_no_password(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytestconfig.option, "redisson_url", "redis://me:first@localhost:6379/0?password=second")
    assert pytest_report_header(pytestconfig) == ["redisson-dq: tests use redis://***@localhost:6379/0"]


def test_a_test_that_leaves_something_behind_fails(tmp_path: Path) -> None:
    done = run(tmp_path, LEAKING, "--strict-markers", "-p", "no:unraisableexception")
    assert "11 passed, 7 errors" in done.stdout, done.stdout
    told = re.findall(r"at teardown of (\w+) _+\nthe test has left behind: (.*)\n", done.stdout)
    assert [(name, re.sub("test-[0-9a-f]+", "QUEUE", left)) for name, left in told] == [
        ("test_lease", "1 leases in hand (key 'redisson_dq_leases:{QUEUE}')"),
        ("test_lease_under_a_clock", "1 leases in hand (key 'redisson_dq_leases:{orders}')"),
        ("test_undecodable", "1 undecodable values (key 'redisson_dq_undecodable:{QUEUE}')"),
        ("test_client", "1 clients that were not closed"),
        ("test_client_under_a_clock", "1 clients that were not closed"),
        ("test_client_of_asyncio", "1 clients that were not closed"),
        ("test_warning", "a warning of the log: a transfer failed"),
    ]
    assert "3 passed" in run(tmp_path, LEAKING, "--redisson-leaks", "off", "-k", "test_lease").stdout


def test_the_server_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    done = run(tmp_path, KILLED)
    assert done.returncode == -signal.SIGKILL
    (url,) = re.findall(r"URL (\S+)", done.stdout)

    def is_gone() -> bool:
        with redis.Redis.from_url(url) as client:
            try:
                return not client.ping()
            except redis.exceptions.ConnectionError:
                return True

    eventually(is_gone)


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_no_process_outlives_a_run_that_is_killed_in_the_middle(tmp_path: Path, url: str, admin: redis.Redis) -> None:
    """The processes of pytest-xdist end with the first one, and the next run finds a server that it may use."""
    (tmp_path / "test_project.py").write_text(KILLED_WORKERS)
    running = subprocess.Popen([*COMMAND, "-n", "2", "--redisson-url", url], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        eventually(lambda: len(list(tmp_path.glob("ready-*"))) == 2)
        workers = children_of(running.pid)
        assert len(workers) == 2
    finally:
        running.kill()
        running.wait()
    # A test that sleeps ends when it is interrupted alone, and its process after that.
    eventually(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    eventually(lambda: len(admin.client_list()) == 1)
    done = run(tmp_path, PROJECT, "--redisson-url", url)
    assert "3 passed" in done.stdout, done.stdout
    assert admin.keys() == []


def children_of(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in found.split()]


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_every_python(tmp_path: Path, version: str) -> None:
    """The plugin under each Python that is installed here, without its wheel being there before."""
    programs = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    assert programs, f"there is no Python {version}"
    home = tmp_path / "env"
    subprocess.run([programs[-1], "-m", "venv", home], check=True)
    root = Path(__file__).parents[2]
    subprocess.run([home / "bin/pip", "install", "-q", f"{root}[testing]"], check=True)
    (tmp_path / "test_project.py").write_text(PROJECT)
    command: list[Any] = [home / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_project.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=4 * PATIENCE)
    assert "3 passed" in done.stdout, done.stdout
