"""Requests that no browser of ours makes: odd headers, methods and paths, and readers of the stream that misbehave."""

from __future__ import annotations

import logging
import re
import socket
import struct
from html import unescape
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import redisson_dq
from redisson_dq._operations.shell import safe
from redisson_dq.codecs import JsonJacksonCodec
from redisson_dq.web import Basic, Token
from redisson_dq.web.live import Live
from redisson_dq.web.paths import Links, text_of
from redisson_dq.web.routing import PostedForm
from redisson_dq.web.snapshots import Snapshots
from tests.conftest import PATIENCE, eventually
from tests.web.conftest import Open, Served, logged_in, token_of

LINKS = Links("")
NAMES = (
    *("..", ".", "../../etc/passwd", "a/b", "a//b", "%2e%2e", "%2F", "~2F", "~", "\\\\host", ".hidden", "x" * 400),
    *("日本語", "\u202egnp", "e\u0301", "a b?c=d&e#f", "'\"><script>alert(1)</script>", "{{7*7}}", "${x}", "a;b"),
)


def sent(served: Served, request: bytes) -> bytes:
    """All that the server answers to these bytes, until it closes or the head is whole."""
    place = httpx.URL(served.url)
    with socket.create_connection((place.host, place.port or 0), timeout=PATIENCE) as connection:
        connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer and (part := connection.recv(65536)):
            answer += part
    return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def asked(served: Served, *headers: str, method: str = "GET", path: str = "/", host: str = "localhost") -> int:
    lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers, "Connection: close"]
    return status(sent(served, "\r\n".join([*lines, "", ""]).encode("latin-1")))


# -- headers ---------------------------------------------------------------------------------------------------------


#: A host, further headers, and the status of the answer.
ODD: tuple[tuple[str, list[str], int], ...] = (
    ("localhost", [], 200),
    ("LOCALHOST:8787", [], 200),
    ("[::1]:8787", [], 200),
    ("[::1].evil.example.com", [], 403),
    ("[::1]evil", [], 403),
    ("localhost:80@evil.example.com", [], 403),
    ("localhost/evil", [], 403),
    ("127.0.0.1:8787:evil.example.com", [], 403),
    ("0.0.0.0:8787", [], 403),
    ("evil.example.com", ["X-Forwarded-Host: localhost"], 403),
    ("localhost", ["X-Forwarded-Host: evil.example.com"], 403),
    # A proxy on this machine says that the request comes from another one.
    ("localhost", ["X-Forwarded-For: 203.0.113.7"], 403),
    ("localhost", ["X-Forwarded-For: 127.0.0.1, 203.0.113.7"], 403),
    ("localhost", ["Host: evil.example.com"], 400),
    ("", [], 400),
    ("localhost", ["X-Large: " + "x" * 200_000], 400),
    ("localhost", ["X-Many: x"] * 20_000, 400),
    ("localhost", ["Bad Name: x"], 400),
)


def test_hosts_and_headers_as_no_browser_sends_them(served: Served) -> None:
    told = {
        (host, *(each[:60] for each in headers[:2])): asked(served, *headers, host=host) for host, headers, _ in ODD
    }
    assert told == {(host, *(each[:60] for each in headers[:2])): wanted for host, headers, wanted in ODD}
    assert asked(served) == 200


def test_a_request_with_two_hosts_is_refused_by_any_server(browse: Open) -> None:
    """Not every server refuses it itself."""
    pages = browse()
    assert pages.get("/", headers=[("host", "localhost"), ("host", "evil.example.com")]).status_code == 403


def test_other_methods_are_not_allowed(served: Served) -> None:
    methods = ("TRACE", "PROPFIND", "PUT", "DELETE", "PATCH", "OPTIONS", "get", "G" * 500)
    paths = ("/", "/live", "/static/dashboard.css", "/queues/a")
    told = {(method, path): asked(served, method=method, path=path) for method in methods for path in paths}
    assert {place: status for place, status in told.items() if status not in (400, 405)} == {}


