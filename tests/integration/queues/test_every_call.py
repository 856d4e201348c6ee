"""Every public call of calls.py: missing keys, wrong types, closed client, missing rights, no server, bad arguments."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import Queue
from typing import Any

import pytest
import redis

import redisson_dq.aio
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import (
    ArgumentError,
    ClosedError,
    EncodeError,
    RedisConnectionError,
    RedisReplyError,
    WrongTypeError,
)
from tests.conftest import PATIENCE, by_night, eventually, thinned
from tests.faults.gate import Gate
from tests.flavours import AsyncioFlavour, Flavour
from tests.integration.calls import (
    CALLS,
    CLASSES,
    Call,
    check,
    dump,
    fill,
    main_keys,
    opened,
    plain_by_day,
    queue_for,
    subject,
)
from tests.integration.conftest import KEYS

every = pytest.mark.parametrize("call", CALLS, ids=str)
sent = pytest.mark.parametrize("call", plain_by_day([call for call in CALLS if not call.local]), ids=str)
# A subscription tells of errors in the log alone.
ANSWERED = [call for call in CALLS if not call.local and not call.name.startswith("subscribe")]


@pytest.fixture
def server(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty Redis; what differs in Valkey is not in these calls."""
    shared = servers("redis")
    with redis.Redis.from_url(shared.url) as admin:
        admin.flushall()
    return shared


# -- the table -------------------------------------------------------------------------------------------------------


def public_names(made: type) -> set[str]:
    """The public calls and properties, and what Python's own syntax calls. Entering ends with destroy or execute."""
    own = [base for base in made.__mro__ if base.__module__.startswith("redisson_dq")]
    names = {name for base in own for name in vars(base)}
    syntax = {"__iter__", "__len__", "__bool__", "__contains__", "__getitem__", "__reversed__"}
    return {name for name in names if not name.startswith("_")} | names & syntax


@pytest.mark.parametrize("kind", CLASSES)
def test_the_table_has_every_call(kind: str) -> None:
    made = CLASSES[kind]
    rows = {call.name for call in CALLS if call.kind == kind or (kind == "deque" and call.kind == "queue")}
    assert rows == public_names(made)


@pytest.mark.parametrize("kind", CLASSES)
def test_both_flavours_have_the_same_calls(kind: str) -> None:
    made = CLASSES[kind]
    twin = getattr(redisson_dq.aio, made.__name__)
    plain = {name for name in public_names(made) if not name.startswith("__")}
    assert plain == {name for name in public_names(twin) if not name.startswith("__")}
    for name in plain:
        ours, theirs = (inspect.getattr_static(cls, name) for cls in (made, twin))
        assert isinstance(ours, property) == isinstance(theirs, property), name
        if not isinstance(ours, property):
            assert parameters(ours) == parameters(theirs), name


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


# -- nothing there ---------------------------------------------------------------------------------------------------


