"""A user with rights on some queues: no page, JSON or stream names another queue, whatever is wrong with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from starlette.requests import HTTPConnection

import redisson_dq
from redisson_dq.errors import RedisReplyError
from redisson_dq.web import Basic
from redisson_dq.web.fleet import missing
from redisson_dq.web.frame import last_figures
from redisson_dq.web.paths import Links
from redisson_dq.web.seeing import Seeing
from redisson_dq.web.views import PAGES
from tests.conftest import PATIENCE
from tests.illnesses import GLOBAL, HOUR, ILLNESSES, Fleet, PythonWriter, well
from tests.web.conftest import Open, TestClient, logged_in, token_of

CANARY = "canary-4711"
LINKS = Links("")
HEADERS = {name: logged_in(name, f"secret-of-{name}") for name in ("part", "all")}
#: Checks of one fact of the server alone. The others name queues, or the queue that they are about.
NAME_NONE = {*GLOBAL, "client-versions"}


def hook(request: HTTPConnection, action: str, queue: str | None) -> bool:
    """The rights of both users as the function of a program has them."""
    is_part = request.headers.get("authorization") == HEADERS["part"]["authorization"]
    return not is_part or queue is None or CANARY not in queue


AUTHS: dict[str, Any] = {
    "basic": Basic({"part": ("secret-of-part", "purge", "shop-*"), "all": "secret-of-all"}),
    "hook": hook,
}


@pytest.fixture
def ill(redis_url: str) -> Iterator[Fleet]:
    """Every problem in a queue that the user may not see, and some in queues of the user that name another one."""
    with redis.Redis.from_url(redis_url) as admin, redisson_dq.connect(redis_url) as client:
        with well(redis_url, admin, client, PythonWriter(client)) as fleet:
            for name, illness in ILLNESSES.items():
                if name not in GLOBAL:
                    illness(fleet, f"{CANARY}-{name}")
            # Names that the mapper of another service makes.
            fleet.listen(f"{CANARY}:shop-1")
            fleet.writer.offer("shop-1", {"id": 1}, HOUR)
            # Dead letters of others, kept in a queue and in the list of one.
            for place in ("shop-dead", "redisson_dq_dead:{shop-1}"):
                source = client.blocking_queue(f"{CANARY}-source", transfer=False, dead_letter=place)
                source.add({"id": 2})
                held = source.receive(timeout=PATIENCE)
                assert held is not None
                held.reject("cannot be used")
            admin.set(f"redisson_dq_restoring_1:{{{CANARY}-restored}}", "x")
            admin.set(f"redisson_delay_queue_timeout:{{{CANARY}-refused}}", "x")
            admin.pexpire("redisson_delay_queue_timeout:{shop-1}", 3_600_000)
            for name in GLOBAL:
                if name not in ("clock", "replication"):
                    ILLNESSES[name](fleet, f"{CANARY}-{name}")
            yield fleet


def addresses(pages: TestClient, auth: str) -> Iterator[str]:
    """Every address of the pages of the user, and that of an action on another queue."""
    fields = {"token": token_of(pages, "all" if auth == "basic" else ""), "action": "pause", "state": "queue"}
    made = pages.post(LINKS.act(f"{CANARY}-paused"), data=fields, headers=HEADERS["all"])
    assert made.status_code == 303
    for page in PAGES:
        if "GET" not in page.methods or page.path == "/live":
            continue
        if "{state}" in page.path:
            for queue in ("shop-1", "shop-dead"):
                for state in ("waiting", "ready", "dead"):
                    listed = pages.get(LINKS.items(queue, state=state, format="json"), headers=HEADERS["part"]).json()
                    yield from (LINKS.item(queue, state, row["id"]) for row in listed["rows"])
        elif "{queue}" in page.path:
            yield from (page.path.replace("{queue}", name) for name in ("shop-1", "shop-dead", "shop-none"))
        elif "{id}" in page.path:
            yield from (made.headers["location"], "/actions/0123456789abcdef")
        else:
            yield page.path
    yield from ("/?filter=canary", "/?filter=*4711*", "/?sort=-late", "/doctor?again=1", "/nowhere")


def streamed(pages: TestClient, queue: str | None, role: str) -> str:
    """What a tab gets of the stream until the doctor's findings are there."""
    scope = {
        "type": "http", "method": "GET", "path": "/live", "raw_path": b"/live", "root_path": "", "scheme": "http",
        "query_string": f"queue={queue}".encode() if queue else b"", "http_version": "1.1",
        "headers": [(b"host", b"127.0.0.1:8787"), (b"authorization", HEADERS[role]["authorization"].encode())],
        "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", 8787),
    }  # fmt: skip
    told = bytearray()

    async def asked() -> None:
        enough = asyncio.Event()

        async def receive() -> Any:
            await enough.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            told.extend(message.get("body", b""))
            if b"event: doctor" in told and b"event: snapshot" in told:
                enough.set()

        await asyncio.wait_for(pages.app(scope, receive, send), PATIENCE)

    assert pages.portal is not None
    pages.portal.call(asked)
    return told.decode()


