"""Wake-ups by keyspace events, for writers that add entries without announcing them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ServerSettingError
from redisson_dq.wire.envelope import Envelope, wrap
from tests.conftest import PATIENCE, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.interop.sides import HOUR, scripts_run, server_ms

KEYSPACE_CHANNEL = f"__keyspace@0__:{KEYS.timeout}"


@pytest.fixture
def events(admin: Any) -> Iterator[Any]:
    admin.config_set("notify-keyspace-events", "Kzg")
    yield admin
    admin.config_set("notify-keyspace-events", "")


def due_in(admin: Any, ms: int) -> int:
    return int(server_ms(admin)) + ms


def member(number: int) -> bytes:
    return wrap(Envelope.CURRENT, number.to_bytes(8, "big"), b"order-%d" % number)


def watches(admin: Any) -> bool:
    """Whether a client is subscribed to both channels."""
    return all(count == 1 for _, count in admin.pubsub_numsub(KEYS.channel, KEYSPACE_CHANNEL))


def test_an_entry_that_nobody_announced_is_delivered(flavour: Flavour, url: str, events: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), wakeups="keyspace", probe_interval=HOUR) as client:
        queue = moving(client.blocking_queue("orders"))
        eventually(lambda: watches(events))
        for number, add in enumerate(("zadd", "zincrby", "rename", "restore")):
            events.rpush(KEYS.envelopes, member(number))
            due = due_in(events, 30)
            if add == "zadd":
                events.zadd(KEYS.timeout, {member(number): due})
            elif add == "zincrby":
                events.zincrby(KEYS.timeout, due, member(number))
            else:
                events.zadd("elsewhere", {member(number): due})
                if add == "rename":
                    events.rename("elsewhere", KEYS.timeout)
                else:
                    events.restore(KEYS.timeout, 0, events.dump("elsewhere"))
            assert queue.poll(timeout=PATIENCE) == f"order-{number}"


def test_without_the_option_it_waits_for_the_probe(flavour: Flavour, url: str, events: Any) -> None:
    before = scripts_run(events)
    with flavour.connect(url, codec=StringCodec(), probe_interval=HOUR) as client:
        queue = moving(client.blocking_queue("orders"))
        # The first transfer would find the entry.
        eventually(lambda: scripts_run(events) > before)
        events.rpush(KEYS.envelopes, member(1))
        events.zadd(KEYS.timeout, {member(1): due_in(events, 0)})
        assert queue.poll(timeout=0.6) is None
        assert events.pubsub_numsub(KEYSPACE_CHANNEL)[0][1] == 0


def test_a_storm_of_events_leads_to_fewer_looks(flavour: Flavour, url: str, events: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), wakeups="keyspace", probe_interval=HOUR) as client:
        queue = moving(client.blocking_queue("orders"))
        eventually(lambda: watches(events))
        looks = events.info("commandstats").get("cmdstat_zrange", {"calls": 0})["calls"]
        with events.pipeline(transaction=True) as pipe:
            for number in range(2000):
                pipe.rpush(KEYS.envelopes, member(number))
                pipe.zadd(KEYS.timeout, {member(number): due_in(events, 50) if number == 1999 else 10**14})
            pipe.execute()
        assert queue.poll(timeout=PATIENCE) == "order-1999"
        assert events.info("commandstats")["cmdstat_zrange"]["calls"] - looks < 1000


def test_a_queue_that_is_closed_is_not_watched_any_more(flavour: Flavour, url: str, events: Any) -> None:
    with flavour.connect(url, wakeups="keyspace") as client:
        queue = moving(client.blocking_queue("orders"))
        eventually(lambda: watches(events))
        queue.destroy()
        eventually(lambda: events.pubsub_numsub(KEYSPACE_CHANNEL)[0][1] == 0)
        assert client.blocking_queue("orders").is_empty()


def test_another_database_has_other_events(flavour: Flavour, url: str, events: Any) -> None:
    with flavour.connect(url.removesuffix("/0") + "/3", wakeups="keyspace") as client:
        client.blocking_queue("orders").start_moving()
        eventually(lambda: events.pubsub_numsub(f"__keyspace@3__:{KEYS.timeout}")[0][1] == 1)


@pytest.mark.parametrize("flags", ["", "Ez", "Kl"])
def test_a_server_that_sends_no_events_is_named(flavour: Flavour, url: str, admin: Any, flags: str) -> None:
    admin.config_set("notify-keyspace-events", flags)
    try:
        with pytest.raises(ServerSettingError, match="CONFIG SET notify-keyspace-events"):
            flavour.connect(url, wakeups="keyspace")
    finally:
        admin.config_set("notify-keyspace-events", "")


def test_where_config_is_forbidden_it_is_tried_all_the_same(
    flavour: Flavour, server: EmbeddedServer, events: Any, caplog: pytest.LogCaptureFixture
) -> None:
    events.acl_setuser("guest", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-config"])
    try:
        guest = server.url.replace("redis://", "redis://guest:x@")
        with (
            caplog.at_level(logging.WARNING, "redisson_dq"),
            flavour.connect(guest, codec=StringCodec(), wakeups="keyspace", probe_interval=HOUR) as client,
        ):
            queue = moving(client.blocking_queue("orders"))
            eventually(lambda: watches(events))
            assert "cannot check whether the server publishes keyspace events" in caplog.text
            events.rpush(KEYS.envelopes, member(1))
            events.zadd(KEYS.timeout, {member(1): due_in(events, 20)})
            assert queue.poll(timeout=PATIENCE) == "order-1"
    finally:
        events.acl_deluser("guest")


def test_only_two_kinds_of_wakeups_exist(flavour: Flavour, url: str) -> None:
    with pytest.raises(ArgumentError, match="wakeups= must be 'channel' or 'keyspace', not 'polling'"):
        flavour.connect(url, wakeups="polling")