def test_a_head_of_the_stream_ends_and_is_no_tab(served: Served) -> None:
    assert httpx.head(f"{served.url}/live", timeout=PATIENCE).status_code == 200
    assert served.dashboard.live.tabs == 0
    assert not served.dashboard.live.is_running


def test_a_form_that_does_not_end_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PostedForm, "patience", 0.1)
    # No token has been asked for yet.
    served.dashboard.access.auth = Token("0123456789abcdef0123")
    head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npass"
    assert status(sent(served, head)) == 408
    assert asked(served) == 401


def test_a_form_whose_sender_leaves_is_no_error_of_ours(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.dashboard.access.auth = Token("0123456789abcdef0123")
    place = httpx.URL(served.url)
    for _ in range(3):
        with socket.create_connection((place.host, place.port or 0), timeout=PATIENCE) as connection:
            connection.sendall(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npass")
    # The server goes on, and has read what came before.
    assert asked(served) == 401
    assert [each.message for each in caplog.records if each.levelname == "ERROR"] == []


@pytest.mark.parametrize(
    ("sites", "origins", "is_allowed"),
    [
        ([], [], True),
        (["same-origin"], [], True),
        (["same-origin", "cross-site"], [], False),
        (["cross-site", "same-origin"], [], False),
        (["same-origin, cross-site"], [], False),
        ([""], [], False),
        ([], ["http://127.0.0.1:8787", "http://evil.example.com"], False),
        ([], ["http://[::1"], False),
        ([], [""], False),
    ],
)
def test_a_form_with_headers_of_two_sites_is_refused(
    browse: Open, client: redisson_dq.Client, sites: list[str], origins: list[str], is_allowed: bool
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    pages = browse(auth=Basic({"ada": "secret-of-ada"}), allow_writes=True)
    headers = [*logged_in("ada", "secret-of-ada").items()]
    headers += [("sec-fetch-site", each) for each in sites] + [("origin", each) for each in origins]
    fields = {"token": token_of(pages), "action": "cancel", "all": "1"}
    answer = pages.post("/queues/orders/actions", data=fields, headers=headers)
    assert answer.status_code == (303 if is_allowed else 403)


def test_of_doubled_fields_the_first_one_counts_for_rights_and_deed_alike(
    browse: Open, client: redisson_dq.Client
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    auth = Basic({"ada": ("secret-of-ada", "mend", "*"), "bob": "secret-of-bob"})
    pages = browse(auth=auth, allow_writes=True, headers=logged_in("ada", "secret-of-ada"))
    right, wrong = token_of(pages, "ada"), token_of(pages, "bob")

    def posted(*pairs: tuple[str, str]) -> Any:
        text = "&".join(f"{name}={quote(value)}" for name, value in pairs)
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return pages.post("/queues/orders/actions", content=text, headers=headers)

    chosen = (("action", "cancel"), ("action", "purge"), ("state", "waiting"), ("state", "dead"), ("all", "1"))
    assert posted(("token", wrong), ("token", right), *chosen).status_code == 403
    answer = posted(("token", right), ("token", wrong), *chosen)
    assert answer.status_code == 303
    found = pages.get(answer.headers["location"] + "?format=json").json()
    assert (found["name"], found["state"]) == ("cancel", "waiting")
    assert posted(("token", right), ("action", "purge"), *chosen).status_code == 403
    # Of two logins the first one counts.
    both = [*logged_in("ada", "secret-of-ada").items(), *logged_in("bob", "secret-of-bob").items()]
    answer = pages.post(
        "/queues/orders/actions", data={"token": wrong, "action": "purge", "state": "dead", "all": "1"}, headers=both
    )
    assert answer.status_code == 403


# -- paths -----------------------------------------------------------------------------------------------------------


def test_any_name_is_one_page_of_one_queue(browse: Open, client: redisson_dq.Client) -> None:
    for name in NAMES:
        client.delayed_queue(name, transfer=False).offer("value", 3600, id=name)
    pages = browse()
    for name in NAMES:
        for address, key in (
            (LINKS.queue(name, format="json"), "name"),
            (LINKS.timeline(name, format="json"), "queue"),
            (LINKS.items(name, format="json"), "queue"),
            (LINKS.item(name, "waiting", name, format="json"), "queue"),
        ):
            answer = pages.get(address)
            assert (answer.status_code, answer.json()[key]) == (200, name), address
            text = pages.get(address.replace("format=json", "")).text
            assert "<script>alert" not in text
            assert re.search(r"[>\s]49[<\s]", text) is None
    assert {row["name"] for row in pages.get("/?format=json").json()["rows"]} == set(NAMES)


def test_a_name_that_turns_itself_around_looks_like_no_other(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("\u202egnitset", transfer=False).offer("value", 3600)
    pages = browse()
    for address in ("/", LINKS.queue("\u202egnitset"), LINKS.items("\u202egnitset"), LINKS.doctor()):
        text = pages.get(address).text
        assert re.search(r">\\u202egnitset<", text), address
        assert ">\u202egnitset<" not in text


ODD_TEXTS = (
    *("\u202egnitset", "nul\x00byte", "line\nbreak", "carriage\rreturn", "two\r\nlines", "zero\u200bwidth", "so\xadft"),
    *("<script>alert(1)</script>", "'\"><b>", "esc\x1b[2J", "~41", "طلبات"),
)


def test_texts_of_any_kind_are_shown_as_what_they_are(browse: Open, redis_url: str) -> None:
    """Names, ids, reasons, values, fields: none turns the page around, hides in it, or is markup."""
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        for text in ODD_TEXTS:
            queue = client.delayed_queue(text, transfer=False)
            queue.offer({text: text}, 3600, id=text, context={"key": text})
            ready = client.blocking_queue(text, transfer=False)
            ready.put({text: [text]})
            letter = ready.receive(timeout=1)
            assert letter is not None
            letter.reject(f"{text}\nand {text}")
    pages = browse()
    for text in ODD_TEXTS:
        dead = pages.get(LINKS.items(text, state="dead", format="json")).json()["rows"][0]["id"]
        for address in (
            *("/", LINKS.queue(text), LINKS.items(text), LINKS.items(text, state="dead", filter=f'"{text}"')),
            *(LINKS.item(text, "waiting", text), LINKS.item(text, "dead", dead), LINKS.doctor(again=1)),
        ):
            answer = pages.get(address)
            assert answer.status_code == 200, address
            shown = re.sub(r'(?:value|data-fields|data-copy)="[^"]*"', "", answer.text)
            assert re.search("[\x00\r\x1b\xad\u200b\u202e]", shown) is None, address
            assert "<script>alert" not in shown
            assert "<b>" not in shown
        assert safe(text) in unescape(pages.get(LINKS.item(text, "waiting", text)).text)


def test_items_of_any_id_are_chosen_by_a_browser(browse: Open, client: redisson_dq.Client) -> None:
    """A form of HTML changes line breaks, and has no NUL."""
    queue = client.delayed_queue("orders", transfer=False)
    for text in ODD_TEXTS:
        queue.offer(text, 3600, id=text)
    pages = browse(auth=Token("0123456789abcdef0123"), allow_writes=True)
    pages.headers["authorization"] = "Bearer 0123456789abcdef0123"
    page = pages.get(LINKS.items("orders")).text
    ids = re.findall(r'name="item" value="([^"]*)"', page)
    assert [text_of(each) for each in ids] == list(ODD_TEXTS)
    assert re.findall(r'name="item" value="([^"]*)"', pages.get(LINKS.item("orders", "waiting", "~41")).text) == [
        "~7E41"
    ]
    for names in ("item", "id"):
        fields = {"token": token_of(pages, "token"), "action": "cancel", "state": "waiting"}
        chosen = ids if names == "item" else list(ODD_TEXTS)
        answer = pages.post(LINKS.act("orders"), data={**fields, names: chosen})
        found = pages.get(answer.headers["location"] + "?format=json").json()
        assert (found["wanted"], found["problems"]) == (len(ODD_TEXTS), [])


def test_a_form_that_names_very_many_items_is_refused(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600, id="a")
    pages = browse(auth=Basic({"ada": "secret-of-ada"}), allow_writes=True, headers=logged_in("ada", "secret-of-ada"))
    fields = {"token": token_of(pages), "action": "cancel", "state": "waiting"}
    answer = pages.post(LINKS.act("orders"), data={**fields, "id": [f"id-{i}" for i in range(1001)]})
    assert answer.status_code == 400
    assert "1,001 items were named, and a form names 1,000 at most: take a filter" in answer.text


PATHS = (
    *("/static/../views.py", "/static/..%2fviews.py", "/static/%2e%2e/views.py", "/static/..%5cviews.py"),
    *("/static//etc/passwd", "/static/", "/static", "/../../etc/passwd", "//evil.example.com/", "/queues/"),
    *(
        "/queues/%00/items",
        "/queues/%ff%fe",
        "/queues/..",
        "/queues/../doctor",
        "/queues/~ff",
        "/queues/" + "a" * 9000,
    ),
)


def test_paths_lead_out_of_nothing(served: Served) -> None:
    for path in PATHS:
        answer = sent(served, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert status(answer) in (200, 307, 400, 404), (path, answer[:300])
        for secret in (b"PAGES = (", b"root:x:"):
            assert secret not in answer, path
        location = [line for line in answer.split(b"\r\n") if line.lower().startswith(b"location:")]
        assert all(line.split(b" ")[1].startswith(b"http://localhost/") for line in location), (path, location)
    assert asked(served) == 200


# -- readers of the stream -------------------------------------------------------------------------------------------


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Live, "every", 0.05)
    monkeypatch.setattr(Live, "slow", 0.3)
    monkeypatch.setattr(Snapshots, "fresh", 0.05)


def stream(served: Served) -> socket.socket:
    """A connection that has asked for the stream, with little room for what it does not read."""
    place = httpx.URL(served.url)
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.settimeout(PATIENCE)
    made.connect((place.host, place.port))
    made.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return made


@pytest.mark.usefixtures("_quick")
def test_readers_that_break_off_are_noticed(served: Served, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    live = served.dashboard.live
    for number in range(3):
        tabs = [stream(served) for _ in range(30)]
        eventually(lambda: live.tabs == 30)
        for tab in tabs:
            if number == 0:
                # With a reset, as of a machine that has lost the connection.
                tab.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif number == 1:
                tab.shutdown(socket.SHUT_WR)
            tab.close()
        eventually(lambda: live.tabs == 0 and not live.is_running)
    assert asked(served) == 200


@pytest.mark.usefixtures("_quick")
def test_a_reader_that_never_reads_is_dropped_while_another_one_goes_on(
    served: Served,
    client: redisson_dq.Client,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "handlers", [caplog.handler])
    queues = [client.delayed_queue(f"queue-{i}", transfer=False) for i in range(200)]
    for each in queues:
        each.offer("value", 3600)
    live = served.dashboard.live
    with stream(served), httpx.stream("GET", f"{served.url}/live", timeout=PATIENCE) as reading:
        lines = reading.iter_lines()
        eventually(lambda: live.tabs == 2)
        for _ in range(200):
            for each in queues:
                each.offer("value", 3600)
            next(line for line in lines if line.startswith("event: snapshot"))
            if live.tabs == 1:
                break
        assert live.tabs == 1
        assert next(line for line in lines if line.startswith("data: "))
    # To drop it is no error of the server.
    assert [each.message for each in caplog.records if each.name == "uvicorn.error"] == []