@every
def test_nothing_is_there(call: Call, client: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    handle = opened(client, call.kind)
    admin.flushall()
    if call.waits:
        waiting = threads.submit(call.run, handle)
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        assert dump(admin) == {}
        admin.rpush("orders", "come")
        assert waiting.result(PATIENCE) in ("come", ["come"], ("orders", "come"))
        return
    check(call, handle, call.missing)
    if not call.writes:
        assert dump(admin) == {}


@pytest.mark.parametrize("types", ["one", by_night("each")])
@pytest.mark.parametrize("call", thinned([call for call in CALLS if call.keys], of=2), ids=str)
def test_a_key_of_another_type(call: Call, types: str, client: Any, admin: Any, threads: ThreadPoolExecutor) -> None:
    """By day each key has one of the wrong types, by turns."""
    makers: dict[str, Callable[[str], Any]] = {
        "string": lambda key: admin.set(key, "text"),
        "list": lambda key: admin.rpush(key, "text"),
        "zset": lambda key: admin.zadd(key, {"text": 5}),
        "set": lambda key: admin.sadd(key, "text"),
    }
    for turn, key in enumerate(call.keys, CALLS.index(call)):
        admin.flushall()
        handle = opened(client, call.kind)
        fill(client, admin, KEYS)
        if key == "other" and call.other == "source":
            admin.delete("orders")
        name = key if key == "other" else getattr(KEYS, key)
        expected = KEYS.type_of(name)
        wrong = [each for each in makers if each != expected]
        for found in wrong if types == "each" else [wrong[turn % len(wrong)]]:
            admin.delete(name)
            makers[found](name)
            before = dump(admin)
            with pytest.raises(WrongTypeError) as caught:
                threads.submit(call.run, handle).result(PATIENCE)
            assert (caught.value.key, caught.value.expected, caught.value.found) == (name, expected, found)
            assert all(part in str(caught.value) for part in (repr(name), expected, found))
            assert dump(admin) == before


@pytest.mark.parametrize(
    "call", [call for call in CALLS if not call.keys and not call.local and not call.waits], ids=str
)
def test_keys_of_any_type(call: Call, client: Any, admin: Any) -> None:
    handle = opened(client, call.kind)
    for key in main_keys(KEYS, call.kind):
        admin.set(key, "text")
    check(call, handle, call.any_type)


# -- closed ----------------------------------------------------------------------------------------------------------


@sent
def test_closed(call: Call, flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        other, queue = (queue_for(client, call.kind) for _ in range(2))
        handle, destroyed = subject(other, call.kind), subject(queue, call.kind)
        queue.destroy()
        queue.destroy()
        if call.kind != "delivery":
            # A value that was received is its receiver's, whatever becomes of the handle.
            raises_closed(call, lambda: call.run(destroyed), "orders")
        with pytest.raises(ClosedError, match="orders"):
            queue.exists()
    raises_closed(call, lambda: call.run(handle), "closed")


def raises_closed(call: Call, make: Callable[[], Any], match: str) -> None:
    if call.name == "elements":
        assert make() is None, "the loop ends"
        return
    with pytest.raises(ClosedError, match=match):
        make()


@pytest.mark.parametrize("call", [call for call in CALLS if call.local and call.kind != "pipeline"], ids=str)
def test_what_sends_nothing_when_closed(call: Call, flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = queue_for(client, call.kind)
        handle = subject(queue, call.kind)
        queue.destroy()
        if call.way == "nothing":
            raises_closed(call, lambda: call.run(handle), "orders")
        else:
            check(call, handle, call.missing)


# -- refused ---------------------------------------------------------------------------------------------------------


#: Users, the keys that each may use, and commands that it must not.
USERS = {"stranger": ("theirs", []), "reader": ("*", ["-@write"]), "unscripted": ("*", ["-@scripting"])}


def each_user() -> Iterator[Any]:
    """Every call with every user. By day each other call has one, by turns."""
    for turn, call in enumerate(ANSWERED):
        for number, user in enumerate(USERS):
            marks = [] if number == turn % (2 * len(USERS)) else [pytest.mark.nightly]
            yield pytest.param(call, user, marks=marks, id=f"{call}-{user}")


@pytest.mark.parametrize(("call", "user"), list(each_user()))
def test_no_permission(
    call: Call, user: str, server: EmbeddedServer, admin: Any, flavour: Flavour, threads: ThreadPoolExecutor
) -> None:
    def may(keys: str, *commands: str) -> None:
        rights = {"keys": [keys], "channels": ["*"], "commands": ["+@all", *commands]}
        admin.acl_setuser("limited", enabled=True, nopass=True, reset=True, **rights)

    may("*")
    url = server.url.replace("redis://", "redis://limited:any@")
    with flavour.connect(url, codec=StringCodec()) as client:
        handle = opened(client, call.kind)
        fill(client, admin, KEYS)
        before = dump(admin)
        keys, commands = USERS[user]
        may(keys, *commands)
        failure = threads.submit(call.run, handle).exception(PATIENCE)
        refused = isinstance(failure, RedisReplyError) and "orders" in str(failure)
        assert refused or (failure is None and user != "stranger")
        assert dump(admin) == before or (user == "unscripted" and not refused)


@pytest.mark.parametrize("call", plain_by_day(ANSWERED), ids=str)
def test_no_server(
    call: Call,
    flavour: Flavour,
    server: EmbeddedServer,
    admin: Any,
    threads: ThreadPoolExecutor,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    with ExitStack() as stack:
        with Gate(lambda: server.port or 0) as proxy:
            client = stack.enter_context(flavour.connect(proxy.url, codec=StringCodec()))
            handle = opened(client, call.kind)
        before = dump(admin)
        calling = threads.submit(call.run, handle)
        if call.waits:
            # It goes on waiting for the server, until the client is closed.
            eventually(lambda: "waiting again" in caplog.text)
            stack.close()
            raises_closed(call, lambda: calling.result(PATIENCE), "closed")
        else:
            with pytest.raises(RedisConnectionError):
                calling.result(PATIENCE)
        assert dump(admin) == before


@pytest.mark.parametrize("call", plain_by_day([call for call in CALLS if call.bad]), ids=str)
def test_bad_arguments(call: Call, client: Any, admin: Any) -> None:
    handle = opened(client, call.kind)
    fill(client, admin, KEYS)
    before = sent_so_far(admin)
    for bad in call.bad:
        with pytest.raises((ArgumentError, EncodeError), match="orders"):
            bad(handle)
    assert sent_so_far(admin) == before


def sent_so_far(admin: Any) -> int:
    """The number of commands that the server has carried out, without those of this function."""
    counts = admin.info("commandstats")
    return sum(stats["calls"] for name, stats in counts.items() if name != "cmdstat_info")


# -- subscriptions and capacities ------------------------------------------------------------------------------------


def test_a_subscription_waits_for_the_right_type(client: Any, admin: Any, caplog: pytest.LogCaptureFixture) -> None:
    queue = opened(client, "queue")
    admin.set("orders", "text")
    admin.config_resetstat()
    come: Queue[str] = Queue()
    listener = queue.subscribe_on_elements(come.put)
    eventually(lambda: admin.info("commandstats").get("cmdstat_blpop", {}).get("failed_calls", 0) >= 2)
    assert caplog.text.count("a listener cannot take") == 1
    assert "'orders' holds a string" in caplog.text
    assert admin.info("commandstats")["cmdstat_blpop"]["calls"] < 10, "there is a pause between two tries"
    admin.delete("orders")
    admin.rpush("orders", "come")
    assert come.get(timeout=PATIENCE) == "come"
    with pytest.raises(ArgumentError, match=r"takes the id that subscribe_on_elements\(\) gave"):
        queue.unsubscribe(come.put)
    queue.unsubscribe(listener)


@pytest.mark.parametrize(
    "call", [call for call in CALLS if call.kind == "bounded" and ("ready" in call.keys or call.waits)], ids=str
)
def test_what_leaves_a_bounded_queue_makes_room(
    call: Call, client: Any, admin: Any, threads: ThreadPoolExecutor
) -> None:
    queue = opened(client, "bounded")
    queue.try_set_capacity(10)
    queue.add_all(["a", "b", "a", "c"])
    threads.submit(call.run, queue).result(PATIENCE)
    eventually(lambda: queue.size() + queue.remaining_capacity() == 10)


def test_room_that_cannot_be_made_costs_nobody_the_value(
    client: Any, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    queue = opened(client, "bounded")
    admin.rpush(KEYS.capacity, "a list")
    admin.rpush("orders", "a", "b", "c", "d")
    waited = [queue.take(), queue.poll(timeout=PATIENCE), queue.poll_from_any("other", timeout=PATIENCE)]
    assert waited == ["a", "b", "c"]
    assert caplog.text.count("the follow-up of a take failed") == 3
    for call in (queue.poll, lambda: queue.poll_from_any("other")):
        with pytest.raises(WrongTypeError):
            call()
    assert admin.lrange("orders", 0, -1) == [b"d"]


def test_a_take_that_is_cancelled_while_it_makes_room_loses_nothing(server: EmbeddedServer, admin: Any) -> None:
    flavour = AsyncioFlavour()
    with (
        Gate(lambda: server.port or 0) as proxy,
        flavour.connect(f"{proxy.url}?socket_timeout=1", codec=StringCodec()) as client,
    ):
        queue = opened(client, "bounded")
        queue.try_set_capacity(5)
        queue.add("a")
        # The pop gets a connection of its own; making room is done without an answer.
        proxy.silence(replies_only=True)
        taking = flavour.submit(queue.inner.take)
        eventually(lambda: admin.get(KEYS.capacity) == b"5")
        taking.cancel()
        eventually(lambda: admin.lrange("orders", 0, -1) == [b"a"])
        assert queue.remaining_capacity() == 4
        proxy.cut()
    flavour.close()
