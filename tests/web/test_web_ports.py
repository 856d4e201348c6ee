"""The port of the dashboard: those who have not logged in do not keep others out, and no header forges an address."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest

from redisson_dq.web import Basic, app, serving
from tests.conftest import PATIENCE
from tests.web.conftest import Served, logged_in
from tests.web.places import listening


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 40)


def opened(url: str, sent: bytes) -> socket.socket:
    place = httpx.URL(url)
    made = socket.create_connection((place.host, place.port or 0), timeout=PATIENCE)
    made.sendall(sent)
    return made


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\na",
    ],
)
@pytest.mark.usefixtures("_small")
def test_half_requests_keep_nobody_out(served: Served, half: bytes) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(opened(served.url, half)) for _ in range(120)]
        assert httpx.get(served.url, timeout=PATIENCE).status_code == 200
        # The oldest were dropped. Without uvloop that is a reset.
        with suppress(ConnectionResetError):
            while held[0].recv(65536):
                pass


def test_a_head_that_does_not_end_is_dropped(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.2)
    whole = b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for sent in (b"", b"GET / HT", whole + b"GET / HTTP/1.1\r\nHost:"):
        with opened(served.url, sent) as held:
            while held.recv(65536):
                pass


@contextmanager
def proxied(url: str, *proxies: str) -> Iterator[str]:
    with listening(app(url, auth=Basic({"ada": "secret-of-ada"})), proxies=proxies) as address:
        yield address


def test_headers_of_forwarding_count_from_a_proxy_that_was_named(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    for proxies, shown in (((), "127.0.0.1"), (("10.1.1.1",), "127.0.0.1"), (("127.0.0.1",), "203.0.113.7")):
        caplog.clear()
        with proxied(redis_url, *proxies) as address:
            headers = {"x-forwarded-for": "6.6.6.6, 203.0.113.7", **logged_in("ada", "wrong")}
            assert httpx.get(address, headers=headers).status_code == 401
        assert f"a wrong password of 'ada', from {shown}, 1 in a row" in caplog.text
