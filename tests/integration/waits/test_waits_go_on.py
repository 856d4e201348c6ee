"""A wait goes on after conditions that pass, lost replies, and a connection that is cut while bytes are set aside."""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest
import redis

from redisson_dq.codecs import LongCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from redisson_dq.wire.blocking import Pop, Source
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import Flavour


def test_too_few_replicas(
    flavour: Flavour, own_server: EmbeddedServer, threads: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        redis.Redis.from_url(own_server.url) as admin,
        flavour.connect(own_server.url, codec=StringCodec()) as client,
    ):
        caplog.set_level(logging.DEBUG, "redisson_dq")
        queue = client.blocking_queue("orders", transfer=False)
        admin.config_set("min-replicas-to-write", 1)
        waiting = threads.submit(queue.take)
        eventually(lambda: caplog.text.count("waiting again") >= 2)
        # Whatever moment of a try it ends at.
        for timeout in (0.3, 0.05, 0.051, 0.052, 0.053, 0.1, 0.101, 0.102, 0.2):
            with pytest.raises(RedisConnectionError, match="NOREPLICAS"):
                queue.poll(timeout=timeout)
        assert caplog.text.count("Redis cannot be reached") == 1
        admin.config_set("min-replicas-to-write", 0)
        admin.rpush("orders", "a")
        assert waiting.result(PATIENCE) == "a"


def test_a_script_that_takes_long(
    flavour: Flavour, own_server: EmbeddedServer, threads: ThreadPoolExecutor, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        redis.Redis.from_url(own_server.url, socket_timeout=None) as admin,
        flavour.connect(own_server.url, codec=StringCodec()) as client,
    ):
        queue = client.blocking_queue("orders", transfer=False)
        assert queue.poll(timeout=0.01) is None
        admin.config_set("lua-time-limit", 10)
        with redis.Redis.from_url(own_server.url, socket_timeout=None) as other:
            script = threads.submit(other.eval, "while true do end", 0)
            time.sleep(0.2)
            waiting = threads.submit(queue.take)
            eventually(lambda: "BUSY" in caplog.text)
            admin.script_kill()
            with pytest.raises(redis.ResponseError):
                script.result(PATIENCE)
        admin.rpush("orders", "a")
        assert waiting.result(PATIENCE) == "a"


def test_bytes_are_put_away_over_another_connection_when_one_is_killed(
    flavour: Flavour, server: EmbeddedServer, admin: Any
) -> None:
    over = threading.Event()
    killed = 0

    def kill() -> None:
        nonlocal killed
        with redis.Redis.from_url(server.url) as killer:
            while not over.is_set():
                for entry in killer.client_list():
                    if entry["name"].startswith("victim/") and entry["cmd"] in ("evalsha", "eval"):
                        killed += killer.client_kill_filter(_id=entry["id"])

    options = {"codec": LongCodec(), "undecodable": "skip"}
    with flavour.connect(f"{server.url}?client_name=victim", **options) as client:
        queue = client.blocking_queue("orders", transfer=False)
        killer = threading.Thread(target=kill)
        killer.start()
        got: list[int] = []
        unreadable: list[str] = []
        try:
            for number in range(100):
                bad = "bad", f"worse {number}"
                unreadable += bad
                admin.rpush("orders", bad[0], 3 * number, 3 * number + 1, bad[1], 3 * number + 2)
                while admin.llen("orders"):
                    got += queue.poll(10, timeout=PATIENCE)
        finally:
            over.set()
            killer.join()
        assert got == list(range(300))
        assert sorted(value.decode() for value in queue.read_undecodable(0, -1)) == sorted(unreadable)
        assert killed


_numbers = itertools.count(1)


@attrs.frozen
class Counted(Source):
    """A source whose look counts how often each of its requests was carried out."""

    pop: Pop

    @property
    def key(self) -> str:
        return self.pop.key

    @property
    def keys(self) -> tuple[str, ...]:
        return self.pop.keys

    def at_once(self, count: int) -> Request[list[Taken]] | None:
        return self.look(count)

    def look(self, count: int) -> Request[list[Taken]] | None:
        if not count:
            return None
        number = next(_numbers)
        return Request(
            words=("HINCRBY", "looks", number, 1),
            types={"looks": "hash"},
            parse=lambda reply: [Taken(key=self.key, data=b"%d" % number)] if number % 2 == 0 else [],
            repeatable=True,
        )

    def words(self, timeout: float) -> tuple[Any, ...]:
        return self.pop.words(timeout)

    def taken(self, reply: Any) -> list[Taken]:
        """The reply only says that there is something."""
        return []

    def more(self, count: int) -> None:
        return None

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[Any]:
        return []


class SettingAside(Counted):
    """One whose blocking command only sets a value aside, and whose looks take it."""

    @property
    def sets_aside(self) -> bool:
        return True

    def look(self, count: int) -> Request[list[Taken]] | None:
        return super().look(count or 1)


