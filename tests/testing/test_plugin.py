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

from tests.conftest import PATIENCE, eventually

PROJECT = """
import asyncio, os, signal, sys, time
from datetime import timedelta

from redisson_dq.testing import assert_offered, assert_settled


def test_threads(redisson_client, redisson_clock, redisson_queue):
    delayed = redisson_client.delayed_queue(redisson_queue)
    delayed.offer("a", delay=timedelta(days=30))
    assert_offered(delayed, "a", delay=timedelta(days=30))
    redisson_clock.advance(days=30)
    queue = redisson_client.blocking_queue(redisson_queue)
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

LEAKING = """
def test_lease(redisson_client, redisson_queue):
    queue = redisson_client.blocking_queue(redisson_queue)
    queue.add("a")
    queue.receive()


def test_connection(redisson_server, redisson_clock):
    import redisson_dq
    redisson_dq.connect(redisson_server.url)


def test_clean(redisson_client, redisson_queue):
    assert redisson_client.blocking_queue(redisson_queue).size() == 0
"""

KILLED = """
import os, signal

def test_killed(redisson_server, redisson_clock):
    print("URL", redisson_server.url, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_project.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "REDISSON_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir", str(folder), *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=4 * PATIENCE)


def test_a_project_imports_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, PROJECT)
    assert "3 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_eight_processes_on_one_server(tmp_path: Path, url: str, admin: redis.Redis) -> None:
    tests = PROJECT[PROJECT.index("def test_threads") :]
    copies = PROJECT + "".join(re.sub(r"def (test_\w+)", rf"def \1_{number}", tests) for number in range(3))
    done = run(tmp_path, copies, "-n", "8", "--redisson-url", url)
    assert "12 passed" in done.stdout, done.stdout
    # Nothing is left, in any database.
    assert admin.info("keyspace") == {}


def test_a_server_that_holds_anything_else_is_refused(tmp_path: Path, url: str, admin: redis.Redis) -> None:
    admin.set("theirs", 1)
    done = run(tmp_path, PROJECT, "--redisson-url", url)
    assert "holds keys that no test has made, such as 'theirs'" in done.stdout
    assert admin.keys() == [b"theirs"]


def test_a_test_that_leaves_something_behind_fails(tmp_path: Path) -> None:
    done = run(tmp_path, LEAKING)
    assert "1 leases in hand" in done.stdout, done.stdout
    assert "connections of clients that were not closed" in done.stdout
    assert "2 errors" in done.stdout
    assert "3 passed" in run(tmp_path, LEAKING, "--redisson-leaks", "off").stdout


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
