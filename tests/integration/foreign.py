"""A queue with something in each of its keys, a call of each script on it, and bytes that this library never writes."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable
from typing import Any

import attrs

from redisson_dq.calls import walks
from redisson_dq.calls.items import Target, find_item
from redisson_dq.calls.leases import dead_letters
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls.base import call, call_on
from redisson_dq.wire.calls.mending import Aside, Met
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import PREFIXES, DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.request import Request
from tests.unit.test_scripts import REQUESTS

__all__ = [
    *("GARBAGE", "KEYS", "LEASES", "OWN", "SOURCE"),
    *("name_of", "play_main_job", "plant", "requests", "run", "state_of", "there"),
]

KEYS = QueueKeys.of("orders")
DEAD = DeadKeys.belonging_to("orders")
LEASES = LeaseKeys(queue=KEYS, dead=DEAD, bounded=True)
CURRENT = Envelope.CURRENT
HOUR_US = 3_600_000_000
SOURCE = LeaseSource(LEASES, CURRENT, HOUR_US, 10)
LIMIT = b"L" * 16
NAMED = Target(given_id="named")


def digest(value: bytes) -> str:
    return hashlib.sha1(value).hexdigest()[:32]


#: The keys that only this library writes, and the string of a bounded queue.
OWN = {
    **{name: kind for name, (_, kind) in PREFIXES.items() if name not in ("timeout", "envelopes", "channel")},
    "dead": "list",
    "dead_info": "hash",
    "dead_index": "zset",
}


def name_of(key: str) -> str:
    return str(getattr(DEAD, key) if key.startswith("dead") else getattr(KEYS, key))


def run(admin: Any, request: Request[Any]) -> Any:
    """The result of a request, made from Redis's reply by its function."""
    if request.script is None:
        return request.parse(admin.execute_command(*request.words))
    reply = admin.eval(request.script.source, *map(_word, request.words))
    return request.parse(reply[3] if request.script.announces else reply)


def _word(word: Any) -> Any:
    return word if isinstance(word, (str, bytes, int)) else str(word)


def _leased(admin: Any, visible_us: int = HOUR_US) -> list[bytes]:
    return [each.id for each in run(admin, attrs.evolve(SOURCE, visible_us=visible_us).receive(1))]