def test_what_a_lost_reply_told_of_is_looked_for_also_when_nobody_waits_any_more(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor
) -> None:
    with Gate(lambda: server.port or 0) as proxy, flavour.connect(proxy.url, codec=StringCodec()) as client:
        receiver = flavour.receiver(client, SettingAside(Pop(("orders",), "first")))
        if next(_numbers) % 2:
            next(_numbers)
        waiting = threads.submit(receiver.receive, 1)
        # An odd look finds nothing.
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        assert admin.hlen("looks") == 1
        proxy.silence(replies_only=True)
        admin.rpush("orders", "a")
        eventually(lambda: not admin.llen("orders"))
        assert waiting.result(PATIENCE) == []
        proxy.cut()
        eventually(lambda: admin.hlen("looks") > 1)


def test_a_repeatable_look_is_sent_again_first_when_its_reply_is_lost(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor
) -> None:
    with Gate(lambda: server.port or 0) as proxy, flavour.connect(proxy.url, codec=StringCodec()) as client:
        receiver = flavour.receiver(client, Counted(Pop(("orders",), "first")))
        if next(_numbers) % 2:
            next(_numbers)
        waiting = threads.submit(receiver.receive, None)
        # An odd look finds nothing, the pop is a wake-up, and the look after it finds something.
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        first = int(next(iter(admin.hkeys("looks"))))
        proxy.silence(replies_only=True)
        admin.rpush("orders", "a")
        eventually(lambda: not admin.llen("orders"))
        # The reply of the pop went astray, and it held nothing. The receiver begins with a look again.
        proxy.cut()
        assert [each.data for each in waiting.result(PATIENCE)] == [b"%d" % (first + 1)]
        waiting = threads.submit(receiver.receive, None)
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        admin.rpush("orders", "b")
        assert waiting.result(PATIENCE)
        proxy.silence(replies_only=True)
        waiting = threads.submit(receiver.receive, None)
        lost = first + 4
        eventually(lambda: admin.hget("looks", lost) == b"1")
        proxy.cut()
        eventually(lambda: admin.hget("looks", lost) == b"2")
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        admin.rpush("orders", "c")
        assert waiting.result(PATIENCE)
        assert {name: count for name, count in admin.hgetall("looks").items() if count != b"1"} == {b"%d" % lost: b"2"}


@attrs.frozen
class Followed(Pop):
    """A source whose second request fails while its values are handed out."""

    def after(self, taken: Sequence[Taken], known: Mapping[str, bytes]) -> None:
        raise redis.ConnectionError("cut")


def test_a_value_that_is_handed_out_while_something_fails_is_handed_out_once(
    flavour: Flavour, server: EmbeddedServer, admin: Any
) -> None:
    """The next caller waits on, and gets the next value."""
    with flavour.connect(server.url, codec=StringCodec()) as client:
        receiver = flavour.receiver(client, Followed(("orders",), "first"))
        admin.rpush("orders", "a", "b")
        assert [receiver.receive(PATIENCE)[0].data for _ in range(2)] == [b"a", b"b"]
        assert admin.llen("orders") == 0


def test_a_wait_that_never_reached_redis_says_that_nothing_was_done(
    flavour: Flavour, own_server: EmbeddedServer
) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add("a")
        assert queue.poll(timeout=PATIENCE) == "a"
        own_server.stop()
        # The first wait finds that its connection is broken. Its pop may have taken something.
        with pytest.raises(RedisConnectionError) as broken:
            queue.poll(timeout=0.2)
        assert broken.value.maybe_done

        def is_refused() -> bool:
            with pytest.raises(RedisConnectionError, match="Error 111") as refused:
                queue.poll(timeout=0.05)
            return not refused.value.maybe_done and "was sent" not in str(refused.value)

        eventually(is_refused)
        with pytest.raises(RedisConnectionError) as received:
            queue.receive(timeout=0.05)
        assert not received.value.maybe_done


def test_an_outage_is_over_when_nobody_waits_for_the_new_connection(
    flavour: Flavour, own_server: EmbeddedServer, caplog: pytest.LogCaptureFixture
) -> None:
    port = own_server.port or 0
    with Gate(lambda: port) as gate, flavour.connect(gate.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        assert queue.poll(timeout=0.01) is None
        gate.refusing = True
        gate.cut()
        with pytest.raises(RedisConnectionError):
            queue.poll(timeout=0.3)
        assert caplog.text.count("Redis cannot be reached") == 1
        # Callers come and leave until the new connection is being made.
        trap = gate.trap("CLIENT", "reply", "freeze")
        gate.refusing = False
        while not trap.sprung.is_set():
            with contextlib.suppress(RedisConnectionError):
                queue.poll(timeout=0.001)
        assert "Redis is back" not in caplog.text
        gate.thaw()
        eventually(lambda: "Redis is back" in caplog.text)
        assert queue.poll(timeout=0.001) is None
