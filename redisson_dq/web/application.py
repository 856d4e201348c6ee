"""The application: its options, and the table of its routes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Literal

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from redisson_dq import Client
from redisson_dq._common.texts import shown
from redisson_dq.admin import Admin
from redisson_dq.admin.names import queues_reached
from redisson_dq.errors import ArgumentError
from redisson_dq.web.access import Access, Authorize, Basic, Token
from redisson_dq.web.dashboard import Dashboard
from redisson_dq.web.frame import COLORS
from redisson_dq.web.guard import WebGuard
from redisson_dq.web.masks import Masks
from redisson_dq.web.views import PAGES

__all__ = ["app"]

_STATIC = Path(__file__).parent / "static"


def app(
    client: Client | str,
    *,
    auth: Token | Basic | Authorize | None = None,
    allow_writes: bool = False,
    hosts: Iterable[str] = (),
    name: str = "",
    color: str = "gray",
    masks: Iterable[str] = (),
    undo_dir: str | Path | None = None,
    names: Literal["plain", "any"] = "plain",
) -> Starlette:
    """The dashboard as an ASGI application, to serve or to mount under any path.

    - ``client``: a client for threads, which stays yours, or the URL of a server. The pages only send reads, and start
      nothing else
    - ``auth``: the rights of users: a :class:`Token`, :class:`Basic`, or ``authorize(request, action, queue)``. There
      ``action`` is ``view``, ``mend`` or ``purge``, and ``queue`` is None for pages about all queues. The function,
      plain or asynchronous, returns True, False, or the user's name. Without ``auth`` only this machine can reach the
      pages
    - ``allow_writes``: actions on items. It needs ``auth``
    - ``hosts``: host names under which the pages are reached, besides ``localhost``; ``"*"`` stands for any
    - ``name``, ``color``: the badge of the environment, such as ``"production"`` and ``"red"``
    - ``masks``: names of fields whose values are hidden, at any depth
    - ``undo_dir``: a folder for undo files; by default a temporary one that is removed at the end
    - ``names``: ``"any"`` also serves queues whose names share keys with another queue, such as ``{orders}``. Users
      need the rights to both queues

    Example::

        shop = FastAPI()
        shop.mount("/queues", redisson_dq.web.app(client, auth=authorize, hosts=["shop.example.com"]))

    Serve it from one process, as undo files and forms belong to a process. With Django, mount it by path beside the
    application: docs/deploy.md. Raises ArgumentError.
    """
    if isinstance(client, str):
        from redisson_dq.admin.names import unopened

        opened, is_ours = unopened(client, {}), True
    elif isinstance(client, Client):
        opened, is_ours = client, False
    else:
        raise ArgumentError(
            f"app() takes a client for threads, as redisson_dq.connect() makes, or a URL, not {shown(client)}"
        )
    # With a mapper that cannot be reversed, queues in Redis have no names.
    admin = Admin(opened)
    admin.name("")
    if color not in COLORS:
        raise ArgumentError(f"color= is one of {', '.join(COLORS)}, not {shown(color)}")
    if names not in ("plain", "any"):
        raise ArgumentError(f"names= must be 'plain' or 'any', not {shown(names)}")
    access = Access(
        auth,
        allow_writes=allow_writes,
        reached=functools.partial(queues_reached, mapper=admin.name_mapper),
        now=admin.clock.monotonic,
    )
    dashboard = Dashboard(
        opened, access, Masks(masks), name=name, color=color, undo_dir=undo_dir, is_plain=names == "plain"
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        dashboard.warm_up()
        try:
            yield
        finally:
            dashboard.close()
            if is_ours:
                opened.close()

    guard = Middleware(WebGuard, hosts=tuple(hosts), is_open=auth is None)
    routes = [
        *(Route(page.path, dashboard.endpoint(page), methods=page.methods) for page in PAGES),
        Mount("/static", StaticFiles(directory=_STATIC), name="static"),
    ]
    made = Starlette(routes=routes, middleware=[guard], lifespan=lifespan)
    made.state.dashboard = dashboard
    return made