def there(admin: Any) -> dict[bytes, bytes]:
    """Makes a queue with something in each of its keys. Returns ids of leases, entries and scores by their values."""
    ready = KEYS.ready
    leased: dict[bytes, bytes] = {}
    run(admin, call("set_capacity", KEYS, (100,), bool))
    run(admin, call("set_history", KEYS, (1000, HOUR_US // 1000), int))
    for value in (b"acked", b"held", b"failed", b"rejected", b"named", b"again"):
        if value == b"named":
            run(admin, _offer_named("0", value, b"named"))
            run(admin, _offer_named(str(HOUR_US), b"waits", b"waits"))
            # The item is due within a millisecond.
            while not admin.llen(ready):
                run(admin, calls.transfer(KEYS, 100, 1000, "client", cluster=False))
        else:
            admin.rpush(ready, value)
        ids = _leased(admin)
        assert len(ids) == 1
        leased[value] = ids[0]
    run(admin, calls.give_back(LEASES, CURRENT, [leased[b"failed"]], counted=True, reason="broken"))
    run(admin, calls.give_back(LEASES, CURRENT, [leased[b"again"]], counted=True, delay_us=HOUR_US))
    run(admin, call("reject", LEASES, ("broken", LEASES.word, leased[b"rejected"]), list))
    # Two values of one key, and a limit of one slot.
    values = [b"first", b"second", b"third"]
    admin.rpush(ready, *values)
    seen = [
        calls.Seen(digest=digest(value), key=b"K" * 16, limit=1, unique=bytes([i]) * 16, unique_us=HOUR_US)
        for i, value in enumerate([b"failed", *values])
    ]
    limits = [calls.LimitWords(id=LIMIT, slots=1, tokens=5, per_us=HOUR_US, size=5)]
    run(admin, SOURCE.admit(5, limits, seen))
    # Another client makes it ready again at once, so it comes after everything that has an order.
    admin.lpush(ready, b"crashed")
    (leased[b"crashed"],) = _leased(admin, 1000)
    run(admin, call("offer", KEYS, ("current", "0", b"due"), list))
    run(admin, call("offer", KEYS, ("current", str(HOUR_US), b"later"), list))
    run(admin, call("offer", KEYS, ("lean", str(HOUR_US), b"lean"), list))
    run(admin, call("offer_in_context", KEYS, ("current", b'{"trace": "7"}', struct.pack("<d", 3600.0), b"told"), list))
    run(admin, call("recur", KEYS, ("current", "daily", '{"v":1}', b"daily", 5, "", 0), list))
    admin.rpush(KEYS.arrivals, "arrived")
    admin.rpush(KEYS.undecodable, "undecodable")
    admin.rpush(KEYS.expired, "5 late")
    admin.rpush(KEYS.quarantine, "5 unknown")
    admin.zadd(KEYS.handled, {b"H" * 16: 5})
    admin.zadd(KEYS.newer, {b"\x0c" + b"i" * 12 + b"\x01\0\0\0\0\0\0\0v": 5})
    admin.hset(KEYS.settings, mapping={"max_size": 100_000, "expired": 1})
    run(admin, calls.put_back(KEYS, b"nonce", b"", "last", [b"back"]))
    # That of the offers ends within a second.
    admin.delete(KEYS.alarm)
    admin.hset(KEYS.alarm, mapping={"at": 5, "known": 5})
    admin.set(KEYS.mover, "other 5 5")
    admin.set(KEYS.fence, "1")
    admin.hset(KEYS.migrating, "held m b i", "{}")
    for member, score in admin.zrange(KEYS.timeout, 0, -1, withscores=True):
        for value in _WAITING:
            if member.endswith(value):
                leased[value], leased[b"score of " + value] = member, b"%d" % score
    for key in OWN:
        assert admin.exists(name_of(key)), key
    return leased


def _offer_named(due: str, value: bytes, name: bytes) -> Request[Any]:
    key, remember_ms = b"i" + name, HOUR_US // 1000
    args = "current", due, value, key, "keep", "", HOUR_US, remember_ms, b""
    return call("offer_item", LEASES, args, list)


def state_of(admin: Any) -> dict[bytes, bytes]:
    return {key: admin.dump(key) for key in admin.keys("*")}


_IDS = (b"acked", b"held", b"named", b"failed", b"rejected")
_WAITING = (b"later", b"lean")


def requests(leased: dict[bytes, bytes]) -> dict[str, Request[Any]]:
    """For each script, a call that finds something to do in the queue of :func:`there`, whose result is the argument.

    A script that is not listed is called as in the test of the headers.
    """
    acked, held, named, failed, rejected = (leased.get(each, b"0" * 10) for each in _IDS)
    met = [
        Met(
            member=leased.get(each) or wrap(CURRENT, b"12345678", each),
            score=leased.get(b"score of " + each, b""),
            place=-2,
        )
        for each in _WAITING
    ]
    due = calls.DueRange(since_ms=None, until_ms=None, offset=0, limit=9)
    two = {KEYS.ready: "list", "{orders}:bills": "list"}
    every = {name_of(key): kind for key, kind in OWN.items()}
    seen = [
        calls.Seen(digest=digest(value), key=b"K" * 16, limit=1) for value in (b"arrived", b"failed", b"first", b"back")
    ]
    limits = [calls.LimitWords(id=LIMIT, slots=1, tokens=5, per_us=HOUR_US, size=5)]
    return {
        **REQUESTS,
        "ack": call("ack", LEASES, (LEASES.word, acked, named), list),
        "ack_and_receive": SOURCE.ack_and_receive([acked], 5)[0],
        "admit": SOURCE.admit(5, limits, seen),
        "advance": call("advance", KEYS, ("current", "daily", '{"v":1}', 5, 6, "", 0, 0, 0), list),
        "browse_dead": calls.browse_dead(LEASES, 0, 9, 256),
        "browse_held": calls.browse_held(KEYS, None, 9, 256),
        "browse_list": calls.browse_list(KEYS.quarantine, 0, 9, 256),
        "browse_parked": calls.browse_parked(KEYS, None, 9, 256),
        "browse_waiting": calls.browse_waiting(KEYS, None, 9, 256),
        "cancel": call("cancel", LEASES, (*NAMED.words(), 1000), bytes),
        "contains": walks.contains(KEYS, [b"later"], b""),
        "copy": call_on("copy", two, ("replace", ""), bool),
        "dead_letters": dead_letters(LEASES, 0, 9),
        "due_spans": calls.due_spans(KEYS, [1_700_000_000_000, 1_900_000_060_000], shown=100, head=256),
        "dump": call_on("dump", every, (), list),
        "exchange": calls.exchange({KEYS.ready: "list"}, [[("-l", KEYS.ready, b"back", b"")]]),
        "expire": call_on("expire", every, ("in", 500_000, "always"), bool),
        "extend": call("extend", LEASES, (HOUR_US, "", held, named), list),
        "find_item": find_item(LEASES, NAMED),
        "give_back": calls.give_back(LEASES, CURRENT, [held, named], counted=True, limit=9, nonce=b"givenback"),
        "hold": call("hold", LEASES, ("first", held), list),
        "lease_due": SOURCE.lease_due(due, 1000),
        "memory": call_on("memory", every, (), int),
        "mend": calls.mend(LEASES, b"mendthis", "by", 5000, 1000, met),
        "mend_ack": calls.mend_ack(LEASES, b"mendacks", [acked, named]),
        "mend_aside": calls.mend_aside(
            LEASES, b"mendside", "dead", "redrive", 1000, [Aside(element=b"rejected", id=rejected)]
        ),
        "mend_find": calls.mend_find(LEASES, NAMED.words(), 1000),
        "mend_letters": calls.mend_letters(LEASES, [(digest(b"rejected"), 0)]),
        "move": _when_full(commands.move(KEYS.ready, "{orders}:bills", "first", "last")),
        "move_bounded": call(
            "move_bounded", KEYS, ("RIGHT", "LEFT"), lambda reply: reply, destination="{orders}:bills"
        ),
        "offer": call("offer", KEYS, ("current", "5", b"value"), list),
        "offer_all": call("offer_all", KEYS, ("current", struct.pack("<d", 5.0), b"value"), list),
        "offer_in_context": call("offer_in_context", KEYS, ("current", b"{}", struct.pack("<d", 5.0), b"value"), list),
        "offer_item": _offer_named("5", b"value", b"waits"),
        "page": calls.page(KEYS.leases, None, 5),
        "persist": call_on("persist", every, (), bool),
        "poll_last_to": call("poll_last_to", KEYS, (), list, destination="{orders}:bills"),
        "push": _when_full(commands.set_aside(KEYS.undecodable, [b"value"])),
        "put_back": calls.put_back(KEYS, b"putback1", b"", "first", [b"value"]),
        "put_back_bounded": calls.put_back(KEYS, b"putback2", b"", "first", [b"value"], bounded=True),
        "receive": SOURCE.receive(5),
        "recur": call("recur", KEYS, ("current", "daily", '{"v":1}', b"value", 5, "", 0), list),
        "redrive": call("redrive", LEASES, ("all", 5), list),
        "reject": call("reject", LEASES, ("why", LEASES.word, held, named), list),
        "release": calls.release(KEYS, b"released", b"", 1),
        "remove": walks.remove(KEYS, "first", [b"later"], 1000, b""),
        "remove_ready": call("remove_ready", KEYS, ("all", 1000, b"back"), int),
        "rename": call_on("rename", two, ("always", ""), int),
        "reschedule": call("reschedule", LEASES, (*NAMED.words(), "5", 1000, "lean"), list),
        "restore": call_on("restore", {KEYS.ready: "list"}, ("replace", 0, "", _dump_of_one()), bool),
        "run_command": calls.run_command(commands.length_of(KEYS.ready)),
        "set_history": call("set_history", KEYS, (5, 1000), int),
        "take_bounded": call("take_bounded", KEYS, ("poll", 0, 5), list),
        "take_due": call("take_due", KEYS, (*due.words, 1000), list),
        "time_to_live": call_on("time_to_live", every, (), list),
        "transfer": calls.transfer(KEYS, 100, 1000, "client", cluster=False),
        "unmend": calls.unmend(KEYS, b"unmended", "cancel", 1000, [(met[0], "")]),
        "unmend_aside": calls.unmend_aside(
            LEASES, b"unasided", "dead", "redrive", [Aside(element=b"failed", id=failed)]
        ),
        "unrelease": calls.unrelease(KEYS, b"unleased", [(failed, 2_000_000_000_000, b"", b"failed")]),
    }


def _when_full(request: Request[Any]) -> Request[Any]:
    assert request.when_full is not None
    return request.when_full


def _dump_of_one() -> bytes:
    # What DUMP of Redis 7.0 gives for a list with the element "a".
    return b"\x12\x01\x02\n\n\x00\x00\x00\x01\x00\x81a\x02\xff\n\x00\t\xb9\xed\xf5\x94\xde\xd9\x95"


# -- garbage ---------------------------------------------------------------------------------------------------------

#: By name: foreign bytes in place of ours, made from the original bytes.
GARBAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda known: b"",
    "256 bytes": lambda known: b"x" * 256,
    "a megabyte": lambda known: b"x" * 1_000_000,
    "NUL bytes": lambda known: b"\0" * 41,
    "a number": lambda known: b"17",
    "not a number": lambda known: b"nan",
    "infinite": lambda known: b"inf",
    "negative": lambda known: b"-5",
    "too many digits": lambda known: re.sub(rb"\d+", b"9" * 400, known) or b"9" * 400,
    "cut": lambda known: known[: len(known) // 2],
    "another encoding": lambda known: known.decode("latin-1").encode("utf-16"),
    "a newer form": lambda known: b"v" + b"9" * 5000 + b" " + known,
    "longer": lambda known: known + b" 1 \xff\xfe{",
}
SCORES: tuple[float, ...] = (1, -1, float("inf"), float("-inf"), 1.5, 1e300)


def plant(admin: Any, key: str, kind: str) -> None:
    """Puts garbage into a key of ours: in place of its content and beside it."""
    name, made = name_of(key), GARBAGE[kind]
    type_ = OWN[key]
    if type_ == "string":
        admin.set(name, made(admin.get(name) or b"5"))
    elif type_ == "hash":
        before = admin.hgetall(name)
        for field, text in before.items():
            admin.hset(name, field, made(text))
            admin.hset(name, made(field), made(text))
        admin.hset(name, made(b"e12345678"), made(b"5"))
    elif type_ == "zset":
        members = admin.zrange(name, 0, -1)
        for number, member in enumerate(members):
            text = made(member)
            admin.zadd(name, {text: SCORES[(number + len(text)) % len(SCORES)]})
            admin.zadd(name, {text + bytes([number, place]): score for place, score in enumerate(SCORES)})
    elif type_ == "stream":
        for _, fields in admin.xrange(name):
            admin.xadd(
                name, {made(field): made(text) for field, text in fields.items()} | {made(b"e"): made(b"offered")}
            )
        if kind in ("infinite", "too many digits"):
            # No later event has an id.
            admin.xadd(name, {"e": "offered"}, id="18446744073709551615-18446744073709551615")
    else:
        elements = admin.lrange(name, 0, -1)
        admin.rpush(name, *map(made, elements))
        admin.lpush(name, *map(made, elements))


def play_main_job(admin: Any) -> None:
    """Offers a value, moves it, receives and acks it, and takes another one, after everything in front of them."""
    admin.hdel(KEYS.settings, "paused")
    run(admin, call("offer", KEYS, ("current", "0", b"main job"), list))
    got: dict[bytes, bytes] = {}
    for _ in range(50):
        if b"main job" in got:
            break
        run(admin, calls.transfer(KEYS, 100, 1000, "client", cluster=False))
        got.update({each.data: each.id for each in run(admin, attrs.evolve(SOURCE, limit=0).receive(1000))})
    assert b"main job" in got
    assert run(admin, call("ack", LEASES, (LEASES.word, got[b"main job"]), list))[1] == [b"acked"]
    admin.rpush(KEYS.ready, "taken")
    assert b"taken" in run(admin, call("take_bounded", KEYS, ("poll", 0, 1000), list))
