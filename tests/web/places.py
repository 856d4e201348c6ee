"""Places where a dashboard is served: behind proxies, and in the applications of other programs, below a path."""

from __future__ import annotations

import contextlib
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route

from redisson_dq.web import app
from redisson_dq.web.serving import config_of
from tests.conftest import PATIENCE

__all__ = ["BELOW", "PLACES", "listening", "proxy"]

#: The path below which each place serves the pages.
BELOW = "/ops/queues"
# Those that are about one connection, and not about the request.
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "host"}


@contextlib.contextmanager
def listening(made: Any, *, root_path: str = "", proxies: tuple[str, ...] = ()) -> Iterator[str]:
    """Serves an application as the command does, at a port, in a thread. Gives its address."""
    opened = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config_of(made, "127.0.0.1", 0, root_path, proxies))
    thread = threading.Thread(target=server.run, args=([opened],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def proxy(upstream: str, *, passes_host: bool = True) -> Starlette:
    """A proxy as nginx with ``location /ops/queues/`` and ``proxy_pass UPSTREAM/``: it takes the path off.

    Without ``passes_host`` it sends a ``Host`` of its own, as nginx does where nobody tells it otherwise.
    """
    asking = httpx.AsyncClient(base_url=upstream, timeout=PATIENCE, limits=httpx.Limits(max_connections=None))

    async def passed(request: Request) -> Response:
        path = request.scope["raw_path"].decode().removeprefix(BELOW)
        headers = [(name, value) for name, value in request.headers.raw if name.decode() not in _HOP_BY_HOP]
        if passes_host:
            headers.append((b"host", request.headers["host"].encode()))
        headers += [(b"x-forwarded-proto", b"http"), (b"x-forwarded-prefix", BELOW.encode())]
        query = request.url.query
        asked = asking.build_request(
            request.method, path + (f"?{query}" if query else ""), headers=headers, content=await request.body()
        )
        answer = await asking.send(asked, stream=True)
        made = StreamingResponse(answer.aiter_raw(), answer.status_code, background=BackgroundTask(answer.aclose))
        made.raw_headers = [pair for pair in answer.headers.raw if pair[0].lower().decode() not in _HOP_BY_HOP]
        return made

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with asking:
            yield

    methods = ["GET", "HEAD", "POST"]
    return Starlette(routes=[Route(BELOW + "/{rest:path}", passed, methods=methods)], lifespan=lifespan)


@contextlib.contextmanager
def behind_a_proxy(url: str, *, passes_host: bool = True, **options: Any) -> Iterator[str]:
    with (
        listening(app(url, **options), root_path=BELOW) as upstream,
        listening(proxy(upstream, passes_host=passes_host)) as root,
    ):
        yield root + BELOW


@contextlib.contextmanager
def in_fastapi(url: str, **options: Any) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Using `httpx` with")  # of later versions of starlette
        from fastapi import FastAPI
    outer = FastAPI()
    outer.mount(BELOW, app(url, **options))
    with listening(outer) as root:
        yield root + BELOW


@contextlib.contextmanager
def in_django(url: str, **options: Any) -> Iterator[str]:
    # It has no types.
    settings = import_module("django.conf").settings
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="of a test")
        import_module("django").setup()
    get_asgi_application = import_module("django.core.asgi").get_asgi_application
    inner = app(url, **options)
    outer = Starlette(routes=[Mount(BELOW, inner), Mount("/", get_asgi_application())])
    with listening(outer) as root:
        yield root + BELOW


#: For Django, which has no page of its own here.
urlpatterns: list[Any] = []

#: Each serves a dashboard of a Redis, with options of ``app()``, and gives the address of its first page.
PLACES: dict[str, Callable[..., contextlib.AbstractContextManager[str]]] = {
    "proxy": behind_a_proxy,
    "proxy-without-host": lambda url, **options: behind_a_proxy(url, passes_host=False, **options),
    "fastapi": in_fastapi,
    "django": in_django,
}
