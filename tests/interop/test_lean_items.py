"""Lean offers in a fleet with Redisson. Redisson delivers them. Its calls that read the list of envelopes do not see
them.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.items import Outcome
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import NEWEST_BY_DAY, OpenJava
from tests.interop.java_args import int_, long, string, unit, values
from tests.interop.sides import HOUR, server_ms

#: Redissons that read the current format.
versions = pytest.mark.parametrize("version", NEWEST_BY_DAY[:-1])


@versions
def test_java_delivers_lean_items_in_due_order(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    consumer = java(redis7.url, version=version)
    keys = QueueKeys.of(queue)
    with flavour.connect(redis7.url) as client:
        lean = client.delayed_queue(queue, transfer=False, lean=True)
        plain = client.delayed_queue(queue, transfer=False)
        start = datetime.fromtimestamp(server_ms(look) // 1000, timezone.utc) - timedelta(seconds=9)
        # More than the hundred that one of its transfers moves.
        for number in range(250):
            lean.offer(f"lean {number}", at=start + timedelta(milliseconds=number))
        for number in range(50):
            plain.offer(f"mirrored {number}", at=start + timedelta(milliseconds=number))
        ids = [lean.offer("own id", 0, id="42"), lean.offer("payload", 0.001, deduplicate_for=HOUR)]
        lean.offer_recurring("tick", "tick", every=0.05)
        eventually(lambda: lean.overdue().count == 303)
        taking = consumer.taking(303)
        consumer.call("open_delayed")
        taken = [item["value"] for item in taking.result(2 * PATIENCE)]
        both = [value for number in range(50) for value in (f"mirrored {number}", f"lean {number}")]
        assert taken[:300] == [*both, *(f"lean {number}" for number in range(50, 250))]
        assert sorted(taken[300:]) == ["own id", "payload", "tick"]
        assert {item.cancel() for item in ids} == {Outcome.DELIVERED}
        assert not look.exists(keys.timeout, keys.envelopes)


@versions
def test_java_sees_mirrored_items_alone(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    peer = java(redis7.url, version=version)

    def call(name: str, *args: Any) -> Any:
        return peer.invoke("delayed", name, *args)

    with flavour.connect(redis7.url) as client:
        lean = client.delayed_queue(queue, transfer=False, lean=True)
        lean.offer_all([("a", HOUR), ("b", 2 * HOUR)])
        assert (call("size"), call("isEmpty"), call("readAll"), call("peek"), call("poll")) == (0, True, [], None, None)
        assert (call("contains", "a"), call("containsAll", values(["a"])), call("iterator")) == (False, False, [])
        assert (call("remove", "a"), call("removeAll", values(["a", "b"])), call("poll", int_(5))) == (False, False, [])
        assert call("pollLastAndOfferFirstTo", string(queue)) is None
        assert lean.read_all() == ["a", "b"]

        call("offer", "java", long(3), unit("HOURS"))
        assert (call("size"), call("readAll"), lean.size(), lean.read_all()) == (1, ["java"], 3, ["java", "a", "b"])
        assert [item.value for item in lean.items()] == ["a", "b", "java"]
        call("retainAll", values(["other"]))
        assert (call("size"), lean.size(), lean.contains("java")) == (0, 3, True)
        assert lean.read_all() == ["a", "b", "java"], "it will be delivered, so it is there"
        assert call("delete") is True
        assert look.keys() == []


@versions
def test_java_hears_of_a_lean_head(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, version: str
) -> None:
    consumer = java(redis7.url, version=version)
    taking = consumer.taking(2)
    consumer.call("open_delayed")
    eventually(lambda: look.pubsub_numsub(QueueKeys.of(queue).channel)[0][1] == 1)
    with flavour.connect(redis7.url) as client:
        lean = client.delayed_queue(queue, transfer=False, lean=True)
        later = lean.offer("rescheduled", HOUR)
        lean.offer("at once", 0.05)
        assert later.reschedule(0.1) is Outcome.RESCHEDULED
        assert [item["value"] for item in taking.result(2 * PATIENCE)] == ["at once", "rescheduled"]
