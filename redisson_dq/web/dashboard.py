"""The parts that all routes share: the client, the user's rights, threads, and errors as pages."""

from __future__ import annotations

import asyncio
import functools
import logging
import shutil
import tempfile
import weakref
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from redisson_dq import Client
from redisson_dq._version import __version__
from redisson_dq.admin import Admin
from redisson_dq.admin.names import is_plain
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.scheduling.times import from_us, machine_us
from redisson_dq.web.access import Access, AccessRefused, Basic, Right, Token, User
from redisson_dq.web.deeds import Deeds
from redisson_dq.web.doctor import FleetDoctor
from redisson_dq.web.frame import Site, Trouble, environment, trouble_of
from redisson_dq.web.guard import REFUSED
from redisson_dq.web.live import Live
from redisson_dq.web.masks import Masks
from redisson_dq.web.paths import Links, text_of
from redisson_dq.web.plain import json_bytes
from redisson_dq.web.queue import ConnectedClients
from redisson_dq.web.routing import NotFound, PostedForm, WebPage, WebRequest
from redisson_dq.web.seeing import Seeing, named_in
from redisson_dq.web.snapshots import Snapshots

__all__ = ["Dashboard"]

logger = logging.getLogger("redisson_dq")
T = TypeVar("T")

# How many threads wait for Redis at a time, and how many carry out actions.
_THREADS, _ACTING = 8, 2
# A page waits this many seconds for an action.
_PATIENCE = 1.0


