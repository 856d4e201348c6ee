"""A queue of Redisson's as ``inspect`` shows it: its counts, its listeners, and the formats of its entries."""

from __future__ import annotations

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.test_take_due_peer import ENVELOPES, versions


@versions
def test_a_queue_that_only_java_uses(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    producer = java(redis7.url, version=version)
    producer.offer_all([("later", 3_600_000), ("latest", 7_200_000)])
    producer.call("open_delayed")
    producer.invoke("queue", "add", "now")
    with flavour.connect(redis7.url) as client:
        found = eventually(lambda: (found := client.inspect(queue)).subscribers == 1 and found)
        assert (found.ready, found.waiting, found.mirrored, found.overdue) == (1, 2, 2, 0)
        assert found.mirrored == producer.invoke("delayed", "size")
        assert found.entry_kinds == (ENVELOPES[version],)
        assert (found.mover, found.wrong_types) == (None, ())
        assert {key.key for key in found.keys} == {queue, QueueKeys.of(queue).timeout, QueueKeys.of(queue).envelopes}


@versions
def test_the_figures_and_the_name_of_a_queue_of_java(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    producer = java(redis7.url, version=version)
    producer.offer_all([("later", 3_600_000), ("latest", 7_200_000)])
    producer.invoke("queue", "add", "now")
    with flavour.connect(redis7.url, codec=StringCodec()) as client:
        client.delayed_queue(queue, transfer=False, lean=True).offer_all([("lean", 0), ("lean", 3600)])
        # Java has opened nothing that moves, so what is due stays.
        found = eventually(lambda: (found := client.stats(queue)[queue]).overdue == 1 and found)
        assert (found.ready, found.waiting, found.lean) == (1, 4, 2)
        assert found.waiting - found.lean == producer.invoke("delayed", "size")
        assert found.oldest_overdue == found.next_due < found.server_time
        assert list(client.queue_names(queue)) == [queue]
        look.delete(QueueKeys.of(queue).timeout, QueueKeys.of(queue).envelopes)
        # Nothing tells a list of values from any other, but for the clients that have it open.
        assert list(client.queue_names(queue)) == []
        producer.call("open_delayed")
        assert eventually(lambda: list(client.queue_names(queue))) == [queue]


@pytest.mark.parametrize("version", list(ENVELOPES)[:1])
def test_a_queue_with_writers_of_both_formats(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    java(redis7.url, version=version).offer("current", 3_600_000)
    with flavour.connect(redis7.url, envelope="legacy") as client:
        client.delayed_queue(queue, transfer=False).offer("legacy", 7200)
        found = client.inspect(queue)
        assert found.entry_kinds == ("current", "legacy")
        assert found.waiting == 2
