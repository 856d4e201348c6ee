"""What a live Redisson sees of its own entries, while a mover looks for their places and delivers them call by call."""

from __future__ import annotations

import random
from typing import Any

import pytest

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.integration.movers import Mover
from tests.interop.conftest import EACH_VERSION, OpenJava
from tests.interop.sides import HOUR, open_delayed, server_ms

COUNT = 130


@pytest.mark.parametrize("version", EACH_VERSION)
def test_javas_view_is_right_between_any_two_calls(
    redis7: EmbeddedServer, look: Any, java: OpenJava, queue: str, version: str
) -> None:
    peer, keys, draw = java(redis7.url, version=version, codec="StringCodec"), QueueKeys.of(queue), random.Random(1)
    open_delayed(peer, look)
    peer.offer_all((f"item {number}", int(HOUR * 1000) + number) for number in range(COUNT))
    listed = look.lrange(keys.envelopes, 0, -1)
    # Java is told nothing of that, and does not move them itself.
    now_ms = int(server_ms(look))
    look.zadd(keys.timeout, {member: now_ms - draw.randrange(1000) for member in draw.sample(listed, COUNT - 20)})
    mover = Mover(look, queue=queue)
    waiting, ready = [value(member) for member in listed], []
    while look.zcount(keys.timeout, 0, now_ms):
        due = [value(member) for member in look.zrange(keys.timeout, 0, now_ms, byscore=True)]
        moved = mover.move().moved
        assert len(mover.steps) < COUNT, "it makes no progress"
        ready += due[:moved]
        waiting = [each for each in waiting if each not in due[:moved]]
        assert peer.delayed("size") == len(waiting)
        assert peer.delayed("read_all") == waiting
        assert peer.ready("read_all") == ready
        if moved:
            assert not peer.invoke("delayed", "contains", due[0])
        assert peer.invoke("delayed", "contains", waiting[-1])
        if len(waiting) > 60 and draw.random() < 0.5:
            # Java takes some itself, between the slices of a pass too.
            gone = draw.choice(waiting)
            assert peer.invoke("delayed", "remove", gone) is True
            waiting.remove(gone)
            assert peer.invoke("delayed", "poll") == waiting.pop(0)
    assert len(waiting) <= 20
    assert any(step.isdigit() for step in mover.steps), "a pass in slices was needed"


def value(member: bytes) -> str:
    found = unwrap(member)
    assert found is not None
    return found[1].decode()
