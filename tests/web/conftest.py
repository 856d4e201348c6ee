"""A dashboard on a real server, asked without a network."""

from __future__ import annotations

import base64
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import uvicorn

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web import app
from redisson_dq.web.access import Access, User
from redisson_dq.web.serving import config_of
from tests.conftest import PATIENCE, emptied

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Using `httpx` with")  # of later versions of starlette
    warnings.filterwarnings("ignore", "The anyio.abc.BlockingPortal alias")  # of starlette 1.3 beside anyio 4.10
    from starlette.testclient import TestClient

__all__ = ["Open", "Served", "TestClient", "logged_in", "token_of"]

#: Opens a dashboard with these options of ``app()``.
Open = Callable[..., TestClient]


def logged_in(name: str, password: str) -> dict[str, str]:
    """The headers of a browser whose user has given a name and a password."""
    return {"authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def token_of(pages: TestClient, user: str = "ada") -> str:
    """The hidden field of the forms of a user."""
    access: Access = pages.app.state.dashboard.access  # type: ignore[attr-defined]
    return access.form_token(User(user))


class Served:
    """A dashboard at a port, in a thread."""

    def __init__(self, url: str) -> None:
        self.app = app(url)
        self.dashboard = self.app.state.dashboard
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        # As the command serves it.
        self._server = uvicorn.Server(config_of(self.app, "127.0.0.1", 0))
        self._thread = threading.Thread(target=self._server.run, args=([listening],))
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def redis_url(servers: Callable[[str], EmbeddedServer]) -> str:
    """An empty Redis."""
    return emptied(servers("redis")).url


@pytest.fixture
def client(redis_url: str) -> Iterator[redisson_dq.Client]:
    """A client of the program whose queues are looked at."""
    with redisson_dq.connect(redis_url) as client:
        yield client


@pytest.fixture
def browse(redis_url: str) -> Iterator[Open]:
    """Opens dashboards, and ends them."""
    with ExitStack() as stack:

        def opened(*, headers: dict[str, str] | None = None, url: str = redis_url, **options: Any) -> TestClient:
            made = TestClient(
                app(url, **options),
                base_url="http://127.0.0.1:8787",
                client=("127.0.0.1", 50000),
                headers=headers,
                raise_server_exceptions=True,
                follow_redirects=False,
            )
            stack.enter_context(made)
            return made

        yield opened


@pytest.fixture
def served(redis_url: str) -> Iterator[Served]:
    made = Served(redis_url)
    try:
        yield made
    finally:
        made.close()
