"""Real servers for every test, both flavours for most. A missing server or JVM fails the run."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer, ServerProgram, find_server
from tests.flavours import AsyncioFlavour, Flavour
from tests.peer import VERSIONS, JavaPeer

# Hypothesis and the JVM are slow at times on a busy machine; an event that has not come by then never will.
PATIENCE = 30.0


def wheel_program() -> ServerProgram:
    """The server of the extra ``embedded``, whatever else is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        patch.delenv("REDISSON_DQ_SERVER", raising=False)
        return find_server()


PROGRAMS: dict[str, Callable[[], ServerProgram]] = {
    "redis": lambda: find_server("redis-server"),
    "valkey": wheel_program,
}


def pytest_report_header(config: pytest.Config) -> list[str]:
    lines = []
    for name, find in PROGRAMS.items():
        with EmbeddedServer(program=find()) as server:
            lines.append(f"{name}: {server.name} {server.version}")
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    return [*lines, f"java: {java}", f"redisson: {', '.join(VERSIONS)}; redis-py {redis.__version__}"]


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[str], EmbeddedServer]]:
    """Starts each kind of server once a run, when the first test wants it."""
    with ExitStack() as stack:
        running: dict[str, EmbeddedServer] = {}

        def start(kind: str) -> EmbeddedServer:
            if kind not in running:
                running[kind] = stack.enter_context(EmbeddedServer(program=PROGRAMS[kind]()))
            return running[kind]

        yield start


@pytest.fixture(params=["redis", "valkey"])
def server(request: pytest.FixtureRequest, servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty Redis, then an empty Valkey, shared by the run. Its memory is the test's alone."""
    shared = servers(request.param)
    with redis.Redis.from_url(shared.url) as admin:
        admin.flushall()
        admin.config_resetstat()
    return shared


@pytest.fixture
def own_server(tmp_path: Any) -> Iterator[EmbeddedServer]:
    """A Redis that the test may restart or kill; it appends to a file and syncs it at every write."""
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=tmp_path / "data") as server:
        with redis.Redis.from_url(server.url) as admin:
            admin.config_set("appendfsync", "always")
        yield server


@pytest.fixture
def url(server: EmbeddedServer) -> str:
    return server.url


@pytest.fixture
def admin(server: EmbeddedServer) -> Iterator[redis.Redis]:
    """A plain redis-py client, to look at the server with."""
    with redis.Redis.from_url(server.url) as client:
        yield client


@pytest.fixture(params=["sync", "asyncio"])
def flavour(request: pytest.FixtureRequest) -> Iterator[Flavour]:
    made = Flavour() if request.param == "sync" else AsyncioFlavour()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    """Every test ends its clients, and a client that was closed has no thread any more."""
    yield
    ours = [thread for thread in threading.enumerate() if thread.name.startswith(("redisson_dq-", "APScheduler"))]
    for thread in ours:
        thread.join(5)
    assert not [thread for thread in ours if thread.is_alive()]


@pytest.fixture(scope="session")
def peers() -> Iterator[Callable[[str], JavaPeer]]:
    """Starts a JVM for each Redisson version once a run. Clients inside it are opened per test."""
    with ExitStack() as stack:
        running: dict[str, JavaPeer] = {}

        def start(version: str) -> JavaPeer:
            if version not in running:
                running[version] = stack.enter_context(JavaPeer(version))
            return running[version]

        yield start


def eventually(condition: Callable[[], Any], *, within: float = PATIENCE) -> Any:
    """Waits for an event; gives what the condition gave, and fails when it never came."""
    deadline = time.monotonic() + within
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < deadline, "the event did not come"
        time.sleep(0.005)


def environment() -> dict[str, str]:
    """The environment for a Python process that imports this library."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return {**os.environ, "PYTHONPATH": root}
