"""``client.queue_names()``: every queue that has keys or subscribers, by its name, in short calls."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import attrs
import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ClosedError, RedisConnectionError
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from redisson_dq.wire.names import named, names_of
from tests.cluster import Cluster
from tests.conftest import eventually, moving
from tests.flavours import Flavour
from tests.integration.looking.test_inspect import sent_by

ODD = [
    "a b",
    "{a}:{b}",
    "x" * 10_000,
    "{tag}rest",
    "a{b",
    "a}b",
    "{}x",
    "é\n😀",
    "0",
    "*",
    "a:b",
    "redisson_dq_dead",
    ":",
    "[a]",
]


def names(client: Any, *match: Any) -> list[str]:
    return sorted(client.queue_names(*match))


def test_where_nothing_is(looking: Any, admin: Any) -> None:
    assert names(looking) == []
    admin.rpush("orders", "a")
    admin.set("redisson_dq_of_somebody_else", "x")
    admin.set("redisson_other:{orders}", "x")
    admin.set(b"redisson_dq_leases:{\xff}", "x")
    assert names(looking) == []
    assert looking.runtime.transfer_driver is None


@pytest.mark.parametrize("role", [name for name in attrs.asdict(QueueKeys.of("orders")) if "channel" not in name])
def test_each_key_tells_of_its_queue(looking: Any, admin: Any, role: str) -> None:
    admin.set(getattr(QueueKeys.of("orders"), role), "whatever it holds")
    # The ready list has the name of any key.
    assert names(looking) == ([] if role == "ready" else ["orders"])


@pytest.mark.parametrize("role", ["dead", "dead_info", "dead_index"])
def test_each_key_of_dead_letters_does(looking: Any, admin: Any, role: str) -> None:
    admin.set(getattr(DeadKeys.belonging_to("orders"), role), "x")
    if role != "dead":
        admin.set(getattr(DeadKeys.of("graves"), role), "x")
    assert names(looking) == (["orders"] if role == "dead" else ["graves", "orders"])


def test_the_queues_of_every_kind(looking: Any, client: Any, admin: Any) -> None:
    client.delayed_queue("waiting", transfer=False).offer("a", 60)
    client.delayed_queue("lean", transfer=False, lean=True).offer("a", 60)
    client.bounded_blocking_queue("bounded").try_set_capacity(5)
    held = client.blocking_queue("held", transfer=False)
    held.add("a")
    held.receive()
    # A queue of Java's, and one that only has subscribers.
    admin.zadd(QueueKeys.of("java").timeout, {wrap(Envelope.CURRENT, bytes(8), b"x"): 2**50})
    moving(client.blocking_queue("open"))
    client.delayed_queue("parts", partitions=3, transfer=False).offer_all([(f"{number}", 60) for number in range(30)])
    client.blocking_queue("parts", partitions=3, transfer=False)
    expected = sorted(["waiting", "lean", "bounded", "held", "java", "open", *partition_names("parts", 3)])
    assert eventually(lambda: (found := names(looking)) == expected and found)
    # Each of them can be asked for by its name.
    assert sum(each.waiting for each in looking.stats(*names(looking, "parts:*")).values()) == 30


@pytest.mark.parametrize("name", ODD)
def test_odd_names(looking: Any, client: Any, name: str) -> None:
    delayed = client.delayed_queue(name, transfer=False)
    delayed.offer_all([("a", 60), ("b", 60)])
    delayed.pause()
    queue = client.blocking_queue(name, transfer=False)
    queue.add("c")
    assert queue.receive(timeout=0).reject("no")
    assert names(looking) == [name]


@pytest.mark.parametrize("name", [*ODD, "orders"])
def test_the_way_back_from_each_key(name: str) -> None:
    keys = attrs.asdict(QueueKeys.of(name))
    del keys["ready"], keys["capacity_channel"]
    found = [*keys.values(), *attrs.asdict(DeadKeys.belonging_to(name)).values()]
    assert list(names_of(key.encode() for key in found)) == [name] * len(found)


# -- patterns --------------------------------------------------------------------------------------------------------

PATTERNS = [
    "*",
    "?",
    "a*",
    "a?c",
    "[ab]bc",
    "[^a]bc",
    "[a-c]*",
    r"a\*c",
    r"\[x\]",
    r"a\bc",
    "a[b",
    "[]",
    "ab*c*",
    "",
    "A*",
]
NAMES = ["abc", "bbc", "cbc", "a*c", "[x]", "a", "ab", "ABC", "a[b", "a\nc", "ab-c-d"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_it_means_to_keys(admin: Any, pattern: str) -> None:
    if pattern in ("a[b", "[]"):
        # A bracket without an end is a bracket here.
        assert [name for name in NAMES if named(pattern)(name)] == [name for name in NAMES if name == pattern]
        return
    for name in NAMES:
        admin.set(name, "x")
    assert {name for name in NAMES if named(pattern)(name)} == {key.decode() for key in admin.keys(pattern)}


def test_many_stars_take_no_time() -> None:
    assert not named("*a" * 40 + "b")("a" * 5000)


def test_a_pattern(looking: Any, client: Any) -> None:
    for name in ("orders", "orders-2", "bills"):
        client.delayed_queue(name, transfer=False).offer("a", 60)
    assert names(looking) == ["bills", "orders", "orders-2"]
    assert names(looking, "orders*") == ["orders", "orders-2"]
    assert names(looking, "") == []
    for bad in (5, b"orders", ["orders"]):
        with pytest.raises(ArgumentError, match="match="):
            looking.queue_names(bad)


# -- name mappers ----------------------------------------------------------------------------------------------------


def test_a_prefix(flavour: Flavour, url: str, client: Any) -> None:
    client.delayed_queue("another", transfer=False).offer("a", 60)
    with flavour.connect(url, codec=StringCodec(), name_mapper="shop:") as mapped:
        mapped.delayed_queue("orders", transfer=False).offer("a", 60)
        assert names(mapped) == names(mapped, "orders") == ["orders"]
        assert mapped.stats(*names(mapped))["orders"].waiting == 1
    assert names(client) == ["another", "shop:orders"]


class Backwards:
    """A name mapper with a way back."""

    def __call__(self, name: str) -> str:
        return f"_{name[::-1]}"

    def unmap(self, raw: str) -> str:
        return raw[:0:-1]


def test_a_function(flavour: Flavour, url: str, client: Any) -> None:
    client.delayed_queue("another", transfer=False).offer("a", 60)
    with flavour.connect(url, codec=StringCodec(), name_mapper=Backwards()) as mapped:
        mapped.delayed_queue("orders", transfer=False).offer("a", 60)
        assert names(mapped) == ["orders"]
    with (
        flavour.connect(url, codec=StringCodec(), name_mapper=lambda name: f"x{name}") as mapped,
        pytest.raises(ArgumentError, match="an attribute unmap"),
    ):
        mapped.queue_names()


# -- what it costs, and where it fails -------------------------------------------------------------------------------


def test_many_keys_are_looked_at_in_short_calls(looking: Any, client: Any, admin: Any) -> None:
    expected = [f"orders-{number:04}" for number in range(1000)]
    with client.pipeline() as pipe:
        for name in expected:
            pipe.add(client.delayed_queue(name, transfer=False).requests.offer("a", 60))
    admin.mset({f"other-{number}": "x" for number in range(8000)})
    assert names(looking) == expected
    sent = sent_by(admin, lambda: names(looking))
    assert sent[0] == "PUBSUB"
    assert set(sent[1:]) == {"SCAN"}
    assert 10 <= len(sent[1:]) <= 12


def test_the_first_names_come_before_the_last_call(looking: Any, client: Any, admin: Any) -> None:
    moving(client.delayed_queue("orders"))
    eventually(lambda: names(looking) == ["orders"])
    admin.mset({f"other-{number}": "x" for number in range(8000)})

    def first() -> None:
        iterator = iter(looking.queue_names())
        assert next(iterator) == "orders"

    assert sent_by(admin, first) == ["PUBSUB"]


def test_a_user_who_may_only_scan(flavour: Flavour, server: EmbeddedServer, producer: Any, admin: Any) -> None:
    producer.offer("a", 60)
    admin.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">secret", "+@connection", "+scan")
    try:
        with flavour.connect(server.url.replace("://", "://looker:secret@")) as client:
            assert names(client) == ["orders"]
    finally:
        admin.execute_command("ACL", "DELUSER", "looker")


def test_a_closed_client_and_a_redis_that_is_away(flavour: Flavour, own_server: EmbeddedServer) -> None:
    client = flavour.connect(own_server.url)
    own_server.kill()
    with pytest.raises(RedisConnectionError):
        names(client)
    client.close()
    with pytest.raises(ClosedError):
        client.queue_names()


def test_a_cluster(flavour: Flavour) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        client = stack.enter_context(flavour.cluster(cluster.url, codec=StringCodec()))
        expected = [f"orders-{number:02}" for number in range(40)]
        for name in expected:
            client.delayed_queue(name, transfer=False).offer("a", 60)
        assert names(client) == expected
        assert sum(each.waiting for each in client.stats(*names(client)).values()) == 40