class Dashboard:
    """One dashboard. It belongs to the event loop that serves it."""

    #: The largest age of an answer shared by several tabs, in seconds.
    shared_for = 0.9

    def __init__(
        self,
        client: Client,
        access: Access,
        masks: Masks,
        *,
        name: str = "",
        color: str = "gray",
        undo_dir: str | Path | None = None,
        is_plain: bool = True,
    ) -> None:
        self.client, self.access, self.masks = client, access, masks
        self.snapshots = Snapshots(client)
        self.doctor = FleetDoctor(client, masks)
        self.clients = ConnectedClients(client)
        self.live = Live(self.snapshots, self.doctor)
        self.deeds = Deeds(client, masks, lambda: self.undo_dir)
        self._tasks: set[asyncio.Task[None]] = set()
        self._kept: dict[object, tuple[float, asyncio.Task[Any]]] = {}
        self._name, self._color, self._is_plain = name, color, is_plain
        self._remove_dir: weakref.finalize[..., Dashboard] | None = None
        self._undo_dir = None if undo_dir is None else Path(undo_dir)
        self._limits: dict[str, anyio.CapacityLimiter] = {}
        self._templates = environment()

    @property
    def undo_dir(self) -> Path:
        """The folder for undo files. Raises OSError."""
        if self._undo_dir is None:
            self._undo_dir = Path(tempfile.mkdtemp(prefix="redisson-dq-undo-"))
            # A program that mounts the application need not notify it of the end.
            self._remove_dir = weakref.finalize(self, shutil.rmtree, self._undo_dir, ignore_errors=True)
        return self._undo_dir

    def warm_up(self) -> None:
        """Compiles all templates, so that the first page does not have to wait for it."""
        for name in self._templates.list_templates(extensions=["html"]):
            self._templates.get_template(name)

    def close(self) -> None:
        """Ends the live stream and all actions, and removes the folder that was made for undo files."""
        self.live.close()
        self.deeds.close()
        if self._remove_dir is not None:
            self._remove_dir()
            self._remove_dir = self._undo_dir = None

    async def run(self, function: Callable[..., T], *args: Any, **options: Any) -> T:
        """Calls a function that accesses Redis, in a thread."""
        limiter = self._limits.setdefault("look", anyio.CapacityLimiter(_THREADS))
        return await anyio.to_thread.run_sync(functools.partial(function, *args, **options), limiter=limiter)

    async def shared(self, key: object, function: Callable[..., T], *, when_free: bool = False) -> T | None:
        """Like :meth:`run`. Tabs that request the same key within a second share one answer.

        ``when_free``: the answer is None if another key was requested within that second.
        """
        loop = asyncio.get_running_loop()
        for old in [each for each, (since, _) in self._kept.items() if loop.time() - since > self.shared_for]:
            del self._kept[old]
        _, task = self._kept.get(key, (0.0, None))
        if task is None:
            if when_free and self._kept:
                return None
            task = loop.create_task(self.run(function))
            self._kept[key] = (loop.time(), task)
        # A tab that leaves must not cancel the request of the others.
        found: T = await asyncio.shield(task)
        return found

    async def go_on(self, function: Callable[..., None], *args: Any) -> None:
        """Calls a function of an action in a thread, and waits for it at most one second. It continues after that."""
        limiter = self._limits.setdefault("act", anyio.CapacityLimiter(_ACTING))

        async def done() -> None:
            await anyio.to_thread.run_sync(functools.partial(function, *args), limiter=limiter)
            self.snapshots.forget()
            self.doctor.forget()

        task = asyncio.get_running_loop().create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task}, timeout=_PATIENCE)

    async def form(self, asked: WebRequest) -> PostedForm:
        """The fields of one of our forms. Raises AccessRefused for any other form."""
        form = await PostedForm.read(asked.request)
        if not self.access.is_form_token(asked.user, form.get("token")):
            raise AccessRefused(403, "the form is old, or not from this dashboard: load its page again")
        return form

    async def seeing(self, asked: WebRequest, names: Iterable[str] = ()) -> Seeing:
        """The queues that the user may see, among these, the known ones, and those that the doctor names."""
        known: list[str] = []
        if not self.access.sees_all(asked.user):
            seen = (each.name for each in self.snapshots.queues())
            known = sorted({*names, *seen, *named_in(self.doctor.report)})
        return self.access.seeing(asked.user, known, await self.allowed(asked, known))

    async def allowed(self, asked: WebRequest, names: list[str]) -> Collection[str]:
        """The queues among these that the user may see."""
        may = await self.access.may(asked.request, asked.user, "view", names)
        return frozenset(name for name, is_allowed in zip(names, may, strict=True) if is_allowed)

    def check_name(self, queue: str) -> None:
        """Raises ArgumentError for the name of a queue that shares keys with another one, unless ``names="any"``."""
        if self._is_plain and not is_plain(Admin(self.client).raw(queue)):
            raise ArgumentError(
                f"queue {queue!r} has keys of another queue: open the page of that one. "
                "docs/limits.md#names-that-share-keys"
            )

    # -- routes ------------------------------------------------------------------------------------------------------

    def endpoint(self, page: WebPage) -> Callable[[Request], Awaitable[Response]]:
        """The function of a route, with its checks."""

        async def answer(request: Request) -> Response:
            links = Links(str(request.scope.get("root_path", "")).rstrip("/"))
            asked: WebRequest | None = None
            try:
                asked = await self._admitted(page, request, links)
                made = await page.answer(self, asked)
                if isinstance(made, Response):
                    return made
                return await self._shown(page.template, made, asked)
            except AccessRefused as error:
                return self._refused(error, request, links)
            except (NotFound, ArgumentError) as error:
                return self._failed(trouble_of(error, self.masks.error(error)), request, links)
            except RedissonDQError as error:
                text = self.masks.error(error)
                if asked is None or asked.queue is None:
                    text = (Seeing(()) if asked is None else await self.seeing(asked)).trouble(text)
                return self._failed(trouble_of(error, text), request, links)
            except Exception as error:
                self.masks.log(logger, error, "unexpected error in the dashboard, at %s", page.path)
                trouble = Trouble(
                    status=500,
                    title="This page failed",
                    text="An unexpected error happened. Nothing was changed by this page.",
                    hint="The log of the dashboard has the details.",
                )
                return self._failed(trouble, request, links)

        return answer

    async def _admitted(self, page: WebPage, request: Request, links: Links) -> WebRequest:
        queue = text_of(request.path_params["queue"]) if "queue" in request.path_params else None
        if queue == "":
            raise NotFound("a queue has a name")
        user, rights = User(""), frozenset[Right]()
        if not page.is_open:
            user = self.access.user_of(request)
        if queue is not None:
            self.check_name(queue)
        if page.right is not None:
            user = await self.access.check(request, user, page.right, queue)
            rights = await self.access.rights(request, user, queue)
        query = dict(request.query_params)
        return WebRequest(
            request=request, user=user, rights=rights, queue=queue, links=links, query=query, is_open=page.is_open
        )

    async def _shown(self, template: str, view: Any, asked: WebRequest, status: int = 200) -> Response:
        if asked.query.get("format") == "json":
            return Response(json_bytes(view), status, media_type="application/json")
        site = self._frame(asked.request, None if asked.is_open else asked.user, asked.rights)
        text = await self.run(self._templates.get_template(template).render, view=view, site=site, links=asked.links)
        return _page(text, status)

    def _frame(self, request: Request, known: User | None, rights: frozenset[str]) -> Site:
        user = known or User("")
        root = str(request.scope.get("root_path", "")).rstrip("/")
        return Site(
            name=self._name,
            color=self._color,
            # Nothing about the server is shown before the login.
            where="" if known is None else Admin(self.client).where,
            version="" if known is None else __version__,
            user="" if self.access.auth is None else user.name,
            can_log_out=isinstance(self.access.auth, Token) and bool(user.name),
            allow_writes=self.access.allow_writes,
            rights=rights,
            form_token=self.access.form_token(user),
            path=str(request.scope["path"]).removeprefix(root),
            query=dict(request.query_params),
            now=from_us(machine_us()),
        )

    # -- errors ------------------------------------------------------------------------------------------------------

    def _refused(self, error: AccessRefused, request: Request, links: Links) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "") and request.query_params.get("format") != "json"
        if error.status == 401 and isinstance(self.access.auth, Token) and wants_page and request.method == "GET":
            path = str(request.scope["path"]).removeprefix(links.root) or "/"
            query = request.url.query
            return RedirectResponse(links.login(next=f"{path}?{query}" if query else path), 303)
        trouble = Trouble(
            status=error.status,
            title={401: "Log in first", 429: "Wait before you try again"}.get(error.status, "Not allowed"),
            text=str(error),
            hint=error.hint,
        )
        answer = self._failed(trouble, request, links, is_known=error.status not in (401, 429))
        if error.retry_after:
            answer.headers["retry-after"] = str(error.retry_after)
        if error.status == 401:
            scheme = "Basic" if isinstance(self.access.auth, Basic) else "Bearer"
            answer.headers["www-authenticate"] = f'{scheme} realm="redisson-dq", charset="UTF-8"'
        return answer

    def _known(self, request: Request) -> User | None:
        """The user of a failed request, or None."""
        try:
            return self.access.user_of(request)
        except AccessRefused:
            return None

    def _failed(self, trouble: Trouble, request: Request, links: Links, *, is_known: bool = True) -> Response:
        request.scope[REFUSED] = trouble.text
        headers = {"retry-after": "2"} if trouble.is_away else None
        if request.query_params.get("format") == "json":
            return Response(json_bytes(trouble), trouble.status, headers, "application/json")
        site = self._frame(request, self._known(request) if is_known else None, frozenset())
        # If an address or a form of a queue was wrong, the queue's page still works.
        queue = text_of(request.path_params.get("queue", "")) if trouble.status in (400, 404) else ""
        text = self._templates.get_template("error.html").render(view=trouble, site=site, links=links, queue=queue)
        return _page(text, trouble.status, headers)


def _page(text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Renders a page. A lone surrogate, which JSON text may contain, comes back from a form as ``?``."""
    return Response(text.encode(errors="replace"), status, headers, "text/html; charset=utf-8")
