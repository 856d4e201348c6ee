"""The parts that all routes share: the client, the user's rights, templates, and errors as pages."""

from __future__ import annotations

import asyncio
import functools
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
import attrs
import jinja2
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from redisson_dq._log import Log
from redisson_dq._sync.client import Client
from redisson_dq._version import __version__
from redisson_dq.errors import ArgumentError, RedisConnectionError, RedissonDQError, WrongTypeError
from redisson_dq.web.access import Access, AccessRefused, Basic, Right, Token, User
from redisson_dq.web.deeds import Deeds
from redisson_dq.web.doctor import FleetDoctor
from redisson_dq.web.live import Live
from redisson_dq.web.masks import Masks
from redisson_dq.web.paths import Links, text_of
from redisson_dq.web.plain import json_bytes
from redisson_dq.web.queue import ConnectedClients
from redisson_dq.web.snapshots import Snapshots
from redisson_dq.web.times import in_words, span_in_words

__all__ = ["COLORS", "WebRequest", "Dashboard", "PostedForm", "NotFound", "WebPage", "Site", "Trouble"]

logger = Log()
T = TypeVar("T")

#: The colours of the environment's badge. The style sheet has a class ``env-COLOR`` for each.
COLORS = ("gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")
_TEMPLATES = Path(__file__).parent / "templates"
# So many threads wait for Redis at a time, and so many carry out actions.
_THREADS, _ACTING = 8, 2
# A page waits so many seconds for an action, and a form has so many bytes at most.
_PATIENCE, _MOST_BYTES = 1.0, 1_000_000


@attrs.frozen(kw_only=True)
class Site:
    """The frame of every page, which templates have as ``site``.

    ``name`` and ``color`` are the badge of the environment; ``name`` may be empty. ``where`` is the server without a
    password. ``user`` is the name of the user, empty where nobody logs in; ``can_log_out`` by a form to
    ``links.logout()``. ``rights`` are the user's rights here: of the queue on its pages, else of all queues.
    ``form_token`` goes into each form as the hidden field ``token``. ``path`` and ``query`` are those of the page.
    """

    name: str
    color: str
    where: str
    version: str
    user: str
    can_log_out: bool
    allow_writes: bool
    rights: frozenset[str]
    form_token: str
    path: str
    query: Mapping[str, str]


@attrs.frozen(kw_only=True)
class Trouble:
    """The view of ``error.html``: the ``status``, a ``title``, a ``text``, and a ``hint`` that says what to do.

    ``is_away``: Redis cannot be reached, and the page is worth asking again.
    """

    status: int
    title: str
    text: str
    hint: str
    is_away: bool = False


class NotFound(Exception):
    """There is no such thing."""


@attrs.frozen(kw_only=True)
class WebRequest:
    """One request of a user who may make it. ``queue`` is the name in its path, None on pages about all queues.

    ``rights`` are the user's over that queue, or over all queues.
    """

    request: Request
    user: User
    rights: frozenset[Right]
    queue: str | None
    links: Links
    query: Mapping[str, str]

    def path(self, name: str) -> str:
        """A part of the path, decoded."""
        return text_of(self.request.path_params[name])

    def number(self, name: str) -> int | None:
        """A whole number of the query; None where there is none. Raises ArgumentError."""
        text = self.query.get(name, "")
        if not text:
            return None
        if not re.fullmatch("-?[0-9]{1,18}", text):
            raise ArgumentError(f"{name}= is a whole number, not {text[:100]!r}")
        return int(text)