@pytest.mark.parametrize("auth", ["basic", pytest.param("hook", marks=pytest.mark.nightly)])
def test_no_answer_names_a_queue_of_others(ill: Fleet, browse: Open, auth: str) -> None:
    pages = browse(auth=AUTHS[auth], allow_writes=True)
    # This one sees all of it, or the test would see nothing.
    whole = pages.get("/doctor?format=json", headers=HEADERS["all"]).json()
    named = {each["check"] for each in whole["findings"] if CANARY in json.dumps(each)}
    assert {*ILLNESSES} - NAME_NONE - named == set()
    assert CANARY in pages.get(LINKS.queue("shop-1"), headers=HEADERS["all"]).text
    assert CANARY in pages.get(LINKS.queue("shop-dead"), headers=HEADERS["all"]).text
    count = 0
    for address in addresses(pages, auth):
        for format in ("", "json"):
            query = f"{'&' if '?' in address else '?'}format={format}"
            answer = pages.get(f"{address}{query}", headers=HEADERS["part"])
            assert answer.status_code in (200, 303, 404), (address, answer.text)
            assert CANARY not in answer.text.replace("filter=canary", ""), address
            count += 1
    assert count > 30
    for queue in (None, "shop-1", "shop-dead"):
        assert CANARY not in streamed(pages, queue, "part"), queue
    assert CANARY in streamed(pages, "shop-dead", "all")
    # The user learns of the own queue that something is wrong, and of the server all that names no queue.
    found = pages.get("/doctor?format=json", headers=HEADERS["part"]).json()["findings"]
    assert {(each["check"], each["queue"]) for each in found} >= {
        ("name-mapper", "shop-1"),
        ("dead-letters", "shop-dead"),
        ("eviction", "shop-1"),
        ("eviction", None),
        ("persistence", None),
        ("slow-scripts", None),
    }
    assert "maxmemory-policy" in next(each["text"] for each in found if each["queue"] is None and each["evidence"])


def test_no_reason_names_a_queue_of_others(redis_url: str, browse: Open) -> None:
    with redis.Redis.from_url(redis_url) as admin, redisson_dq.connect(redis_url) as client:
        for name in ("shop-1", CANARY):
            client.delayed_queue(name, transfer=False).offer("a", HOUR)
        admin.execute_command("ACL", "SETUSER", "looks", "reset", "on", ">secret", "+@all", "~*shop*", "&*")
        try:
            pages = browse(url=redis_url.replace("//", "//looks:secret@"), auth=AUTHS["basic"])
            told = {each: pages.get("/doctor?format=json", headers=HEADERS[each]).text for each in HEADERS}
        finally:
            admin.execute_command("ACL", "DELUSER", "looks")
    assert f"{CANARY} cannot be looked at" in told["all"]
    assert "it could not run for all queues" in told["part"]
    assert CANARY not in told["part"]


def test_an_error_about_all_queues_is_told_to_those_who_may_see_all(browse: Open) -> None:
    dashboard = browse().app.state.dashboard  # type: ignore[attr-defined]
    error = RedisReplyError(f"queue {CANARY!r} is refused")
    dashboard.snapshots.away = error
    for seeing, is_told in ((Seeing(None), True), (Seeing(("shop-1",)), False), (Seeing(()), False)):
        assert (CANARY in last_figures(error, seeing)) is is_told
        assert (CANARY in missing(dashboard.snapshots, seeing)) is is_told
