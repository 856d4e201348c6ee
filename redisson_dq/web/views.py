"""The routes: the right that each page needs, and the function that builds it."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

import attrs
from starlette.responses import RedirectResponse, Response

from redisson_dq.admin import Admin
from redisson_dq.browsing import TooFar, partitions_of
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.web.access import AccessRefused, Right, Token, User, address_of, cookie_name
from redisson_dq.web.actions import action, actions, choices
from redisson_dq.web.dashboard import Dashboard
from redisson_dq.web.deeds import KINDS, WebDeed
from redisson_dq.web.doctor import doctor
from redisson_dq.web.fleet import fleet
from redisson_dq.web.item import item
from redisson_dq.web.items import items
from redisson_dq.web.live import LiveStream
from redisson_dq.web.paths import text_of
from redisson_dq.web.queue import queue
from redisson_dq.web.routing import NotFound, PostedForm, WebPage, WebRequest
from redisson_dq.web.timeline import timeline

__all__ = ["PAGES"]

# The first page waits this many seconds for the doctor, so that a small server's problems are shown at once.
_FIRST_LOOK = 0.3
# The most items that a form may name, as each costs a round trip.
_MOST_IDS = 1000


async def _fleet(dashboard: Dashboard, asked: WebRequest) -> Any:
    try:
        await dashboard.run(dashboard.snapshots.take)
    except RedissonDQError:
        # The page shows the last figures, and says that they are old.
        if not dashboard.snapshots.queues():
            raise
    await dashboard.live.first_look(_FIRST_LOOK)
    page = asked.number("page") or 1
    return fleet(
        dashboard.snapshots,
        await dashboard.seeing(asked),
        dashboard.doctor.report,
        sort=asked.query.get("sort", ""),
        filter=asked.query.get("filter", ""),
        page=page,
    )


async def _queue(dashboard: Dashboard, asked: WebRequest) -> Any:
    seeing = await dashboard.seeing(asked)

    def made() -> Any:
        name = _name(asked)
        seen = dashboard.snapshots.queue(name)
        return queue(
            dashboard.client,
            name,
            dashboard.masks,
            dashboard.clients,
            seen=seen,
            report=dashboard.doctor.report,
            seeing=seeing,
            partitions=_partitions(dashboard, name),
            from_=asked.query.get("from", ""),
            to=asked.query.get("to", ""),
            actions=choices("queue", asked.rights),
        )

    return await dashboard.run(made)


async def _timeline(dashboard: Dashboard, asked: WebRequest) -> Any:
    name, from_, to = _name(asked), asked.query.get("from", ""), asked.query.get("to", "")

    def made() -> Any:
        return timeline(dashboard.client, name, _partitions(dashboard, name), dashboard.masks, from_, to)

    # A tab that redraws its span waits for its turn. So any number of tabs costs one script a second, like a single
    # tab.
    found = await dashboard.shared((name, from_, to), made, when_free=bool(asked.query.get("again")))
    return Response(status_code=204) if found is None else found


async def _items(dashboard: Dashboard, asked: WebRequest) -> Any:
    def made() -> Any:
        name, state = _name(asked), asked.query.get("state", "") or "waiting"
        return items(
            dashboard.client,
            name,
            dashboard.masks,
            state=state,
            filter=asked.query.get("filter", ""),
            codec=asked.query.get("codec", ""),
            cursor=asked.query.get("cursor", ""),
            from_ms=asked.number("from"),
            to_ms=asked.number("to"),
            actions=choices(state, asked.rights),
            partitions=_partitions(dashboard, name),
        )

    return await dashboard.run(made)


async def _item(dashboard: Dashboard, asked: WebRequest) -> Any:
    def made() -> Any:
        name, id, codec = _name(asked), asked.path("id"), asked.query.get("codec", "")
        try:
            found = item(
                dashboard.client,
                name,
                asked.path("state"),
                id,
                dashboard.masks,
                codec=codec,
                partitions=_partitions(dashboard, name),
                after=asked.query.get("after", ""),
            )
        except TooFar as error:
            go_on = asked.links.item(name, asked.path("state"), id, codec=codec, after=error.after)
            raise NotFound(f"item {id!r} of queue {name!r}: {error}", go_on=go_on) from None
        if found is None:
            hint = "It may have been delivered or moved meanwhile."
            raise NotFound(f"queue {name!r} has no item {id!r} any more", hint=hint)
        return attrs.evolve(found, actions=choices(found.state, asked.rights))

    found = await dashboard.run(made)
    # A dead letter may be stored for another queue.
    source = _whole(dashboard, found.source) if found.state == "dead" else ""
    if source in ("", asked.queue) or (await dashboard.seeing(asked, [source])).may([source]):
        return found
    return attrs.evolve(found, source="")


def _whole(dashboard: Dashboard, raw: str) -> str:
    """The name of the queue that has a raw name, or a partition of it."""
    admin = Admin(dashboard.client)
    name = admin.name(raw) or raw
    return (admin.whole(name) or (name,))[0]


def _name(asked: WebRequest) -> str:
    assert asked.queue is not None
    return asked.queue


def _partitions(dashboard: Dashboard, name: str) -> int | None:
    """How many partitions a queue has, from the last snapshot or its keys."""
    seen = dashboard.snapshots.queue(name)
    if seen is not None and seen.parts == (name,):
        return None
    return partitions_of(dashboard.client, name)


async def _doctor(dashboard: Dashboard, asked: WebRequest) -> Any:
    is_asked_for = bool(asked.query.get("again"))
    if dashboard.doctor.report is None or (is_asked_for and dashboard.doctor.is_due(is_asked_for=True)):
        await dashboard.run(dashboard.doctor.look)
    dashboard.live.look()
    return doctor(dashboard.doctor, await dashboard.seeing(asked))


async def _live(dashboard: Dashboard, asked: WebRequest) -> Any:
    queue = asked.query.get("queue") or None
    if queue is not None:
        dashboard.check_name(queue)
    await dashboard.access.check(asked.request, asked.user, "view", queue)
    if asked.request.method == "HEAD":
        return Response(media_type="text/event-stream")

    async def allowed(names: list[str]) -> Collection[str]:
        return await dashboard.allowed(asked, names)

    async def is_let_in(*, ask: bool) -> bool:
        try:
            user = dashboard.access.user_of(asked.request)
            if ask:
                await dashboard.access.check(asked.request, user, "view", queue)
        except AccessRefused:
            return False
        return True

    seeing = functools.partial(dashboard.access.seeing, asked.user)
    return _Streamed(LiveStream(dashboard.live, queue, allowed, seeing, is_let_in))


class _Streamed(Response):
    """A response that sends itself."""

    def __init__(self, stream: LiveStream) -> None:
        super().__init__()
        self._stream = stream

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._stream(scope, receive, send)


# -- actions ---------------------------------------------------------------------------------------------------------


async def _act(dashboard: Dashboard, asked: WebRequest) -> Any:
    """Selects and counts the items of an action. Nothing is changed before its own form is posted."""
    name = _name(asked)
    form = await dashboard.form(asked)
    kind = KINDS.get(form.get("action"))
    if kind is None:
        raise ArgumentError(f"there is no action {form.get('action')[:100]!r}: {', '.join(KINDS)}")
    await _check(dashboard, asked, kind.right, name)
    state = form.get("state") or kind.states[0]
    named = (*form.all("id"), *map(text_of, form.all("item")))
    ids, filter = tuple(dict.fromkeys(each for each in named if each)), form.get("filter").strip()
    if len(ids) > _MOST_IDS:
        raise ArgumentError(f"{len(ids):,} items were named, and a form names {_MOST_IDS:,} at most: take a filter")
    if state != "queue" and bool(ids) + bool(filter) + (form.get("all") == "1") != 1:
        raise ArgumentError("say which items: some of them, those of a filter, or all")
    deed = WebDeed(
        kind=kind,
        queue=name,
        partitions=await dashboard.run(_partitions, dashboard, name),
        state=state,
        user=asked.user.name,
        address=address_of(asked.request),
        filter=filter,
        ids=ids,
        when=form.get("when").strip() if "when" in kind.needs else "",
        value=form.get("value"),
        delay=form.get("delay").strip(),
        item_id=form.get("item_id"),
        java_class=form.get("class").strip(),
        codec=form.get("codec"),
    )
    dashboard.deeds.new(deed)
    await dashboard.go_on(dashboard.deeds.choose, deed)
    return RedirectResponse(asked.links.action(deed.id), 303)


async def _check(dashboard: Dashboard, asked: WebRequest, right: Right, queue: str) -> User:
    """Checks a right, and returns the user."""
    return await dashboard.access.check(asked.request, asked.user, right, queue)


async def _actions(dashboard: Dashboard, asked: WebRequest) -> Any:
    found = dashboard.deeds.all()
    rights = {
        name: await dashboard.access.rights(asked.request, asked.user, name) for name in {each.queue for each in found}
    }
    return actions(found, rights, dashboard.masks)


async def _deed(dashboard: Dashboard, asked: WebRequest) -> WebDeed:
    """An action on a queue that the user may see. Any other action counts as unknown."""
    found = dashboard.deeds.get(asked.path("id"))
    if found is None or not (await dashboard.access.may(asked.request, asked.user, "view", [found.queue]))[0]:
        raise NotFound("this dashboard has no such action: it forgets them when it ends")
    return found


async def _action(dashboard: Dashboard, asked: WebRequest) -> Any:
    deed = await _deed(dashboard, asked)
    rights = await dashboard.access.rights(asked.request, asked.user, deed.queue)
    return action(deed, rights, dashboard.masks)


async def _step(dashboard: Dashboard, asked: WebRequest) -> Any:
    deed = await _deed(dashboard, asked)
    user = await _check(dashboard, asked, deed.kind.right, deed.queue)
    await dashboard.form(asked)
    step = asked.path("step")
    # A second click, or a click in another tab, changes nothing: the page shows the progress of the action.
    if step == "do":
        if dashboard.deeds.begin(deed):
            await dashboard.go_on(dashboard.deeds.carry_out, deed, user.name)
    elif step == "undo":
        if dashboard.deeds.begin_undo(deed, user.name):
            await dashboard.go_on(dashboard.deeds.take_back, deed, user.name)
    elif step == "drop":
        dashboard.deeds.drop(deed)
    else:
        raise NotFound(f"there is no step {step!r}: do, undo, drop")
    return RedirectResponse(asked.links.action(deed.id), 303)


# -- login -----------------------------------------------------------------------------------------------------------


async def _login(dashboard: Dashboard, asked: WebRequest) -> Any:
    if not isinstance(dashboard.access.auth, Token):
        return RedirectResponse(asked.links.fleet(), 303)
    after = asked.query.get("next", "/")
    if asked.request.method == "GET":
        return {"next": after, "error": ""}
    form = await PostedForm.read(asked.request, most_bytes=4096, most_fields=8)
    if not dashboard.access.is_token(asked.request, form.get("password")):
        return {"next": after, "error": "This is not the token."}
    answer = RedirectResponse(asked.links.root + _inside(after), 303)
    answer.set_cookie(
        cookie_name(asked.request),
        dashboard.access.sessions.new(dashboard.access.auth.token),
        path=asked.links.root or "/",
        # An unnamed proxy may terminate TLS. A forged header only restricts its own sender.
        secure="https" in (asked.request.url.scheme, asked.request.headers.get("x-forwarded-proto", "").strip()),
        httponly=True,
        samesite="lax",
    )
    return answer


def _inside(path: str) -> str:
    """A path of the dashboard; its first page if the address is elsewhere."""
    try:
        parts = urlsplit(path)
    except ValueError:
        return "/"
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return path if is_ours and path.isprintable() else "/"


async def _logout(dashboard: Dashboard, asked: WebRequest) -> Any:
    await dashboard.form(asked)
    if isinstance(dashboard.access.auth, Token):
        cookie = asked.request.cookies.get(cookie_name(asked.request), "")
        dashboard.access.sessions.end(cookie, dashboard.access.auth.token)
    answer = RedirectResponse(asked.links.login(), 303)
    answer.delete_cookie(cookie_name(asked.request), path=asked.links.root or "/")
    return answer


#: All routes except that of static files.
PAGES = (
    WebPage(path="/", right="view", answer=_fleet, template="fleet.html"),
    WebPage(path="/queues/{queue}", right="view", answer=_queue, template="queue.html"),
    WebPage(path="/queues/{queue}/timeline", right="view", answer=_timeline, template="timeline.html"),
    WebPage(path="/queues/{queue}/items", right="view", answer=_items, template="items.html"),
    WebPage(path="/queues/{queue}/items/{state}/{id}", right="view", answer=_item, template="item.html"),
    WebPage(path="/doctor", right="view", answer=_doctor, template="doctor.html"),
    WebPage(path="/live", right=None, answer=_live),
    WebPage(path="/login", right=None, answer=_login, template="login.html", methods=("GET", "POST"), is_open=True),
    WebPage(path="/queues/{queue}/actions", right="mend", answer=_act, methods=("POST",)),
    WebPage(path="/actions", right="view", answer=_actions, template="actions.html"),
    WebPage(path="/actions/{id}", right=None, answer=_action, template="action.html"),
    WebPage(path="/actions/{id}/{step}", right=None, answer=_step, methods=("POST",)),
    WebPage(path="/logout", right="view", answer=_logout, methods=("POST",)),
)