@attrs.frozen
class PostedForm:
    """The fields of a form, in their order."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    async def read(cls, request: Request) -> PostedForm:
        """Raises AccessRefused for one that is too large."""
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > _MOST_BYTES:
                raise AccessRefused(413, "the form is too large")
        return cls(tuple(parse_qsl(data.decode(errors="replace"), keep_blank_values=True)))

    def get(self, name: str) -> str:
        """The first field of that name, or an empty text."""
        return next((value for each, value in self.pairs if each == name), "")

    def all(self, name: str) -> tuple[str, ...]:
        """All fields of that name."""
        return tuple(value for each, value in self.pairs if each == name)


@attrs.frozen(kw_only=True)
class WebPage:
    """One route: its path, the right that it needs, its template and its function.

    The function gets the dashboard and the request, and gives a view-model or a response. A path with ``{queue}`` asks
    for the right to that queue. ``right`` is None for a page that checks the rights itself, and ``is_open`` marks one
    without a user: the login.
    """

    path: str
    right: Right | None
    answer: Callable[[Any, WebRequest], Awaitable[Any]]
    template: str = ""
    methods: tuple[str, ...] = ("GET",)
    is_open: bool = False


class Dashboard:
    """One dashboard. It belongs to the event loop that serves it."""

    #: An answer that several tabs share is so many seconds old at most.
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
    ) -> None:
        self.client, self.access, self.masks = client, access, masks
        self.snapshots = Snapshots(client)
        self.doctor = FleetDoctor(client)
        self.clients = ConnectedClients(client)
        self.live = Live(self.snapshots, self.doctor)
        self.deeds = Deeds(client, masks, lambda: self.undo_dir)
        self._tasks: set[asyncio.Task[None]] = set()
        self._kept: dict[object, tuple[float, asyncio.Task[Any]]] = {}
        self._name, self._color = name, color
        self._made_dir: str | None = None
        self._undo_dir = None if undo_dir is None else Path(undo_dir)
        self._limits: dict[str, anyio.CapacityLimiter] = {}
        self._templates = _environment()

    @property
    def undo_dir(self) -> Path:
        """The folder for undo files. Raises OSError."""
        if self._undo_dir is None:
            self._made_dir = tempfile.mkdtemp(prefix="redisson-dq-undo-")
            self._undo_dir = Path(self._made_dir)
        return self._undo_dir

    def warm_up(self) -> None:
        """Compiles all templates, so that the first page need not wait for that."""
        for name in self._templates.list_templates(extensions=["html"]):
            self._templates.get_template(name)

    def close(self) -> None:
        """Ends the live stream and all actions, and removes the folder that was made for undo files."""
        self.live.close()
        self.deeds.close()
        if self._made_dir is not None:
            shutil.rmtree(self._made_dir, ignore_errors=True)
            self._made_dir = self._undo_dir = None

    async def run(self, function: Callable[..., T], *args: Any, **options: Any) -> T:
        """Calls a function that asks Redis, in a thread."""
        limiter = self._limits.setdefault("look", anyio.CapacityLimiter(_THREADS))
        return await anyio.to_thread.run_sync(functools.partial(function, *args, **options), limiter=limiter)

    async def shared(self, key: object, function: Callable[..., T], *, when_free: bool = False) -> T | None:
        """As :meth:`run`. Tabs that ask for the same key within a second share one answer.

        ``when_free``: the answer is None where another key was asked for within that second.
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
        # One tab that leaves does not end the look of the others.
        found: T = await asyncio.shield(task)
        return found

    async def go_on(self, function: Callable[..., None], *args: Any) -> None:
        """Calls a function of an action in a thread, and waits for it for a second at most. It goes on after that."""
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
        """The fields of a form of ours. Raises AccessRefused for any other form."""
        form = await PostedForm.read(asked.request)
        if not self.access.is_form_token(asked.user, form.get("token")):
            raise AccessRefused(403, "the form is old, or not one of this dashboard: load its page again")
        return form

    async def allowed(self, asked: WebRequest, names: list[str]) -> Collection[str]:
        """Of these queues the ones that the user may see."""
        may = await self.access.may(asked.request, asked.user, "view", names)
        return frozenset(name for name, is_allowed in zip(names, may, strict=True) if is_allowed)

    # -- routes ------------------------------------------------------------------------------------------------------

    def endpoint(self, page: WebPage) -> Callable[[Request], Awaitable[Response]]:
        """The function of a route, with its checks."""

        async def answer(request: Request) -> Response:
            links = Links(str(request.scope.get("root_path", "")).rstrip("/"))
            try:
                asked = await self._admitted(page, request, links)
                made = await page.answer(self, asked)
                if isinstance(made, Response):
                    return made
                return await self._shown(page.template, made, asked)
            except AccessRefused as error:
                return self._refused(error, request, links)
            except (NotFound, RedissonDQError) as error:
                return self._failed(_trouble(error), request, links)
            except Exception:
                logger.exception("unexpected error in the dashboard, at %s", page.path)
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
        if page.right is not None:
            user = await self.access.check(request, user, page.right, queue)
            rights = await self.access.rights(request, user, queue)
        query = dict(request.query_params)
        return WebRequest(request=request, user=user, rights=rights, queue=queue, links=links, query=query)

    async def _shown(self, template: str, view: Any, asked: WebRequest, status: int = 200) -> Response:
        if asked.query.get("format") == "json":
            return Response(json_bytes(view), status, media_type="application/json")
        site = self._frame(asked.request, asked.user, asked.rights)
        text = await self.run(self._templates.get_template(template).render, view=view, site=site, links=asked.links)
        return _page(text, status)

    def _frame(self, request: Request, user: User, rights: frozenset[str]) -> Site:
        root = str(request.scope.get("root_path", "")).rstrip("/")
        return Site(
            name=self._name,
            color=self._color,
            where=str(self.client.runtime.connections.where),
            version=__version__,
            user="" if self.access.auth is None else user.name,
            can_log_out=isinstance(self.access.auth, Token) and bool(rights),
            allow_writes=self.access.allow_writes,
            rights=rights,
            form_token=self.access.form_token(user),
            path=str(request.scope["path"]).removeprefix(root),
            query=dict(request.query_params),
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
            title="Log in first" if error.status == 401 else "Not allowed",
            text=str(error),
            hint="" if error.status == 401 else "Whoever runs this dashboard can give you the right.",
        )
        answer = self._failed(trouble, request, links)
        if error.status == 401:
            scheme = "Basic" if isinstance(self.access.auth, Basic) else "Bearer"
            answer.headers["www-authenticate"] = f'{scheme} realm="redisson-dq", charset="UTF-8"'
        return answer

    def _failed(self, trouble: Trouble, request: Request, links: Links) -> Response:
        headers = {"retry-after": "2"} if trouble.is_away else None
        if request.query_params.get("format") == "json":
            return Response(json_bytes(trouble), trouble.status, headers, "application/json")
        site = self._frame(request, User(""), frozenset())
        text = self._templates.get_template("error.html").render(view=trouble, site=site, links=links)
        return _page(text, trouble.status, headers)


