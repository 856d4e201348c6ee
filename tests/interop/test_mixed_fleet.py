"""Old and new Redisson on one queue: Python reads both envelopes and writes either."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import redis

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import HOUR, NO_PROBE, Taker, entries, waiting
from tests.interop.values import KRYO5
from tests.peer import VERSIONS, from_json

CURRENT, LEGACY = VERSIONS[0], VERSIONS[-1]
HOUR_MS = int(HOUR * 1000)


def _let_pass(admin: redis.Redis, queue: str, elapsed_ms: int) -> None:
    """What a passing hour does to the scores, at once."""
    for member, score in entries(admin, queue):
        admin.zadd(QueueKeys.of(queue).timeout, {member: score - elapsed_ms}, xx=True)


def test_python_delivers_what_old_and_new_redisson_offer(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    each = 150
    # Neither Redisson can move the other's entries: one stops for good, the other delivers what stands before them
    # again and again. So both offer only, and their clients are closed long before anything is due.
    for version, parity in ((CURRENT, 0), (LEGACY, 1)):
        producer = java(redis7.url, version=version)
        producer.offer_all((2 * number + parity, HOUR_MS + 10 * number) for number in range(each))
        producer.close()
    overhead = {len(member) - len(unwrap(member)[1]) for member, _ in entries(look, queue)}
    assert overhead == {16, 17}, "both envelopes wait in the queue"

    # Overdue, due now, and due while the consumer waits: some hundred milliseconds around this moment.
    _let_pass(look, queue, HOUR_MS + 5 * each)
    in_order = [Kryo5Codec().decode(unwrap(member)[1]) for member, _ in entries(look, queue)]
    with flavour.connect(redis7.url, probe_interval=NO_PROBE) as client:
        taker = Taker(client.blocking_queue(queue))
        taker.wait_for(2 * each)

    taken = taker.ended()
    assert taken == in_order
    assert sorted(taken) == list(range(2 * each))
    assert look.keys("*") == []


@pytest.mark.parametrize("version", [LEGACY, CURRENT])
def test_redisson_delivers_what_python_offers_in_its_envelope(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    consumer = java(redis7.url, version=version)
    consumer.call("open_delayed")
    keys = QueueKeys.of(queue)
    eventually(lambda: dict(look.pubsub_numsub(keys.channel))[keys.channel.encode()] == 1)
    envelope = "legacy" if version == LEGACY else "current"
    with flavour.connect(redis7.url, envelope=envelope) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        for value in KRYO5.values():
            delayed.offer(value, delay=0.05)
        # Its consumers take them in the order of the offers, so each is known by its place.
        taken = [consumer.submit("take").result(PATIENCE) for _ in KRYO5]

    assert [from_json(value) for value in taken] == list(KRYO5.values())
    assert waiting(look, queue) == 0


@pytest.mark.parametrize("version", [LEGACY, CURRENT])
def test_both_write_the_same_envelope(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    legacy = version == LEGACY
    producer = java(redis7.url, version=version)
    expected = []
    with flavour.connect(redis7.url, envelope="legacy" if legacy else "current") as client:
        delayed = client.delayed_queue(queue, transfer=False)
        for value in KRYO5.values():
            delayed.offer(value, delay=HOUR)
            producer.offer(value, HOUR_MS)
            expected += [value, value]

        members: list[Any] = look.lrange(QueueKeys.of(queue).envelopes, 0, -1)
        assert [(value, type(value)) for value in delayed.read_all()] == [(value, type(value)) for value in expected]
    assert [from_json(value) for value in producer.delayed("read_all")] == expected

    assert len(members) == 2 * len(KRYO5)
    head, rest = (0, 8) if legacy else (1, 9)
    for ours, theirs in zip(members[::2], members[1::2], strict=True):
        assert ours[:head] == theirs[:head]
        assert ours[head:rest] != theirs[head:rest], "the id is what may differ"
        assert ours[rest:] == theirs[rest:]
        assert struct.unpack_from("<Q", ours, rest) == (len(ours) - rest - 8,)
    ids = [member[head:rest] for member in members]
    assert len(set(ids)) == len(ids)
    assert sorted(member for member, _ in entries(look, queue)) == sorted(members)
