"""Connections are killed, Redis restarts, its scripts are forgotten: what Java offers still reaches Python.

If a connection breaks while the reply to a pop is on its way, the value is lost: it has left Redis, and nobody knows
it. This is what "at most once" means, for Redisson as for us. So where nothing may be lost, the fault comes while no
item is due: some were taken, some wait for their time, some are offered after it. Where items flow while it comes, each
fault may take one item with it, as each consumer has one pop under way; and nothing may be delivered twice.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import NO_PROBE, Java, Taker, waiting
from tests.peer import PeerError

Fault = Callable[[EmbeddedServer, redis.Redis], None]


def kill_connections(server: EmbeddedServer, admin: redis.Redis) -> None:
    """Every one but that of ``admin``: the consumer's, its subscription, and Java's."""
    eventually(lambda: len(admin.client_list(_type="normal")) >= 3 and admin.client_list(_type="pubsub"))
    assert admin.client_kill_filter(_type="normal", skipme=True) >= 2
    assert admin.client_kill_filter(_type="pubsub") >= 1


def restart(server: EmbeddedServer, admin: redis.Redis) -> None:
    """The data is in an append-only file that is synced at every write."""
    pid = server.pid
    server.restart()
    assert server.pid != pid


def flush_scripts(server: EmbeddedServer, admin: redis.Redis) -> None:
    admin.script_flush()


FAULTS = [kill_connections, restart, flush_scripts]


def _answers(java: Java) -> bool:
    try:
        return java.ready("size") is not None
    except PeerError:
        return False


@ONE_FLAVOUR_BY_DAY
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost_when_the_fault_comes_while_nothing_is_due(
    own_server: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, fault: Fault
) -> None:
    producer = java(own_server.url)
    with redis.Redis.from_url(own_server.url) as admin:
        client = flavour.connect(own_server.url, probe_interval=NO_PROBE)
        with client:
            taker = Taker(client.blocking_queue(queue))
            producer.offer_all((number, number % 500) for number in range(400))
            taker.wait_for(400)

            producer.offer_all((number, 4000 + number % 500) for number in range(400, 700))
            fault(own_server, admin)
            assert admin.zcard(QueueKeys.of(queue).timeout) == 300, "the fault came before any of them was due"

            eventually(lambda: _answers(producer))
            producer.offer_all((number, number % 500) for number in range(700, 1000))
            taker.wait_for(1000)
        assert sorted(taker.ended()) == list(range(1000))
        assert waiting(admin, queue) == 0


@pytest.mark.parametrize(("fault", "times"), [(kill_connections, 5), (restart, 2), (flush_scripts, 5)])
def test_nothing_comes_twice_when_the_fault_comes_while_items_flow(
    own_server: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, fault: Fault, times: int
) -> None:
    producer = java(own_server.url)
    with redis.Redis.from_url(own_server.url) as admin:
        producer.offer_all((number, 500 + 2 * number) for number in range(1000))
        producer.close()
        with flavour.connect(own_server.url, probe_interval=NO_PROBE) as client:
            taker = Taker(client.blocking_queue(queue))
            for number in range(times):
                taker.wait_for(150 * (number + 1) - times)
                fault(own_server, admin)
            eventually(lambda: waiting(admin, queue) == 0, within=2 * PATIENCE)
        # One that was popped and found the client closed is back in Redis.
        returned = [Kryo5Codec().decode(data) for data in admin.lrange(queue, 0, -1)]
    seen = [*taker.ended(), *returned]

    assert len(set(seen)) == len(seen)
    lost = set(range(1000)).symmetric_difference(seen)
    # Only a connection that breaks takes a reply with it.
    assert len(lost) <= (0 if fault is flush_scripts else times)


def test_a_head_offered_while_the_subscription_is_down_wakes_python(
    own_server: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    producer = java(own_server.url)
    channel = QueueKeys.of(queue).channel
    with redis.Redis.from_url(own_server.url) as admin:
        with flavour.connect(own_server.url, probe_interval=NO_PROBE) as client:
            taker = Taker(client.blocking_queue(queue))
            for number in range(5):
                eventually(lambda: admin.pubsub_numsub(channel)[0][1] == 1)
                # Unless it is back at once, nobody hears of the offer.
                admin.client_kill_filter(_type="pubsub")
                producer.offer(number, 200)
                taker.wait_for(number + 1)
        assert taker.ended() == list(range(5))


def test_a_closed_consumer_leaves_nothing_behind(
    own_server: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, caplog: pytest.LogCaptureFixture
) -> None:
    with redis.Redis.from_url(own_server.url) as admin:
        for _ in range(20):
            with flavour.connect(own_server.url) as client:
                taker = Taker(client.blocking_queue(queue))
                eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
            assert taker.ended() == []
        eventually(lambda: len(admin.client_list()) == 1)

        survivor = java(own_server.url)
        survivor.call("add", value="not taken by a pop of the dead")
        assert survivor.call("take") == "not taken by a pop of the dead"
    assert [record.getMessage() for record in caplog.records if record.name == "redisson_dq"] == []