def _page(text: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A page. Half of a pair of surrogates, which a value of JSON may have, is shown as ``?``."""
    return Response(text.encode(errors="replace"), status, headers, "text/html; charset=utf-8")


def _trouble(error: Exception) -> Trouble:
    text = str(error)
    if isinstance(error, NotFound):
        return Trouble(status=404, title="Not found", text=text, hint="It may have been delivered or moved meanwhile.")
    if isinstance(error, ArgumentError):
        return Trouble(status=400, title="This address cannot be read", text=text, hint="")
    if isinstance(error, RedisConnectionError):
        return Trouble(
            status=503,
            title="Redis is away",
            text=text,
            hint="This page comes back by itself when Redis answers again.",
            is_away=True,
        )
    if isinstance(error, WrongTypeError):
        hint = "Something else uses this key. The doctor names it."
        return Trouble(status=409, title="A key holds something else", text=text, hint=hint)
    return Trouble(
        status=502, title="Redis refused", text=text, hint="redisson-dq acl prints the rights of an observer."
    )


# -- templates -------------------------------------------------------------------------------------------------------


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": _number, "ago": in_words, "span": _span, "utc": _utc, "most": _most, "bars": _bars}
    return made


def _number(count: int | None) -> str:
    """``1,234,567``; ``?`` where nobody can tell."""
    return "?" if count is None else f"{count:,}"


def _most(points: Iterable[float | None]) -> float | None:
    """The largest of the points that are known; None without any."""
    return max((each for each in points if each is not None), default=None)


def _bars(points: Sequence[float | None]) -> str:
    """The path of a small chart: a bar for each point that is known and not 0. fleet.js draws the same."""
    most = _most(points) or 0
    return "".join(f"M{2 * i + 1} 25v-{max(24 * each / most, 1):.1f}" for i, each in enumerate(points) if each)


def _span(span: timedelta | None) -> str:
    return "" if span is None else span_in_words(span)


def _utc(moment: datetime | None, timespec: str = "seconds") -> str:
    """``2026-11-24 19:00:00``."""
    return "" if moment is None else moment.isoformat(" ", timespec).removesuffix("+00:00")
