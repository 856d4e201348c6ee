"""An unannounced entry at the head of a queue delays no other item."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.scripts.script import load, names
from redisson_dq.wire import calls
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.calls.mending import Aside, Met
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.request import Request
from tests.conftest import PATIENCE, eventually, thinned
from tests.faults.test_unheard_channels import NEVER, WAYS
from tests.flavours import Flavour
from tests.integration.foreign import CURRENT, HOUR_US, KEYS, LEASES, SOURCE, requests, run, there

#: Ways to put an entry in without a message, as a user does who may not publish. Each gets its due time in epoch ms.
HEADS: dict[str, Callable[[Any, int], object]] = {
    "garbage": lambda admin, at_ms: admin.zadd(KEYS.timeout, {"garbage": at_ms}),
    "infinite": lambda admin, at_ms: admin.zadd(
        KEYS.timeout, {"garbage": at_ms if at_ms > now_ms() else float("-inf")}
    ),
    "entry": lambda admin, at_ms: put_in(admin, at_ms),
}
#: Overdue for long, just now, and while the other item waits.
SINCE_MS = (-(10**12), -2, 60)


def now_ms() -> int:
    return int(time.time() * 1000)


def put_in(admin: Any, at_ms: int) -> None:
    member = wrap(Envelope.CURRENT, b"\xff" * 8, b"masks")
    admin.zadd(KEYS.timeout, {member: max(0, at_ms)})
    admin.rpush(KEYS.envelopes, member)


@pytest.mark.parametrize(("way", "head", "since_ms"), thinned(sorted(WAYS.keys() - {"rename"}), HEADS, SINCE_MS, of=6))
def test_a_client_keeps_the_times_that_it_has_put_in(
    flavour: Flavour, url: str, admin: redis.Redis, way: str, head: str, since_ms: int
) -> None:
    with flavour.connect(url, codec=StringCodec(), probe_interval=NEVER) as client:
        delayed = client.delayed_queue("orders")
        delayed.start_moving()
        eventually(lambda: client.health().subscribed)
        HEADS[head](admin, now_ms() + since_ms)
        WAYS[way](client, delayed)
        queue, got = client.blocking_queue("orders"), set()
        while "x" not in got:
            value = queue.poll(timeout=PATIENCE)
            assert value is not None
            got.add(value)


FAR = 4_000_000_000_000
ASIDE = b"%d " % FAR + wrap(CURRENT, b"12345678", b"was aside")
TABLE: dict[str, Callable[[dict[bytes, bytes]], Request[Any]]] = {
    "ack_and_receive": lambda leased: SOURCE.ack_and_receive([leased[b"held"]], 5)[0],
    "admit": lambda leased: requests(leased)["admit"],
    "advance": lambda leased: call("advance", KEYS, ("current", "daily", '{"v":1}', 5, FAR, "", 0, 0, 0), list),
    "extend": lambda leased: call("extend", LEASES, (HOUR_US // 2, "", leased[b"held"]), list),
    "give_back": lambda leased: calls.give_back(LEASES, CURRENT, [leased[b"held"]], counted=True, delay_us=HOUR_US),
    "lease_due": lambda leased: requests(leased)["lease_due"],
    "mend": lambda leased: requests(leased)["mend"],
    "mend_aside": lambda leased: calls.mend_aside(
        LEASES, b"mendside", "quarantine", "redrive", 1000, [Aside(element=ASIDE, id=b"")]
    ),
    "offer": lambda leased: call("offer", KEYS, ("current", str(HOUR_US), b"value"), list),
    "offer_all": lambda leased: call("offer_all", KEYS, ("current", struct.pack("<d", 3600), b"value"), list),
    "offer_in_context": lambda leased: call(
        "offer_in_context", KEYS, ("current", b"{}", struct.pack("<d", 3600), b"value"), list
    ),
    "offer_item": lambda leased: call(
        "offer_item", LEASES, ("current", str(HOUR_US), b"value", b"iother", "keep", "", 0, 1000, b""), list
    ),
    "receive": lambda leased: requests(leased)["receive"],
    "recur": lambda leased: call("recur", KEYS, ("current", "daily", '{"v":2}', b"value", FAR, "", 0), list),
    "reschedule": lambda leased: call("reschedule", LEASES, ("iwaits", b"", "", f"@{FAR}", 1000, "lean"), list),
    "unmend": lambda leased: calls.unmend(
        KEYS, b"unmended", "cancel", 1000, [(Met(member=ASIDE[14:], score=b"%d" % FAR, place=-1), "")]
    ),
    "unrelease": lambda leased: calls.unrelease(KEYS, b"unleased", [(leased[b"failed"], FAR, b"", b"more")]),
}
#: These do nothing where values have keys or limits, or were received before.
ALONE = ("ack_and_receive", "unrelease")


def told_by(admin: Any, request: Request[Any]) -> tuple[list[bytes], bytes]:
    """The messages of a call on the queue's channel, and the due time that its reply tells the caller."""
    assert request.script is not None
    with admin.pubsub() as listener:
        listener.subscribe(KEYS.channel)
        assert listener.get_message(timeout=PATIENCE)["type"] == "subscribe"
        reply = admin.eval(request.script.source, *map(str_or_bytes, request.words))
        admin.publish(KEYS.channel, "end")
        told: list[bytes] = []
        while True:
            message = listener.get_message(timeout=PATIENCE)["data"]
            if message == b"end":
                return [each for each in told if each != b"-1"], reply[2]
            told.append(message)


