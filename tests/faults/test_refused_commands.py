"""A user who lacks a right: a refused call did nothing, or its error says that it may have done something."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq._concurrency import Promise
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisReplyError
from redisson_dq.waits.line import Lifeline
from redisson_dq.wire.blocking import Pop
from tests.conftest import PATIENCE, by_night, eventually, thinned
from tests.faults.world import World
from tests.flavours import Flavour

# The rights that a call may need besides reading. PUBLISH is refused in two ways: the command, and (by default for
# every new user of Redis 7) the channel.
_RIGHTS = [
    "-publish",
    "resetchannels",
    *(f"-{name}" for name in ("rpush", "lpush", "lpop", "lrem", "lset", "ltrim", "zadd", "zrem", "zscore", "hset")),
    *(f"-{name}" for name in ("hdel", "hget", "hlen", "set", "del", "incrby", "decrby", "exists", "pexpire", "rename")),
]

_CALLS: dict[str, Callable[[Any], Any]] = {
    "offer": lambda c: c.delayed.offer("new", delay=60),
    "offer due at once": lambda c: c.delayed.offer("new", delay=0),
    "offer with an id": lambda c: c.delayed.offer("new", delay=1, id="new"),
    "offer that replaces": lambda c: c.delayed.offer("new", delay=1, id="known", on_duplicate="replace"),
    "offer that expires": lambda c: c.delayed.offer("new", delay=1, expires=60),
    "offer_all": lambda c: c.delayed.offer_all([("new", 60), ("newer", 1)]),
    "lean offer": lambda c: c.lean.offer("new", delay=1),
    "lean offer_all": lambda c: c.lean.offer_all([("new", 60), ("newer", 1)]),
    "reschedule": lambda c: c.delayed.reschedule("known", delay=1),
    "run_now": lambda c: c.delayed.run_now("known"),
    "cancel": lambda c: c.delayed.cancel("known"),
    "cancel without an id": lambda c: c.item.cancel(),
    "pause": lambda c: c.delayed.pause(),
    "resume": lambda c: c.paused.resume(),
    "set_max_size": lambda c: c.delayed.set_max_size(5),
    "offer_recurring": lambda c: c.delayed.offer_recurring("beat", "beat", every=timedelta(seconds=60)),
    "cancel_recurring": lambda c: c.delayed.cancel_recurring("tick"),
    "delayed.poll": lambda c: c.delayed.poll(2),
    "delayed.remove": lambda c: c.delayed.remove("waits"),
    "delayed.clear": lambda c: c.delayed.clear(),
    "poll_last_and_offer_first_to": lambda c: c.delayed.poll_last_and_offer_first_to("other"),
    "delayed.rename": lambda c: c.delayed.rename("another"),
    "delayed.expire": lambda c: c.delayed.expire(60),
    "delayed.delete": lambda c: c.delayed.delete(),
    "try_set_capacity": lambda c: c.fresh.try_set_capacity(5),
    "bounded.offer": lambda c: c.bounded.offer("new"),
    "bounded.poll": lambda c: c.bounded.poll(),
    "bounded.poll many": lambda c: c.bounded.poll(limit=2),
    "bounded.poll(timeout=)": lambda c: c.bounded.poll(timeout=0.2),
    "bounded.remove": lambda c: c.bounded.remove("one"),
    "bounded.clear": lambda c: c.bounded.clear(),
    "bounded.drain_to": lambda c: c.bounded.drain_to(),
    "poll": lambda c: c.queue.poll(),
    "move": lambda c: c.queue.move("other"),
    "remove_all": lambda c: c.queue.remove_all(["one", "two"]),
    "retain_all": lambda c: c.queue.retain_all(["one"]),
}


class Calls:
    """Handles of a user that may do everything, whose rights are taken away afterwards."""

    def __init__(self, client: Any) -> None:
        options: dict[str, Any] = {"transfer": False}
        self.queue = client.blocking_queue("orders", **options)
        self.delayed = client.delayed_queue("orders", **options)
        self.lean = client.delayed_queue("orders", lean=True, **options)
        self.bounded = client.bounded_blocking_queue("bounded", **options)
        self.fresh = client.bounded_blocking_queue("fresh", **options)
        self.paused = client.delayed_queue("paused", **options)
        self.queue.add_all(["one", "two"])
        self.bounded.try_set_capacity(5)
        for value in ("one", "two"):
            self.bounded.add(value)
        self.item = self.delayed.offer("waits", delay=30)
        self.delayed.offer("known", delay=20, id="known")
        self.delayed.offer_recurring("tick", "tick", every=timedelta(seconds=600))
        self.paused.offer("paused", delay=0.001)
        self.paused.pause()


@pytest.mark.parametrize(("call", "right"), thinned(_CALLS, _RIGHTS, of=3))
def test_what_is_refused_was_not_done(world: World, call: str, right: str) -> None:
    admin = world.admin
    admin.flushall()
    admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all")
    url = world.gate.url.replace("//", "//limited:secret@")
    with Flavour().connect(url, codec=StringCodec()) as client:
        calls = Calls(client)
        admin.execute_command("ACL", "SETUSER", "limited", right)
        before = _content(admin)
        refused: RedisReplyError | None = None
        try:
            _CALLS[call](calls)
        except RedisReplyError as error:
            refused = error
        if refused is not None and not getattr(refused, "maybe_done", False):
            assert _content(admin) == before, str(refused)


def test_an_offer_stands_whose_announcement_is_refused(flavour: Flavour, caplog: pytest.LogCaptureFixture) -> None:
    with World() as world:
        world.admin.execute_command("ACL", "SETUSER", "new", "on", ">secret", "~*", "+@all", "resetchannels")
        url = world.gate.url.replace("//", "//new:secret@")
        # Nobody is woken, because this user may not subscribe either: a look at the head finds the due items.
        with flavour.connect(url, codec=StringCodec(), probe_interval=0.2) as client:
            queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
            for number in range(3):
                assert delayed.offer(f"item-{number}", delay=0.01)
            assert delayed.offer("with an id", delay=0.01, id="a")
            assert [queue.poll(timeout=PATIENCE) for _ in range(4)] == ["item-0", "item-1", "item-2", "with an id"]
    told = [record for record in caplog.records if "refuses to publish" in record.getMessage()]
    assert len(told) == 1


@pytest.mark.parametrize("partitions", [None, by_night(2)])
def test_a_refused_receive_is_not_repeated_for_nobody(flavour: Flavour, partitions: int | None) -> None:
    """The right is revoked while the receive waits. The value that arrived is for the next look."""
    with World() as world, ThreadPoolExecutor(1) as thread:
        admin = world.admin
        admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all")
        url = world.server.url.replace("//", "//limited:secret@")
        with flavour.connect(url, codec=StringCodec()) as client:
            options = {} if partitions is None else {"partitions": partitions}
            queue = client.blocking_queue("orders", transfer=False, **options)
            assert queue.receive(timeout=0.01) is None
            waiting = thread.submit(queue.receive)
            eventually(lambda: admin.info("clients")["blocked_clients"])
            admin.execute_command("ACL", "SETUSER", "limited", "-evalsha", "-eval")
            admin.rpush("orders" if partitions is None else queue.partitions[0].keys.ready, "a")
            with pytest.raises(RedisReplyError, match="evalsha"):
                waiting.result(PATIENCE)
            before = admin.info("stats")["total_connections_received"]
            time.sleep(0.3)
            # It was about 650 a second.
            assert admin.info("stats")["total_connections_received"] < before + 5
            admin.execute_command("ACL", "SETUSER", "limited", "+evalsha", "+eval")
            delivery = queue.receive(timeout=PATIENCE)
            assert (delivery.value, delivery.attempt) == ("a", 1)


def test_a_pop_that_redis_forbids_to_end_gives_back_the_value_that_it_gets(caplog: pytest.LogCaptureFixture) -> None:
    """Many users lack the dangerous commands. A connection that was cut would lose a value that comes just then."""
    with World() as world:
        rights = ("~*", "&*", "+@all", "-client|unblock")
        world.admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", *rights)
        url = world.gate.url.replace("//", "//limited:secret@")
        with Flavour().connect(url, codec=StringCodec()) as client:
            receiver = client.runtime.receivers.of(Pop(("orders",), "first"))
            lifeline = Lifeline()
            receiver.enter(1, lifeline, Promise(client.runtime.clock))
            eventually(lambda: world.admin.info("clients")["blocked_clients"])
            lifeline.let_go()
            eventually(lambda: "does not let the client end its blocking command" in caplog.text)
            returned = world.gate.trap("put_back.lua", "reply", "delay", seconds=0.0)
            world.admin.rpush("orders", "a")
            assert returned.sprung.wait(PATIENCE)
            assert world.admin.lrange("orders", 0, -1) == [b"a"]


def _content(admin: Any) -> dict[bytes, object]:
    """Everything in Redis, except keys with a time to live."""
    found: dict[bytes, object] = {}
    for key in sorted(admin.keys()):
        kind = admin.type(key)
        if kind == b"list":
            found[key] = admin.lrange(key, 0, -1)
        elif kind == b"zset":
            found[key] = admin.zrange(key, 0, -1, withscores=True)
        elif kind == b"hash":
            found[key] = admin.hgetall(key)
        else:
            found[key] = admin.get(key)
        found[key] = (found[key], int(admin.ttl(key)) < 0)
    return found
