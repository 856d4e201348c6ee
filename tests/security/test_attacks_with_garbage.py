"""Plays the table of SECURITY.md with random garbage at night: each attacker for a while, then the main job goes on.

A failure names its seed: ``SEED=5 pytest -m nightly tests/security/test_attacks_with_garbage.py`` plays it again.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import redis

import redisson_dq
from redisson_dq import codecs
from redisson_dq._redisson_config import taken_from
from redisson_dq.cli.serving import HttpAnswer, Port
from redisson_dq.codecs import Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DecodeError, RedissonDQError
from redisson_dq.web import Token, app
from tests.conftest import emptied
from tests.web.conftest import TestClient

pytestmark = pytest.mark.nightly

SECONDS = 12.0
SECRET, TOKEN = "secret-of-a-value", "0123456789abcdef0123"
PAGES = ("", "login", "doctor", "live", "items", "timeline", "item", "act", "static/dashboard.js", "queues/orders")
FIELDS = ("state", "filter", "cursor", "codec", "from", "to", "after", "format", "queue", "next", "again")
CODECS: list[Callable[[], Codec]] = [
    getattr(codecs, name)
    for name in ("Kryo5Codec", "JsonJacksonCodec", "CborJacksonCodec", "MsgPackJacksonCodec", "SmileJacksonCodec")
] + [codecs.IonJacksonCodec, codecs.SerializationCodec, codecs.MarshallingCodec, codecs.LZ4Codec, codecs.ZStdCodec]


@pytest.fixture
def chance() -> random.Random:
    seed = int(os.environ.get("SEED") or random.randrange(2**32))
    print(f"SEED={seed}")
    return random.Random(seed)


def rounds() -> Iterator[int]:
    end, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        yield number
        number += 1


def garbage(chance: random.Random) -> bytes:
    """Bytes, texts with characters that mean something somewhere, and JSON of any shape."""
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(chance.choice((0, 1, 8, 9, 255, 256, 300, 5000)))
    if kind == 1:
        return "".join(chance.choices("{}[]<>&:*?\\/%~'\"\0\r\n\x1b\u202eéa1-.", k=chance.randrange(80))).encode()
    if kind == 2:
        return str(chance.choice((-1, 0, 2**31, 2**63, 2**64, 10**400, "nan", "inf", "-0.0", "1e999"))).encode()
    state: Any = chance.choice(("waiting", "ready", "dead", "recurring", {}, None))
    found = json.dumps([state, chance.choice(({}, [], [1], ["1", "zz"], 2**70, True, {"a": []}, [[]] * 40))]).encode()
    return base64.urlsafe_b64encode(found) if chance.random() < 0.5 else found


def word(chance: random.Random) -> str:
    return quote(garbage(chance)[:2000], safe="~")


def broken(chance: random.Random, data: bytes) -> bytes:
    """The bytes with some of them changed, doubled, or left out."""
    made = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(made) + 1)
        made[at : at + chance.randrange(3)] = chance.choice((b"", chance.randbytes(1), b"\xff" * 4, made[:at][-9:]))
    return bytes(made)


def test_a_writer_stops_no_queue(redis_url: str, chance: random.Random) -> None:
    """Neither for a client that runs all the time nor for one that comes later."""
    with redis.Redis.from_url(redis_url) as admin, redisson_dq.connect(redis_url) as runs:
        for number in rounds():
            emptied_keys(admin, runs)
            for key in admin.keys("redisson_*"):
                write(admin, chance, key)
            with redisson_dq.connect(redis_url) as comes:
                client = chance.choice((runs, comes))
                client.delayed_queue("orders").offer(f"job {number}", 0)
                is_done = False
                while not is_done:
                    # A value that cannot be read is an error once, and goes to a list of its own.
                    try:
                        delivery = client.blocking_queue("orders").receive(timeout=5)
                    except DecodeError:
                        continue
                    assert delivery is not None, number
                    is_done = delivery.value == f"job {number}"
                    delivery.ack()


def emptied_keys(admin: Any, client: redisson_dq.Client) -> None:
    """A queue with something in many of its keys."""
    admin.flushdb()
    delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
    delayed.offer("later", 3600, id="a")
    delayed.offer_recurring("again", every=3600, id="b")
    queue.add("dead")
    queue.add("held")
    for each in (queue.receive(), queue.receive()):
        assert each is not None
        if each.value == "dead":
            each.reject("reason")


def write(admin: Any, chance: random.Random, key: bytes) -> None:
    for _ in range(chance.randrange(4)):
        kind, text = admin.type(key), garbage(chance)
        if kind == b"zset":
            admin.zadd(key, {text: chance.choice((-1e300, -1, 0, 1, 1.5, 2**63, float("inf")))})
        elif kind == b"hash":
            admin.hset(key, chance.choice((text, *admin.hkeys(key))), garbage(chance))
        elif kind == b"list":
            admin.rpush(key, text)


def test_a_visitor_learns_nothing_and_no_page_fails(redis_url: str, chance: random.Random) -> None:
    """The first half of the requests has no login, the second one has."""
    with redisson_dq.connect(redis_url) as client:
        client.delayed_queue("orders").offer({"password": SECRET}, 3600, id="a")
    options: Any = {"base_url": "http://127.0.0.1:8787", "client": ("127.0.0.1", 5), "follow_redirects": False}
    with TestClient(app(redis_url, auth=Token(TOKEN), masks=["password"]), **options) as pages:
        for number in rounds():
            is_known = number % 2 == 1
            headers = {"authorization": f"Bearer {TOKEN}"} if is_known else {}
            if not is_known:
                headers["cookie"] = f"redisson_dq_dashboard_8787={word(chance)}"
            path = "/" + "/".join(chance.choices([*PAGES[:3], "queues", "items", "orders", word(chance)], k=3))
            path = chance.choice(
                (path, *(f"/{each}" for each in PAGES), f"/queues/orders/items/waiting/{word(chance)}")
            )
            path += "?" + "&".join(f"{chance.choice(FIELDS)}={word(chance)}" for _ in range(3))
            method = "HEAD" if "live" in path else chance.choice(("GET", "HEAD", "POST", "PUT"))
            answer = pages.request(method, path, headers=headers, content=garbage(chance) if method == "POST" else None)
            assert answer.status_code < 500, (number, method, path, answer.text[-500:])
            assert SECRET not in answer.text, (number, method, path)
            assert is_known or redisson_dq.__version__ not in answer.text, (number, method, path)


@pytest.mark.parametrize("make", CODECS, ids=lambda make: make.__name__)
def test_a_value_is_read_or_refused(make: Callable[[], Codec], chance: random.Random) -> None:
    codec = make()
    whole = [codec.encode(each) for each in ([{"a": [1, 2.5, None]}, "text"], {"b": True}, list(range(50)))]
    for number in rounds():
        if number == 20_000:
            break
        data = garbage(chance) if chance.random() < 0.2 else broken(chance, chance.choice(whole))
        begin = time.process_time()
        with contextlib.suppress(DecodeError):
            codec.decode(data)
        assert time.process_time() - begin < 5, data


def test_a_browser_gets_nothing_by_another_name(chance: random.Random) -> None:
    async def page(headers: Any) -> HttpAnswer:
        return HttpAnswer(HTTPStatus.OK, SECRET.encode())

    port = Port("test", "127.0.0.1", 0, {"/health": page})
    try:
        for number in rounds():
            name = garbage(chance)[:100].replace(b"\n", b"") + b".evil.example"
            lines = [b"GET /health HTTP/1.1", b"Host: " + name, b"Host: localhost"]
            data = b"\r\n".join(lines[: chance.choice((2, 3))]) + b"\r\n\r\n"
            assert SECRET.encode() not in asked(port.number, data), (number, data)
            asked(port.number, broken(chance, data) + b"\r\n\r\n")
        assert SECRET.encode() in asked(port.number, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    finally:
        port.close()


def asked(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        found = b""
        try:
            while more := connection.recv(4096):
                found += more
        except ConnectionError:
            pass
        return found


def test_a_file_of_settings_is_read_or_refused(tmp_path: Path, chance: random.Random) -> None:
    text = b"singleServerConfig:\n  address: &a redis://h:1\n  password: *a\n? [x]\n: {a: [b, *a]}\nspring:\n  x: *a\n"
    for _ in rounds():
        path = tmp_path / chance.choice(("a.yaml", "a.json"))
        path.write_bytes(garbage(chance) if chance.random() < 0.2 else broken(chance, text))
        with contextlib.suppress(RedissonDQError):
            taken_from(path)


@pytest.fixture
def redis_url(servers: Callable[[str], EmbeddedServer]) -> str:
    """An empty Redis."""
    return emptied(servers("redis")).url