def str_or_bytes(word: Any) -> Any:
    return word if isinstance(word, (str, bytes, int)) else str(word)


def filled(admin: Any, name: str) -> Request[Any]:
    """The call, in a queue in which it finds something to do and no message was sent lately."""
    if name in ALONE:
        admin.rpush(KEYS.ready, "held", "more", "failed")
        held, failed = (run(admin, SOURCE.receive(1))[0].id for _ in range(2))
        leased = {b"held": held, b"failed": failed}
        if name == "unrelease":
            run(admin, calls.give_back(LEASES, CURRENT, [failed], counted=True))
    else:
        leased = there(admin)
    admin.rpush(KEYS.quarantine, ASIDE)
    admin.delete(KEYS.alarm)
    return TABLE[name](leased)


def test_each_script_that_puts_something_in_is_here() -> None:
    assert [name for name in names() if "head" in load(name).includes] == sorted(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_script_announces_an_overdue_head_and_tells_its_caller_the_rest(admin: Any, name: str) -> None:
    request = filled(admin, name)
    admin.zadd(KEYS.timeout, {"garbage": 1})
    messages, untold = told_by(admin, request)
    # It has set the entry aside itself.
    assert messages == ([] if name == "lease_due" else [b"1"])
    assert int(untold) > now_ms()


def test_a_caller_without_the_right_to_publish_hears_it_by_the_reply(admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "mute", "reset", "on", ">secret", "~*", "+@all", "resetchannels")
    settings = admin.connection_pool.connection_kwargs
    request = TABLE["offer"]({})
    with redis.Redis(host=settings["host"], port=settings["port"], username="mute", password="secret") as mute:
        assert request.script is not None
        reply: Any = mute.eval(request.script.source, *map(str_or_bytes, request.words))
    admin.execute_command("ACL", "DELUSER", "mute")
    refusal, channel, untold, _ = reply
    assert refusal.startswith(b"NOPERM") or b"can't" in refusal or b"ACL failure" in refusal
    assert channel == KEYS.channel.encode()
    assert int(untold) > now_ms()


def test_an_overdue_head_is_announced_again_after_a_second_or_a_transfer(admin: Any) -> None:
    offer = call("offer", KEYS, ("current", str(HOUR_US), b"value"), list)
    admin.zadd(KEYS.timeout, {"garbage": 1})
    assert told_by(admin, offer)[0] == [b"1"]
    assert 0 < admin.pttl(KEYS.alarm) <= 1000
    assert told_by(admin, offer)[0] == []
    run(admin, calls.transfer(KEYS, 100, 1000, "client", cluster=False))
    admin.zadd(KEYS.timeout, {"garbage": 1})
    assert told_by(admin, offer)[0] == [b"1"]
    admin.hset(KEYS.alarm, "told", now_ms() - 1001)
    assert told_by(admin, offer)[0] == [b"1"]
