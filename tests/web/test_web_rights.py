"""Every route, with every role, by every method: nobody sees or does more than the user's rights allow."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio.to_thread
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

import redisson_dq
from redisson_dq.errors import ArgumentError
from redisson_dq.web import Basic, Token, app
from redisson_dq.web.access import User
from redisson_dq.web.dashboard import Dashboard
from redisson_dq.web.live import Live, LiveStream
from redisson_dq.web.logins import Attempts, Sessions
from redisson_dq.web.plain import json_bytes
from redisson_dq.web.views import PAGES
from tests.conftest import PATIENCE, eventually
from tests.web.conftest import Open, TestClient, logged_in, token_of

NIGHTLY = pytest.mark.nightly
TOKEN = "0123456789abcdefghij"
FOREIGN = {"origin": "http://evil.example.com"}
SECRETS = {name: f"password-of-{name}" for name in ("viewer", "mender", "purger", "other")}
USERS: dict[str, Any] = {
    "viewer": (SECRETS["viewer"], "view", "orders*"),
    "mender": (SECRETS["mender"], "mend", "orders*"),
    "purger": (SECRETS["purger"], "purge", "orders*"),
    "other": (SECRETS["other"], "view", "bills"),
}
ROLES = ["nobody", "stranger", *SECRETS]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

#: Every route, with the right that it needs over the queue ``orders``, or over all queues, by its method.
NEEDED: dict[str, dict[str, str]] = {
    "/": {"GET": "any"},
    "/queues/{queue}": {"GET": "view"},
    "/queues/{queue}/timeline": {"GET": "view"},
    "/queues/{queue}/items": {"GET": "view"},
    "/queues/{queue}/items/{state}/{id}": {"GET": "view"},
    "/doctor": {"GET": "any"},
    "/live": {"GET": "any"},
    "/live?queue=orders": {"GET": "view"},
    "/login": {"GET": "open", "POST": "open"},
    "/logout": {"POST": "any"},
    "/queues/{queue}/actions": {"POST": "mend"},
    "/queues/{queue}/actions purge": {"POST": "purge"},
    "/actions": {"GET": "any"},
    "/actions/{id}": {"GET": "view"},
    "/actions/{id}/{step}": {"POST": "mend"},
    "/actions/{id}/{step} purge": {"POST": "purge"},
}
HAVE = {
    "viewer": {"any", "view"},
    "mender": {"any", "view", "mend"},
    "purger": {"any", "view", "mend", "purge"},
    "other": {"any"},
}


def headers_of(role: str) -> dict[str, str]:
    if role == "nobody":
        return {}
    return logged_in(role, SECRETS.get(role, "wrong"))


def test_the_table_has_every_route() -> None:
    assert {path.partition("?")[0].partition(" ")[0] for path in NEEDED} == {page.path for page in PAGES}
    assert {page.path for page in PAGES if page.is_open} == {"/login"}


def scope_of(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    """The scope of a request."""
    path, _, query = path.partition("?")
    given = {"host": "127.0.0.1:8787", **headers, "content-type": "application/x-www-form-urlencoded"}
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8787),
    }


async def asked(pages: TestClient, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> int:
    """The status of an answer whose reader leaves at its beginning, as a stream has no end."""
    scope = scope_of(method, path, headers)
    told: list[int] = []
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if not messages and not told:
            await asyncio.sleep(0)
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            told.append(message["status"])

    await pages.app(scope, receive, send)
    return told[0]


@pytest.fixture
def deeds(browse: Open, client: redisson_dq.Client) -> tuple[TestClient, dict[str, str]]:
    """A dashboard, and the ids of an action that needs ``mend``, and of one that needs ``purge``."""
    client.delayed_queue("orders", transfer=False).offer("a", 3600, id="a")
    pages = browse(auth=Basic(USERS), allow_writes=True)
    made = {}
    for name, action, state in (("mend", "cancel", "waiting"), ("purge", "purge", "dead")):
        answer = pages.post(
            "/queues/orders/actions",
            data={"token": token_of(pages, "purger"), "action": action, "state": state, "all": "1"},
            headers=headers_of("purger"),
        )
        made[name] = answer.headers["location"].rpartition("/")[2]
    return pages, made


def test_every_route_with_every_role_by_every_method(
    deeds: tuple[TestClient, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Attempts, "free", 10_000)
    pages, ids = deeds
    portal = pages.portal
    assert portal is not None
    wrong = []
    for named, methods in NEEDED.items():
        path, _, right = named.partition(" ")
        path = path.replace("{queue}", "orders").replace("{state}", "waiting")
        path = path.replace("{id}", ids[right or "mend"] if "actions" in path else "a").replace("{step}", "drop")
        for method in METHODS:
            for role in ROLES:
                for has_token in (False, True):
                    form = f"action={'purge' if right else 'cancel'}&all=1&state={'dead' if right else 'waiting'}"
                    if has_token:
                        form += f"&token={token_of(pages, role)}"
                    status = portal.call(asked, pages, method, path, headers_of(role), form.encode())
                    needed = methods.get("GET" if method == "HEAD" else method)
                    if needed is None:
                        is_right = status == 405
                    elif needed == "open":
                        is_right = status == 303
                    elif role in ("nobody", "stranger"):
                        is_right = status == 401
                    elif path.startswith("/actions/") and "view" not in HAVE[role]:
                        # Not even that there is such an action.
                        is_right = status == 404
                    elif needed not in HAVE[role] or (method == "POST" and not has_token):
                        is_right = status == 403
                    else:
                        is_right = status in (200, 303)
                    if not is_right:
                        wrong.append((named, method, role, has_token, status))
    assert wrong == []


def test_nothing_is_changed_without_writes(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600, id="a")
    for options in ({}, {"auth": Basic(USERS)}):
        pages = browse(headers=headers_of("purger"), **options)
        user = "purger" if options else "local"
        for path in ("/queues/orders/actions", "/actions/0/do"):
            fields = {"token": token_of(pages, user), "action": "cancel", "all": "1"}
            assert pages.post(path, data=fields).status_code in (403, 404)
        assert pages.get("/queues/orders/items?format=json").json()["actions"] == []
        assert pages.get("/actions?format=json").json()["rows"] == []


def test_lists_and_streams_have_no_queue_that_the_user_may_not_see(
    deeds: tuple[TestClient, dict[str, str]], client: redisson_dq.Client
) -> None:
    pages, _ = deeds
    client.delayed_queue("bills", transfer=False).offer("a", 3600)
    for role, own, foreign in (("other", "bills", "orders"), ("viewer", "orders", "bills")):
        for path in ("/", "/actions", "/doctor"):
            assert f'"{foreign}"' not in pages.get(f"{path}?format=json", headers=headers_of(role)).text
        text = asyncio.run(first_rows(pages.app.state.dashboard, role))  # type: ignore[attr-defined]
        assert f'"{own}"' in text
        assert f'"{foreign}"' not in text


async def first_rows(dashboard: Dashboard, role: str) -> str:
    """The first snapshot of the stream of a user."""
    request = Request({"type": "http", "headers": [(k.encode(), v.encode()) for k, v in headers_of(role).items()]})

    async def seeing(names: list[str]) -> list[str]:
        may = await dashboard.access.may(request, User(role), "view", names)
        return [name for name, is_allowed in zip(names, may, strict=True) if is_allowed]

    dashboard.snapshots.forget()
    dashboard.snapshots.take()
    rows, names, _ = await LiveStream(dashboard.live, None, seeing).changed_rows(0)
    return b"".join([*rows, json_bytes(sorted(names))]).decode()


# -- hosts, origins, forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8787", 200),
        ("localhost", 200),
        ("[::1]:8787", 200),
        ("queues.example.com", 200),
        ("rebound.example.com", 403),
        ("127.0.0.1.example.com", 403),
        ("", 403),
    ],
)
def test_another_host_name_is_refused(browse: Open, host: str, status: int) -> None:
    pages = browse(hosts=["queues.example.com"], auth=lambda request, action, queue: True)
    assert pages.get("/", headers={"host": host}).status_code == status


def test_without_a_login_another_machine_is_refused(redis_url: str) -> None:
    with TestClient(app(redis_url), base_url="http://127.0.0.1", client=("10.0.0.7", 1)) as pages:
        assert pages.get("/").status_code == 403


@pytest.mark.parametrize(
    ("headers", "is_allowed"),
    [
        ({}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8787"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"origin": "http://127.0.0.1:8787"}, True),
        ({"origin": "http://evil.example.com"}, False),
        ({"origin": "null"}, False),
    ],
)
def test_a_form_of_another_site_is_refused(
    browse: Open, client: redisson_dq.Client, headers: dict[str, str], is_allowed: bool
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    pages = browse(auth=Basic(USERS), allow_writes=True, headers=headers_of("mender"))
    fields = {"token": token_of(pages, "mender"), "action": "cancel", "all": "1"}
    answer = pages.post("/queues/orders/actions", data=fields, headers=headers)
    assert answer.status_code == (303 if is_allowed else 403)
    # A form of another user, or of another process.
    fields["token"] = token_of(pages, "purger")
    assert pages.post("/queues/orders/actions", data=fields).status_code == 403


# -- ways to log in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [b"Basic \xe9\xe9", b"Basic ####", b"Basic", b"Bearer \xff", b"Basic /w=="])
def test_a_login_that_is_none_is_refused(browse: Open, given: bytes) -> None:
    answer = browse(auth=Basic(USERS)).get("/", headers={b"authorization": given})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Basic")


def test_a_browser_logs_in_with_the_token_once(browse: Open) -> None:
    token = "0123456789abcdef0123"
    pages = browse(auth=Token(token, right="view"), allow_writes=True)
    page = {"accept": "text/html"}
    assert (
        pages.get("/queues/a~2Fb?from=now", headers=page).headers["location"]
        == "/login?next=%2Fqueues%2Fa~2Fb%3Ffrom%3Dnow"
    )
    assert pages.get("/?format=json").status_code == 401
    assert "This is not the token" in pages.post("/login?next=/", data={"password": "wrong"}).text
    for after, place in (
        ("/doctor", "/doctor"),
        ("//evil.example.com", "/"),
        ("https://evil.example.com", "/"),
        ("/\\evil", "/"),
    ):
        answer = pages.post("/login", params={"next": after}, data={"password": token})
        assert (answer.status_code, answer.headers["location"]) == (303, place)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert token not in cookie
    assert pages.get("/").status_code == 200
    assert pages.post("/queues/orders/actions", data={"token": token_of(pages, "token")}).status_code == 403
    assert pages.post("/logout", data={"token": token_of(pages, "token")}).headers["location"] == "/login"
    assert pages.get("/").status_code == 401
    assert pages.get("/", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_two_dashboards_of_a_host_have_a_session_each(redis_url: str) -> None:
    """At two ports, and at two paths of one port: a browser sends the cookies of one to the other."""
    token = "0123456789abcdef0123"
    made = [app(redis_url, auth=Token(token)) for _ in range(3)]
    outer = Starlette(routes=[Mount("/queues", made[1]), Mount("/", made[0])])
    jar = httpx.Cookies()
    with (
        TestClient(outer, base_url="http://localhost:8787", client=("127.0.0.1", 1), cookies=jar) as first,
        TestClient(made[2], base_url="http://localhost:8788", client=("127.0.0.1", 1)) as second,
    ):
        second.cookies = first.cookies
        places = [(first, "/"), (first, "/queues/"), (second, "/")]
        for pages, path in places:
            assert pages.post(f"{path}login", data={"password": token}).status_code == 200
        assert [pages.get(path).status_code for pages, path in places] == [200] * 3
    for each in made:
        each.state.dashboard.client.close()


@pytest.mark.parametrize("is_async", [True, False])
def test_a_hook_decides(
    browse: Open, client: redisson_dq.Client, caplog: pytest.LogCaptureFixture, is_async: bool
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    client.delayed_queue("bills", transfer=False).offer("a", 3600)
    asked_for = set()

    def authorize(request: Any, action: str, queue: str | None) -> Any:
        asked_for.add((action, queue))
        return "eve" if (action, queue) in (("view", None), ("view", "orders"), ("mend", "orders")) else False

    async def authorize_later(request: Any, action: str, queue: str | None) -> Any:
        return authorize(request, action, queue)

    pages = browse(auth=authorize_later if is_async else authorize, allow_writes=True)
    assert [row["name"] for row in pages.get("/?format=json").json()["rows"]] == ["orders"]
    assert pages.get("/queues/bills").status_code == 403
    with caplog.at_level(logging.INFO, "redisson_dq.web.audit"):
        answer = pages.post(
            "/queues/orders/actions", data={"token": token_of(pages, ""), "action": "cancel", "all": "1"}
        )
        pages.post(answer.headers["location"] + "/do", data={"token": token_of(pages, "")})
    assert caplog.messages[-1].startswith("eve: cancelled 1 of 1")
    assert ("purge", "orders") in asked_for


def test_whoever_may_see_one_queue_alone_has_its_page_and_its_stream(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    pages = browse(auth=lambda request, action, queue: queue == "orders")
    portal = pages.portal
    assert portal is not None
    paths = ("/queues/orders", "/live?queue=orders", "/live?queue=bills", "/live", "/")
    told = {path: portal.call(asked, pages, "GET", path, {}) for path in paths}
    assert told == {path: 200 if "orders" in path else 403 for path in paths}


def test_options_that_do_not_go_together(redis_url: str) -> None:
    for options in (
        {"allow_writes": True},
        {"auth": "secret"},
        {"color": "mauve"},
    ):
        with pytest.raises(ArgumentError):
            app(redis_url, **options)
    for wrong in ("short", "ü" * 20):
        with pytest.raises(ArgumentError):
            Token(wrong)
    with pytest.raises(ArgumentError):
        Basic({})
    with pytest.raises(ArgumentError):
        app(object())  # type: ignore[arg-type]


# -- guesses, proxies and sessions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hosts", [[], ["queues.example.com"], ["*"]])
def test_without_a_login_no_proxy_shows_the_pages_to_others(browse: Open, hosts: list[str]) -> None:
    """Behind a proxy each client has the address of this machine."""
    pages = browse(hosts=hosts)
    forwarded = ("x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-host")
    for headers in ({"host": "queues.example.com"}, {"host": "10.0.0.7"}, *({name: "10.0.0.7"} for name in forwarded)):
        assert pages.get("/", headers=headers).status_code == 403
        assert pages.get("/").status_code == 200


def test_wrong_passwords_are_logged_without_values_and_slowed_down(
    browse: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "redisson_dq.web.audit")
    pages = browse(auth=Basic(USERS))
    statuses = [pages.get("/", headers=logged_in("viewer", f"guess-{i}")).status_code for i in range(300)]
    assert statuses[:5] == [401] * 5
    # Each further one is looked at after a pause that doubles.
    assert set(statuses[5:]) <= {401, 429}
    assert statuses[5:].count(401) < 10
    assert caplog.messages[0] == "login refused: a wrong password of 'viewer', from 127.0.0.1, 1 in a row"
    assert len(caplog.messages) == statuses.count(401)
    answer = pages.get("/", headers=headers_of("viewer"))
    assert (answer.status_code, int(answer.headers["retry-after"]) > 0) == (429, True)
    caplog.clear()
    other = browse(auth=Basic(USERS))
    assert other.get("/", headers=headers_of("viewer")).status_code == 200
    for _ in range(20):
        other.get("/", headers=logged_in("a password in the wrong field", "x"))
    # Whoever has logged in from there before is not kept out.
    assert other.get("/", headers=headers_of("viewer")).status_code == 200
    assert "wrong field" not in caplog.text
    assert "an unknown user" in caplog.text


def test_each_login_has_a_session_that_its_logout_ends(browse: Open) -> None:
    token = "0123456789abcdef0123"
    pages = browse(auth=Token(token))
    cookies = []
    for _ in range(2):
        pages.cookies.clear()
        answer = pages.post("/login", data={"password": token}, headers={"x-forwarded-proto": "https"})
        assert "; Secure" in answer.headers["set-cookie"]
        cookies.append(answer.headers["set-cookie"].partition(";")[0])
    assert cookies[0] != cookies[1]
    pages.cookies.clear()

    def status(cookie: str) -> int:
        return int(pages.get("/?format=json", headers={"cookie": cookie}).status_code)

    assert [status(each) for each in cookies] == [200, 200]
    fields = {"token": token_of(pages, "token")}
    assert pages.post("/logout", data=fields, headers={"cookie": cookies[0]}).status_code == 303
    assert [status(each) for each in cookies] == [401, 200]


@pytest.mark.parametrize("body", [b"a&" * 2000, b"password=" + b"x" * 5000, b"a&" * 500_000])
def test_the_form_of_the_login_is_small(browse: Open, body: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert browse(auth=Token("0123456789abcdef0123")).post("/login", content=body, headers=headers).status_code == 413


@pytest.mark.parametrize("next", ["//[", "//%5B", "http://[::1", "\\\\evil", "//evil", "javascript:x", "/%0d%0aX:1"])
def test_no_address_behind_a_login_leads_elsewhere_or_fails(browse: Open, next: str) -> None:
    token = "0123456789abcdef0123"
    answer = browse(auth=Token(token)).post("/login", params={"next": next}, data={"password": token})
    assert answer.status_code == 303
    assert httpx.URL(answer.headers["location"]).host == ""


def test_nobody_learns_of_the_server_before_the_login(browse: Open) -> None:
    pages = browse(auth=Token("0123456789abcdef0123"))
    for path in ("/login", "/", "/none", "/queues/orders"):
        for accept in ("text/html", "*/*"):
            text = pages.get(path, headers={"accept": accept}).text
            assert redisson_dq.__version__ not in text
            assert "redis://" not in text
            assert "127.0.0.1" not in text


@pytest.mark.parametrize("auth", ["basic", *(pytest.param(each, marks=NIGHTLY) for each in ("none", "token", "hook"))])
def test_a_post_that_was_refused_is_in_the_log(browse: Open, caplog: pytest.LogCaptureFixture, auth: str) -> None:
    caplog.set_level(logging.INFO, "redisson_dq.web.audit")
    made: dict[str, Any] = {"none": None, "basic": Basic(USERS), "token": Token(TOKEN), "hook": lambda *asked: True}
    pages = browse(auth=made[auth], allow_writes=auth != "none")
    own = {"basic": headers_of("mender"), "token": {"authorization": f"Bearer {TOKEN}"}}.get(auth, {})
    user = {"basic": "mender", "token": "token", "none": "local"}.get(auth, "")
    queues = ("orders", "~7Borders~7D", "redisson_delay_queue:~7Borders~7D", "bills", "~FF", "a~0Ab")
    paths = [f"/queues/{each}/actions" for each in queues]
    paths += [each.path.replace("{queue}", "orders").replace("{state}/{id}", "waiting/a") for each in PAGES]
    paths += [
        "/actions/0123/do",
        "/actions/0123/x",
        "/nowhere",
        "/queues//actions",
        "/static/style.css",
        "//",
        "/login?next=/x",
    ]
    bodies: list[dict[str, str]] = [{}, {"action": "cancel"}, {"action": "purge", "state": "x", "all": "1"}]
    form = {"token": token_of(pages, user)}
    count = 0
    for path in dict.fromkeys(paths):
        for fields in bodies:
            for body, headers in ((fields, {}), ({**fields, **form}, own), ({**fields, **form}, {**own, **FOREIGN})):
                caplog.clear()
                answer = pages.post(path, data=body, headers=headers)
                if answer.status_code < 400:
                    # Done, or the form of the login again, whose line is about the token.
                    continue
                count += 1
                lines = [each for each in caplog.messages if each.startswith("refused from 127.0.0.1: POST /")]
                assert len(lines) == 1, (path, fields, answer.status_code, caplog.messages)
                assert TOKEN not in caplog.text
    assert count > 80


@pytest.mark.parametrize(
    "end", ["logout", *(pytest.param(each, marks=NIGHTLY) for each in ("week", "token", "bearer", "password", "hook"))]
)
def test_a_stream_ends_with_its_login(
    browse: Open, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(Live, "every", 0.05)
    monkeypatch.setattr(LiveStream, "check_again", 0.0)
    if end == "week":
        monkeypatch.setattr(Sessions, "lasts", 1.0)
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    users, may = Basic(USERS), [True]
    made: dict[str, Any] = {"password": users, "hook": lambda *asked: may[0]}
    pages = browse(auth=made.get(end, Token(TOKEN)))
    access = pages.app.state.dashboard.access  # type: ignore[attr-defined]
    cookie = pages.post("/login", data={"password": TOKEN}).headers.get("set-cookie", "").partition(";")[0]
    headers = {"password": headers_of("viewer"), "bearer": {"authorization": f"Bearer {TOKEN}"}}.get(
        end, {"cookie": cookie}
    )
    path = "/live?queue=orders"

    def ended() -> None:
        if end == "logout":
            fields = {"token": token_of(pages, "token")}
            assert pages.post("/logout", data=fields, headers=headers).status_code == 303
        elif end in ("token", "bearer"):
            access.auth = Token(TOKEN[::-1])
        elif end == "password":
            users.accounts["viewer"] = Basic({"viewer": "another-password"}).accounts["viewer"]
        elif end == "week":
            eventually(lambda: not access.sessions.has(cookie.partition("=")[2], TOKEN))
        else:
            may[0] = False

    async def looked() -> bytes:
        told = bytearray()
        count = [0]

        async def receive() -> Any:
            # The tab never leaves by itself.
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            told.extend(message.get("body", b""))
            if b"event: snapshot" in told and not count[0]:
                count[0] += 1
                await anyio.to_thread.run_sync(ended)
                told.clear()

        await asyncio.wait_for(pages.app(scope_of("GET", path, headers), receive, send), PATIENCE)
        return bytes(told)

    assert pages.portal is not None
    # Nothing more is told, and the stream is over.
    assert pages.portal.call(looked) == b""
    assert pages.portal.call(asked, pages, "GET", path, headers) in (401, 403)
