"""Every error says what is wrong and with what."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import EncodeError, RedisConnectionError, RedisReplyError, WrongTypeError
from redisson_dq.wire.envelope import Envelope, wrap
from tests.conftest import PATIENCE, PROGRAMS, eventually
from tests.faults.gate import Gate
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

MEMBER = wrap(Envelope.CURRENT, b"\x80" * 8, b"waiting")


def test_redis_is_down_at_the_start(flavour: Flavour) -> None:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server:
        url = server.url
    with pytest.raises(RedisConnectionError, match="cannot connect") as caught:
        flavour.connect(url)
    assert not caught.value.maybe_done
    assert isinstance(caught.value, ConnectionError)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("key", ["ready", "timeout", "envelopes", "quarantine", "undecodable"])
def test_a_wrong_type_names_key_and_types(admin: Any, client: Any, key: str) -> None:
    name = getattr(KEYS, key)
    expected = "zset" if key == "timeout" else "list"
    queue = client.blocking_queue("orders", transfer=False)
    delayed = client.delayed_queue("orders", transfer=False)
    calls: dict[str, list[Any]] = {
        "ready": [queue.take, queue.poll, lambda: queue.poll(limit=3), lambda: queue.poll(timeout=1), queue.size],
        "timeout": [lambda: delayed.offer("a", delay=1), delayed.poll, delayed.peek, delayed.read_all, delayed.size],
        "envelopes": [lambda: delayed.offer("a", delay=1), delayed.poll, delayed.peek, delayed.read_all],
        "quarantine": [delayed.poll, delayed.read_quarantine],
        "undecodable": [queue.read_undecodable],
    }
    admin.hset(name, "some", "hash")
    for call in calls[key]:
        with pytest.raises(WrongTypeError) as caught:
            call()
        error = caught.value
        assert (error.key, error.expected, error.found) == (name, expected, "hash")
        for part in (name, expected, "hash"):
            assert part in str(error)
    assert admin.keys() == [name.encode()], "nothing was written beside it"


@pytest.mark.parametrize("key", ["ready", "envelopes", "quarantine"])
def test_a_transfer_that_meets_a_wrong_type_moves_nothing_until_it_is_gone(
    admin: Any, client: Any, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = getattr(KEYS, key)
    admin.set(name, "a string")
    admin.zadd(KEYS.timeout, {MEMBER: 5, b"junk": 6})
    client.blocking_queue("orders").start_moving()
    eventually(lambda: caplog.text.count("a transfer failed") >= 2)
    assert name in caplog.text
    assert admin.zcard(KEYS.timeout) == 2
    admin.delete(name)
    eventually(lambda: admin.lrange("orders", 0, -1) == [b"waiting"])
    assert admin.lrange(KEYS.quarantine, 0, -1) == [b"6 junk"]


@pytest.mark.parametrize("key", ["turns", "deliveries", "histories", "history_ends"])
def test_a_lease_that_ends_beside_a_wrong_type_is_ready_once(
    admin: Any, client: Any, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    queue.receive(visibility_timeout=0.001)
    name = getattr(KEYS, key)
    admin.delete(name)
    admin.set(name, "a string")
    client.delayed_queue("orders").start_moving()
    eventually(lambda: caplog.text.count("a transfer failed") >= 2)
    assert name in caplog.text
    assert not queue.size()
    admin.delete(name)
    eventually(lambda: admin.lrange("orders", 0, -1) == [b"a"])


def test_a_value_the_codec_cannot_encode(admin: Any, delayed: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        delayed.offer(5, delay=1)
    assert caught.value.codec == "StringCodec"
    assert isinstance(caught.value, TypeError)
    assert admin.keys() == []


def test_a_login_that_is_refused(flavour: Flavour, admin: Any, server: EmbeddedServer) -> None:
    admin.acl_setuser("reader", enabled=True, passwords=["+secret"], keys=["*"], commands=["+@all", "-@scripting"])
    try:
        with pytest.raises(RedisReplyError, match="login"):
            flavour.connect(server.url.replace("redis://", "redis://reader:wrong@"))
        with flavour.connect(server.url.replace("redis://", "redis://reader:secret@"), codec=StringCodec()) as client:
            with pytest.raises(RedisReplyError, match="offer on"):
                client.delayed_queue("orders", transfer=False).offer("a", delay=1)
    finally:
        admin.acl_deluser("reader")


def test_a_user_who_may_not_subscribe_is_served_by_the_probe(
    flavour: Flavour, admin: Any, server: EmbeddedServer, caplog: pytest.LogCaptureFixture
) -> None:
    admin.acl_setuser("deaf", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-subscribe"])
    try:
        url = server.url.replace("redis://", "redis://deaf:x@")
        with flavour.connect(url, codec=StringCodec(), probe_interval=0.2) as client:
            queue = client.blocking_queue("orders")
            client.delayed_queue("orders", transfer=False)
            admin.zadd(KEYS.timeout, {MEMBER: 5})
            assert queue.poll(timeout=PATIENCE) == "waiting"
            time.sleep(0.5)
    finally:
        admin.acl_deluser("deaf")
    (told,) = caplog.records
    assert f"cannot subscribe to the channel {KEYS.channel!r}" in told.getMessage()
    assert "subscribe" in told.getMessage()


def test_a_wait_whose_user_may_not_pop_fails_at_once(flavour: Flavour, admin: Any, server: EmbeddedServer) -> None:
    admin.acl_setuser("noblock", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-blpop"])
    try:
        with flavour.connect(server.url.replace("redis://", "redis://noblock:x@"), codec=StringCodec()) as client:
            with pytest.raises(RedisReplyError, match="orders"):
                client.blocking_queue("orders").take()
    finally:
        admin.acl_deluser("noblock")


def test_an_offer_whose_reply_is_lost_is_not_repeated(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor
) -> None:
    with (
        Gate(lambda: server.port or 0) as proxy,
        flavour.connect(f"{proxy.url}?socket_timeout=0.5", codec=StringCodec()) as client,
    ):
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.offer("a", delay=60)
        proxy.silence(replies_only=True)
        with pytest.raises(RedisConnectionError, match="may have been carried out") as caught:
            delayed.offer("b", delay=60)
        assert caught.value.maybe_done
        time.sleep(0.2)
        assert delayed.read_all() == ["a", "b"], "once, and the next call has a new connection"
        proxy.silence(replies_only=True)
        with pytest.raises(RedisConnectionError, match="0 of 3 values were offered before"):
            delayed.offer_all([("c", 1), ("d", 1), ("e", 1)])


def test_a_server_that_only_reads(flavour: Flavour, admin: Any, url: str, delayed: Any) -> None:
    admin.config_set("min-replicas-to-write", 1)
    try:
        with pytest.raises(RedisReplyError, match="offer on"):
            delayed.offer("a", delay=1)
    finally:
        admin.config_set("min-replicas-to-write", 0)


def test_a_script_flush_goes_unnoticed(admin: Any, queue: Any, delayed: Any) -> None:
    for i in range(10):
        admin.script_flush()
        delayed.offer(f"v{i}", delay=0.01)
        admin.script_flush()
        assert queue.poll(timeout=PATIENCE) == f"v{i}"
