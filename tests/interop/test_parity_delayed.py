"""The delayed side beside Redisson's own: equal calls give equal results and leave equal bytes, and where they do not,
a row with a reason says so. Then both on one queue: each on what the other wrote, calls drawn at random, and all calls
at once against Redisson's transfers."""

from __future__ import annotations

import itertools
import random
import re
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from redisson_dq import DelayedQueue
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, ClosedError, EnvelopeError
from redisson_dq.items import Outcome
from redisson_dq.wire.envelope import unwrap
from tests.conftest import PATIENCE, by_night
from tests.flavours import AsyncioFlavour, Flavour
from tests.interop.conftest import Beside, OpenJava
from tests.interop.java_args import bytes_, duration, instant, int_, long, string, unit, values
from tests.interop.parity import (
    QUEUE,
    Failed,
    JavaSide,
    Pair,
    PythonSide,
    Twins,
    answers,
    differs,
    here,
    redisson,
    same,
    signatures,
    state,
)
from tests.interop.sides import HOUR, server_ms
from tests.peer import PeerError
from tests.versions import NEWEST, OLDEST

HOUR_MS = int(HOUR * 1000)
FAR = datetime(2100, 1, 1, tzinfo=timezone.utc)
FAR_MS = int(FAR.timestamp() * 1000)

OTHER = f"{QUEUE}-b"

#: What the names of keys begin with that Redisson does not have.
OURS = b"redisson_dq_"

#: Redisson's version, and the format of entries that it knows.
CURRENT, LEGACY = (NEWEST, "current"), (OLDEST, "legacy")

formats = pytest.mark.parametrize(("version", "envelope"), [CURRENT, LEGACY], ids=["current", "legacy"])


# -- what stands in Redis --------------------------------------------------------------------------------------------


def element(data: bytes) -> tuple[str, bytes]:
    """An element as it is compared: the format of its envelope, and the value's bytes. The id is left out."""
    try:
        _, value = unwrap(data)
    except EnvelopeError:
        return "bare", data
    return ("current" if len(data) == len(value) + 17 else "legacy"), value


def contents_since(started_ms: int) -> Callable[[redis.Redis, bytes], Any]:
    """Reads a key of a queue: its elements, and in how many hours from the start it vanishes.

    A member of the zset is the hours from the start to its due time, its place among the envelopes, and itself.
    """

    def read(admin: Any, key: bytes) -> Any:
        if OURS in key:
            return None
        at_ms = admin.pexpiretime(key)
        end = "far" if at_ms == FAR_MS else (at_ms - started_ms) // HOUR_MS
        if admin.type(key) == b"list":
            return [element(data) for data in admin.lrange(key, 0, -1)], end
        place = {member: index for index, member in enumerate(admin.lrange(key.replace(b"_timeout", b""), 0, -1))}
        passed_ms = server_ms(admin) - started_ms
        entries = []
        for member, due_ms in admin.zrange(key, 0, -1, withscores=True):
            hours, rest_ms = divmod(due_ms - started_ms, HOUR_MS)
            # Whoever offered it did so since the start. A due time of ours is rounded up to a whole millisecond.
            assert rest_ms <= passed_ms + 1
            entries.append((hours, place.get(member), element(member)))
        # By text, as a place may be missing.
        return sorted(entries, key=repr), end

    return read


def shown(found: dict[str, Any]) -> dict[str, list[Any]]:
    """The values in each key."""
    decode = Kryo5Codec().decode
    return {
        key: [decode((entry[2] if kind == "zset" else entry)[1]) for entry in stands]
        for key, (kind, (stands, _), _) in found.items()
    }


# -- the same calls in both languages --------------------------------------------------------------------------------


class Offer(NamedTuple):
    """An offer on both sides. Java's gives nothing, ours a handle."""

    value: Any
    hours: int


Step = Offer | Pair


def offers(*given: Any) -> list[Step]:
    """Each with a delay of its own: the first is due last."""
    return [Offer(value, len(given) - place) for place, value in enumerate(given)]


class Stage:
    """Two empty queues, one for each language, and what plays steps on both."""

    def __init__(self, java: OpenJava, client: Any, look: redis.Redis, url: str, queue: str, **options: Any) -> None:
        self.java = java(url, queue=f"{queue}-j", **options)
        self.java_beside_us = java(url, queue=f"{queue}-p", **options)
        self.delayed = client.delayed_queue(f"{queue}-p", transfer=False)
        self.ready = client.blocking_queue(f"{queue}-p", transfer=False)
        self.twins = Twins(
            JavaSide(self.java, "delayed", f"{queue}-j"),
            PythonSide(self.delayed, f"{queue}-p"),
            look,
            content=contents_since(int(server_ms(look))),
        )

    def play(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if isinstance(step, Pair):
                self.twins.run(step)
            else:
                arguments = ("delayed", "offer", step.value, long(step.hours), unit("HOURS"))
                self.java.invoke(*arguments)
                if step.value is None:  # Python offers none, and meets those of Java.
                    self.java_beside_us.invoke(*arguments)
                else:
                    self.delayed.offer(step.value, timedelta(hours=step.hours))
                self.same_state()

    def same_state(self) -> None:
        java, python = self.twins.states()
        assert java == python


NESTED = {"order": 42, "lines": [{"sku": "x-1", "price": 0.5}, None, [True, 2**40]], "note": "d\u00e9j\u00e0 vu"}


def poll(*limit: int) -> Pair:
    return same(redisson.poll(*map(int_, limit)), here.poll(*limit))


def one(java: str, value: Any) -> Pair:
    """A call of one value, by the name that Java has for it."""
    return same(getattr(redisson, java)(value), getattr(here, snake(java))(value))


def many(java: str, *given: Any) -> Pair:
    """A call of a collection."""
    return same(getattr(redisson, java)(values(given)), getattr(here, snake(java))(list(given)))


def snake(java: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", java)


def contains(value: Any) -> Pair:
    return one("contains", value)


def contains_all(*given: Any) -> Pair:
    return many("containsAll", *given)


def remove(value: Any) -> Pair:
    return one("remove", value)


def remove_all(*given: Any) -> Pair:
    return many("removeAll", *given)


def retain_all(*given: Any) -> Pair:
    return many("retainAll", *given)


PEEK = same(redisson.peek(), here.peek())
ELEMENT = same(redisson.element(), here.element())
REMOVE_HEAD = same(redisson.remove(), here.remove_head())
READ_ALL = same(redisson.readAll(), here.read_all())
ITERATE = same(redisson.iterator(), here.__iter__())
SIZE = same(redisson.size(), here.size())
IS_EMPTY = same(redisson.isEmpty(), here.is_empty())
CLEAR = same(redisson.clear(), here.clear())
DELETE = same(redisson.delete(), here.delete())
POLL_LAST_TO_OTHER = same(redisson.pollLastAndOfferFirstTo(string(OTHER)), here.poll_last_and_offer_first_to(OTHER))
SIZE_IN_MEMORY = same(redisson.sizeInMemory(), here.size_in_memory())
CLEAR_EXPIRE = same(redisson.clearExpire(), here.clear_expire())
LOOK_AT_ALL = [READ_ALL, ITERATE, SIZE, IS_EMPTY, PEEK]


def expires(java: str, *times: timedelta | datetime) -> list[Pair]:
    """``expire``, ``expireIfSet`` and the like: a Duration, or an Instant."""
    pairs = []
    for time in times:
        if isinstance(time, datetime):
            argument, name = instant(time), "expire_at" if java == "expire" else snake(java)
        else:
            argument, name = duration(time.total_seconds()), snake(java)
        pairs.append(same(getattr(redisson, java)(argument), getattr(here, name)(time)))
    return pairs


def hours(count: int) -> timedelta:
    return timedelta(hours=count)


#: What every Redisson does.
CORE: dict[str, list[Step]] = {
    "nothing there": [
        *(poll(), poll(3), PEEK, READ_ALL, ITERATE, SIZE, IS_EMPTY, ELEMENT, REMOVE_HEAD),
        *(contains("a"), contains_all("a"), contains_all("a", "a"), contains_all()),
        *(remove("a"), remove_all("a"), remove_all(), retain_all("a"), retain_all(), CLEAR, DELETE),
    ],
    "emptied again": [*offers("a"), poll(), poll(), PEEK, ELEMENT, REMOVE_HEAD, SIZE, IS_EMPTY, contains("a"), DELETE],
    "offers in another order than due": [*offers("a", "b", "c"), Offer("d", 2), *LOOK_AT_ALL, ELEMENT],
    "poll takes in the order of offers": [
        *offers("a", "b", "c", "d", "e", "f", "g"),
        *(poll(), poll(2), poll(1), REMOVE_HEAD, READ_ALL, poll(100), poll(1), poll()),
    ],
    "contains": [
        *offers("a", "b", "a", 1, True, ""),
        *(contains("a"), contains("b"), contains("c"), contains(1), contains(0), contains(True), contains("")),
        *(contains_all("a"), contains_all("a", "a", "a"), contains_all("b", "a", 1, "a"), contains_all("a", "c")),
        *(contains_all("c", "c"), contains_all()),
    ],
    "remove takes the first of equal values": [
        *offers("a", "b", "a", "c", "a"),
        *(remove("a"), remove("d"), remove("a"), READ_ALL, remove("a"), remove("a"), remove("c"), remove("b")),
    ],
    "remove_all takes every copy": [
        *offers("a", "b", "a", "c", "a", "d", "a"),
        *(remove_all("e"), remove_all(), remove_all("a", "e", "a"), READ_ALL),
        *(remove_all("a"), remove_all("b", "c"), remove_all("d"), SIZE),
    ],
    "retain_all of what is there": [*offers("a", "b", "a"), retain_all("a", "b", "c"), READ_ALL, retain_all(), SIZE],
    "nested values": [
        *offers(NESTED, [], {}, [NESTED, NESTED], NESTED, "", -0.5, 2**80, b"\0\xff"),
        *LOOK_AT_ALL,
        *(contains(NESTED), contains([]), contains({"order": 42}), contains_all(NESTED, [NESTED, NESTED], 2**80)),
        *(remove(NESTED), poll(2), remove_all(NESTED, b"\0\xff"), READ_ALL),
    ],
    "nulls": [
        *offers(None, "a", None),
        *(READ_ALL, SIZE, IS_EMPTY, PEEK, ELEMENT, contains(None), contains_all(None, "a"), remove(None)),
        *(poll(1), READ_ALL, REMOVE_HEAD, SIZE),
    ],
    "clear": [*offers("a", "b"), CLEAR, *LOOK_AT_ALL, *offers("c"), READ_ALL],
    "delete": [*offers("a", "b"), DELETE, *LOOK_AT_ALL, DELETE, *offers("c"), READ_ALL],
    "times to live": [
        *offers("a", "b"),
        *(CLEAR_EXPIRE, *expires("expire", hours(2), hours(5)), CLEAR_EXPIRE, CLEAR_EXPIRE),
        *(*expires("expire", FAR), *offers("c"), READ_ALL, poll(), CLEAR_EXPIRE),
        *(*expires("expire", timedelta(0)), READ_ALL, CLEAR_EXPIRE, *expires("expire", hours(1), FAR)),
    ],
    "refused": [
        differs(
            "each has an error of its own for an argument",
            redisson.offer("a", long(-1), unit("SECONDS")),
            Failed("java.lang.IllegalArgumentException: Delay can't be negative"),
            here.offer("a", -1),
            Failed("ArgumentError"),
        ),
    ],
}

#: What Redisson does not map the other name for.
TO_ANOTHER_QUEUE: dict[str, list[Step]] = {
    "poll_last_and_offer_first_to": [
        POLL_LAST_TO_OTHER,
        *offers("a", NESTED, "a", "b"),
        *itertools.repeat(POLL_LAST_TO_OTHER, 5),
    ],
}

#: Once is enough for what takes long, and Redisson 3.20 has not got all of it.
LATER: dict[str, list[Step]] = {
    "more than a page": [*offers(*range(205)), ITERATE, READ_ALL, remove_all(*range(0, 205, 3)), ITERATE, poll(1000)],
    "times to live under a condition": [
        *expires("expireIfNotSet", hours(3)),
        *offers("a", "b"),
        *(*expires("expireIfSet", hours(3), FAR), *expires("expireIfGreater", hours(3), FAR)),
        *(*expires("expireIfNotSet", hours(3), hours(4), FAR), *expires("expireIfSet", hours(5))),
        *(*expires("expireIfGreater", hours(4), hours(6)), *expires("expireIfLess", hours(7), hours(5))),
        *(*expires("expireIfGreater", FAR), *expires("expireIfLess", FAR, hours(8)), *expires("expireIfSet", FAR)),
        *(CLEAR_EXPIRE, *expires("expireIfLess", hours(9)), CLEAR_EXPIRE, *expires("expireIfNotSet", FAR)),
    ],
    "times to live as Java's older calls": [
        *offers("a"),
        same(redisson.expire(long(3), unit("HOURS")), here.expire(hours(3))),
        same(redisson.expireAt(instant(FAR)), here.expire_at(FAR)),
        same(redisson.expireAt(long(FAR_MS)), here.expire_at(FAR)),
    ],
    # Small, as the skip list that Redis makes of a zset with large members has random sizes.
    "size_in_memory": [SIZE_IN_MEMORY, *offers("a", [1], "b" * 30), SIZE_IN_MEMORY],
}

SEQUENCES = {**CORE, **TO_ANOTHER_QUEUE, **LATER}

#: Under which Redisson, and with which prefix of a name mapper, each sequence is played.
PLAYED = [
    *((name, CURRENT, "") for name in SEQUENCES),
    *((name, CURRENT, "shop:") for name in CORE),
    *((name, LEGACY, "") for name in (*CORE, *TO_ANOTHER_QUEUE)),
]


@pytest.mark.parametrize(
    ("name", "version_and_envelope", "prefix"), PLAYED, ids=["-".join((row[0], row[1][1], row[2])) for row in PLAYED]
)
def test_the_same_calls_do_the_same(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    name: str,
    version_and_envelope: tuple[str, str],
    prefix: str,
) -> None:
    version, envelope = version_and_envelope
    with flavour.connect(redis7.url, envelope=envelope, name_mapper=prefix or None, remember=0) as client:
        stage = Stage(java, client, look, redis7.url, queue, version=version, prefix=prefix)
        stage.play(SEQUENCES[name])


# -- where they differ -----------------------------------------------------------------------------------------------

READY = QUEUE
ENVELOPES = f"redisson_delay_queue:{{{QUEUE}}}"
TIMEOUT = f"redisson_delay_queue_timeout:{{{QUEUE}}}"
OTHER_ENVELOPES = f"redisson_delay_queue:{{{OTHER}}}"
OTHER_TIMEOUT = f"redisson_delay_queue_timeout:{{{OTHER}}}"

#: What stands on both sides before the call: "r" is ready, "a", "b" and "a" wait, and "b" is due first.
WAITING = {ENVELOPES: ["a", "b", "a"], TIMEOUT: ["b", "a", "a"]}
BEFORE = {READY: ["r"], **WAITING}


@dataclass(frozen=True)
class Difference:
    """A call that does not do the same, and what stands in Redis after Java's and after ours."""

    pair: Pair
    java: dict[str, list[Any]]
    python: dict[str, list[Any]]
    given: tuple[Step, ...] = ()


ON_READY = "RDelayedQueue's acts on the ready list, which is another object; ours acts on what waits"
OTHER_WAITING = {OTHER_ENVELOPES: WAITING[ENVELOPES], OTHER_TIMEOUT: WAITING[TIMEOUT]}

DIFFERENCES: dict[str, Difference] = {
    "retainAll": Difference(
        differs(
            "Redisson takes them from the list only, so they are delivered all the same",
            redisson.retainAll(values(["b"])),
            True,
            here.retain_all(["b"]),
            True,
            same_state=False,
        ),
        java={READY: ["r"], ENVELOPES: ["b"], TIMEOUT: ["b", "a", "a"]},
        python={READY: ["r"], ENVELOPES: ["b"], TIMEOUT: ["b"]},
    ),
    "poll of no items": Difference(
        differs(
            "a limit below 1 is a mistake of the caller",
            redisson.poll(int_(0)),
            [],
            here.poll(limit=0),
            Failed("ArgumentError"),
        ),
        java=BEFORE,
        python=BEFORE,
    ),
    "iterator over null": Difference(
        differs(
            "Redisson's iterator ends at a null",
            redisson.iterator(),
            ["a", "b", "a"],
            here.__iter__(),
            ["a", "b", "a", None, "c"],
        ),
        java={READY: ["r"], ENVELOPES: ["a", "b", "a", None, "c"], TIMEOUT: ["b", "a", "a", "c", None]},
        python={READY: ["r"], ENVELOPES: ["a", "b", "a", None, "c"], TIMEOUT: ["b", "a", "a", "c", None]},
        given=(Offer(None, 9), Offer("c", 8)),
    ),
    "unlink": Difference(
        differs(ON_READY, redisson.unlink(), True, here.unlink(), True, same_state=False),
        java=WAITING,
        python={READY: ["r"]},
    ),
    "isExists": Difference(
        differs(ON_READY, redisson.isExists(), True, here.exists(), False),
        java={READY: ["r"]},
        python={READY: ["r"]},
        given=(DELETE,),
    ),
    "touch": Difference(
        differs(ON_READY, redisson.touch(), True, here.touch(), False),
        java={READY: ["r"]},
        python={READY: ["r"]},
        given=(DELETE,),
    ),
    "remainTimeToLive": Difference(
        differs(ON_READY, redisson.remainTimeToLive(), -1, here.remain_time_to_live(), None),
        java=BEFORE,
        python=BEFORE,
    ),
    "getExpireTime": Difference(
        differs(ON_READY, redisson.getExpireTime(), -1, here.expire_time(), FAR_MS),
        java=BEFORE,
        python=BEFORE,
        given=tuple(expires("expire", FAR)),
    ),
    "rename": Difference(
        differs(ON_READY, redisson.rename(string(OTHER)), None, here.rename(OTHER), None, same_state=False),
        java={**WAITING, OTHER: ["r"]},
        python={READY: ["r"], **OTHER_WAITING},
    ),
    "rename of nothing": Difference(
        differs(
            ON_READY,
            redisson.rename(string(OTHER)),
            None,
            here.rename(OTHER),
            Failed("RedisReplyError"),
            same_state=False,
        ),
        java={OTHER: ["r"]},
        python={READY: ["r"]},
        given=(DELETE,),
    ),
    "renamenx": Difference(
        differs(ON_READY, redisson.renamenx(string(OTHER)), True, here.rename_if_free(OTHER), True, same_state=False),
        java={**WAITING, OTHER: ["r"]},
        python={READY: ["r"], **OTHER_WAITING},
    ),
    "copy": Difference(
        differs(
            "Redisson copies the envelopes to the name of the other ready list",
            redisson.copy(string(OTHER)),
            True,
            here.copy(OTHER),
            True,
            same_state=False,
        ),
        java={**BEFORE, OTHER: WAITING[ENVELOPES], OTHER_TIMEOUT: WAITING[TIMEOUT]},
        python={**BEFORE, **OTHER_WAITING},
    ),
    "copyAndReplace": Difference(
        differs(
            "Redisson replaces the other ready list by envelopes",
            redisson.copyAndReplace(string(OTHER)),
            True,
            here.copy_and_replace(OTHER),
            True,
            same_state=False,
        ),
        java={
            READY: ["r"],
            OTHER: ["a", "b"],
            ENVELOPES: ["a", "b"],
            TIMEOUT: ["b", "a"],
            OTHER_TIMEOUT: ["b", "a"],
        },
        python={
            READY: ["r"],
            OTHER: ["a"],
            ENVELOPES: ["a", "b"],
            TIMEOUT: ["b", "a"],
            OTHER_ENVELOPES: ["a", "b"],
            OTHER_TIMEOUT: ["b", "a"],
        },
        given=(POLL_LAST_TO_OTHER,),
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_they_differ(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str, name: str
) -> None:
    row = DIFFERENCES[name]
    with flavour.connect(redis7.url, remember=0) as client:
        stage = Stage(java, client, look, redis7.url, queue)
        stage.java.ready("add", value="r")
        stage.ready.add("r")
        stage.play([Offer("a", 2), Offer("b", 1), Offer("a", 3), *row.given, row.pair])
        assert [shown(found) for found in stage.twins.states()] == [row.java, row.python]


def test_redisson_does_not_map_the_name_that_poll_last_offers_to(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    with flavour.connect(redis7.url, name_mapper="shop:", remember=0) as client:
        stage = Stage(java, client, look, redis7.url, queue, prefix="shop:")
        stage.play(offers("a"))
        stage.twins.run(
            differs(
                "ours maps every name",
                POLL_LAST_TO_OTHER.java,
                "a",
                POLL_LAST_TO_OTHER.python,
                "a",
                same_state=False,
            )
        )
        assert [shown(found) for found in stage.twins.states()] == [{OTHER: ["a"]}, {f"shop:{OTHER}": ["a"]}]


def test_dumps_and_restores(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    """Redisson's act on the ready list, like those of a queue; ours on what waits."""
    with flavour.connect(redis7.url, remember=0) as client:
        stage = Stage(java, client, look, redis7.url, queue)
        assert stage.java.invoke("delayed", "dump") is None
        assert stage.delayed.dump() is None
        stage.play(offers("a", NESTED, "a"))
        assert stage.java.invoke("delayed", "dump") is None

        _, before = stage.twins.states()
        dump = stage.delayed.dump()
        assert stage.delayed.restore(dump) is False
        stage.delayed.clear()
        assert stage.delayed.restore(dump) is True
        assert stage.twins.states()[1] == before
        stage.delayed.offer("b", timedelta(hours=1))
        stage.delayed.restore_and_replace(dump, timedelta(hours=4))
        assert shown(stage.twins.states()[1]) == shown(before)
        assert [end for _, (_, end), _ in stage.twins.states()[1].values()] == [4, 4]

        stage.java.ready("add", value="r")
        dump = stage.java.invoke("delayed", "dump")
        assert dump == look.dump(f"{queue}-j")
        with pytest.raises(PeerError, match="BUSYKEY"):
            stage.java.invoke("delayed", "restore", bytes_(dump))
        stage.java.invoke("delayed", "restoreAndReplace", bytes_(dump), long(4), unit("HOURS"))
        with pytest.raises(ArgumentError):
            stage.delayed.restore(dump)
        assert stage.java.ready("read_all") == ["r"]


def test_remain_time_to_live_and_exists_tell_of_what_waits(
    redis7: EmbeddedServer, flavour: Flavour, queue: str
) -> None:
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.offer("a", HOUR)
        assert delayed.exists() is True
        assert delayed.touch() is True
        delayed.expire(hours(2))
        assert hours(1) < delayed.remain_time_to_live() <= hours(2)


def test_remove_if_takes_what_an_iterator_of_java_removes(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    with flavour.connect(redis7.url, remember=0) as client:
        stage = Stage(java, client, look, redis7.url, queue)
        stage.play(offers("a", "b", "a", NESTED))
        # What Collection.removeIf(value -> value.equals("a")) does of its iterator.
        for index in (0, 1):
            assert stage.java.call("iterator_remove", kind="delayed", index=index) == "a"
        assert stage.delayed.remove_if(lambda value: value == "a") == 2
        stage.same_state()
        assert stage.delayed.read_all() == ["b", NESTED]


def test_names_codecs_and_ends_of_handles(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    with flavour.connect(redis7.url, name_mapper="shop:") as client:
        stage = Stage(java, client, look, redis7.url, queue, prefix="shop:")
        assert [stage.java.invoke("delayed", "getName"), stage.delayed.name] == [f"{queue}-j", f"{queue}-p"]
        assert stage.java.invoke("delayed", "getCodec") == "org.redisson.codec.Kryo5Codec"
        assert isinstance(stage.delayed.codec, Kryo5Codec)

        stage.play(offers("a", "b"))
        stage.java.invoke("delayed", "destroy")
        stage.delayed.destroy()
        stage.same_state()
        with pytest.raises(ClosedError):
            stage.delayed.size()


#: Methods that the tests above call one by one.
APART = {"dump", "restore", "restoreAndReplace", "removeIf", "getName", "getCodec", "destroy"}


def test_every_method_that_answers_one_of_redissons_is_played() -> None:
    steps = [step for sequence in SEQUENCES.values() for step in sequence] + [row.pair for row in DIFFERENCES.values()]
    played = [redisson.offer("a", long(1), unit("HOURS")), *(step.java for step in steps if isinstance(step, Pair))]
    wanted = {signature for signature in signatures(DelayedQueue) if signature[0] not in APART}
    assert {signature for signature in wanted if not any(answers(call, signature) for call in played)} == set()
    assert ("offer", ("Object", "long", "TimeUnit")) in wanted


# -- one queue, both sides -------------------------------------------------------------------------------------------


@formats
def test_each_side_works_on_what_the_other_wrote(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
    envelope: str,
) -> None:
    peer = java(redis7.url, version=version)
    with flavour.connect(redis7.url, envelope=envelope, remember=0) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        for number, value in enumerate(["a", "b", "c", "b", NESTED, "d", "e", "f"]):
            peer.invoke("delayed", "offer", value, long(20 - number), unit("HOURS"))

        first, second, *_ = delayed.items(by="offer")
        assert first.cancel() is Outcome.CANCELLED
        assert first.cancel() is Outcome.UNKNOWN
        assert second.reschedule(hours(1)) is Outcome.RESCHEDULED
        assert [item.value for item in delayed.items()][:2] == ["b", "f"]
        assert peer.invoke("delayed", "readAll") == ["b", "c", "b", NESTED, "d", "e", "f"]
        assert delayed.remove("c") is True
        assert delayed.remove(NESTED) is True
        assert delayed.remove_all(["b", "x"]) is True
        assert delayed.retain_all(["d", "f"]) is True
        assert peer.invoke("delayed", "readAll") == ["d", "f"]
        assert delayed.poll() == "d"
        assert delayed.poll_last_and_offer_first_to(queue) == "f"
        assert peer.invoke("blocking_queue", "poll") == "f"
        assert look.keys() == []

        made = [delayed.offer(value, 20 * HOUR - number) for number, value in enumerate(["a", "b", "a", NESTED, "c"])]
        assert made[0].reschedule(hours(2)) is Outcome.RESCHEDULED
        assert peer.invoke("delayed", "poll") == "a"
        # Nobody has told us, and its time has not come.
        assert made[0].cancel() is Outcome.UNKNOWN
        assert peer.invoke("delayed", "remove", NESTED) is True
        assert peer.invoke("delayed", "removeAll", values(["a", "x"])) is True
        assert made[1].cancel() is Outcome.CANCELLED
        assert peer.invoke("delayed", "pollLastAndOfferFirstTo", string(queue)) == "c"
        assert client.blocking_queue(queue, transfer=False).poll() == "c"
        # Java knows nothing of the record of an item that was rescheduled.
        keys = delayed.keys
        assert set(look.keys()) == {keys.records.encode(), keys.forget.encode()}
        delayed.delete()
        assert look.keys() == []


@formats
def test_tombstones_are_all_that_is_left(
    look: redis.Redis,
    beside: Beside,
) -> None:
    peer, delayed = beside.peer, beside.delayed
    for value in ("a", "b", "c"):
        peer.invoke("delayed", "offer", value, long(1), unit("HOURS"))
    (item, *_) = delayed.items()
    assert item.reschedule(hours(3))
    assert item.cancel() is Outcome.CANCELLED
    assert delayed.retain_all([]) is True
    assert look.keys() == [delayed.keys.forget.encode()]
    delayed.delete()
    assert look.keys() == []


# -- calls drawn at random -------------------------------------------------------------------------------------------

STEPS, EXAMPLES, EXAMPLES_AT_NIGHT = 50, 40, 80

SOME_VALUE = st.sampled_from(["a", "b", "c", NESTED])
SOME_VALUES = st.lists(SOME_VALUE, max_size=3)
SOME_HOURS = st.integers(1, 9)
SOME_LIMIT = st.integers(1, 4)

DELAYED_CALLS = st.one_of(
    *map(st.just, [PEEK, READ_ALL, ITERATE, SIZE, POLL_LAST_TO_OTHER, poll(), CLEAR]),
    st.builds(poll, SOME_LIMIT),
    st.builds(contains, SOME_VALUE),
    st.builds(lambda given: contains_all(*given), SOME_VALUES),
    st.builds(remove, SOME_VALUE),
    st.builds(lambda given: remove_all(*given), SOME_VALUES),
)
READY_CALLS = st.one_of(
    *map(st.just, [poll(), READ_ALL]),
    st.builds(lambda value: one("add", value), SOME_VALUE),
    st.builds(remove, SOME_VALUE),
)

#: Who performs a step on the one queue, and who on the other.
TWO_OF_US = st.sampled_from(list(itertools.permutations(["java", "sync", "asyncio"], 2)))
TWO_FLAVOURS = st.sampled_from(list(itertools.permutations(["sync", "asyncio"], 2)))


class Performers(NamedTuple):
    """Who makes the calls on the two queues: ``sides[who, kind][queue]``, and ``handles[who][queue]`` of ours."""

    names: tuple[str, str]
    sides: dict[tuple[str, str], tuple[JavaSide | PythonSide, ...]]
    handles: dict[str, tuple[Any, ...]]


class TwoQueues(RuleBasedStateMachine):
    """Two queues on which every step is made by two different hands: they answer the same, and stay equal."""

    def __init__(self, look: redis.Redis, performers: Performers, drawn: Counter[str]) -> None:
        super().__init__()
        look.flushall()
        self.look = look
        self.performers = performers
        self.drawn = drawn
        self.read = contents_since(int(server_ms(look)))

    @rule(
        given=st.lists(st.tuples(SOME_VALUE, SOME_HOURS), min_size=1, max_size=4), hands=TWO_OF_US, named=st.booleans()
    )
    def offer(self, given: list[tuple[Any, int]], hands: tuple[str, str], named: bool) -> None:
        for value, hours in given:
            # One with an id has a record beside its entry, that Java knows nothing of.
            options = {"id": uuid.uuid4().hex} if named else {}
            java = redisson.offer(value, long(hours), unit("HOURS"))
            self.perform("delayed", hands, java, here.offer(value, hours * HOUR, **options))
        self.same_contents()

    @rule(pair=DELAYED_CALLS, hands=TWO_OF_US)
    def call(self, pair: Pair, hands: tuple[str, str]) -> None:
        first, second = self.perform("delayed", hands, pair.java, pair.python)
        assert first == second
        self.same_contents()

    @rule(pair=READY_CALLS, hands=TWO_OF_US)
    def call_ready(self, pair: Pair, hands: tuple[str, str]) -> None:
        first, second = self.perform("blocking_queue", hands, pair.java, pair.python)
        assert first == second
        self.same_contents()

    @rule(place=st.integers(0, 9), hands=TWO_FLAVOURS, hours=st.none() | SOME_HOURS)
    def cancel_or_reschedule(self, place: int, hands: tuple[str, str], hours: int | None) -> None:
        outcomes = []
        for number, who in enumerate(hands):
            items = self.performers.handles[who][number].items(by="offer")
            for item in items[place % len(items) :][:1] if items else ():
                outcomes.append(item.cancel() if hours is None else item.reschedule(hours * HOUR))
        self.drawn["cancel" if hours is None else "reschedule"] += bool(outcomes)
        assert outcomes in ([], 2 * [Outcome.CANCELLED if hours is None else Outcome.RESCHEDULED])
        self.same_contents()

    def perform(self, kind: str, hands: tuple[str, str], java: Any, python: Any) -> list[Any]:
        self.drawn[f"{kind} {python.method}{len(python.args)}"] += 1
        made = [(java if who == "java" else python, self.performers.sides[who, kind]) for who in hands]
        return [sides[number].run(call) for number, (call, sides) in enumerate(made)]

    def same_contents(self) -> None:
        self.drawn["steps"] += 1
        # Only we have records, and they stay until a call of ours removes the item.
        first, second = (
            {key: there for key, there in state(self.look, name, self.read).items() if OURS.decode() not in key}
            for name in self.performers.names
        )
        assert first == second
        entries, envelopes = (first.get(key, ("", ([], None), False))[1][0] for key in (TIMEOUT, ENVELOPES))
        assert sorted(place for _, place, _ in entries) == list(range(len(envelopes)))


@pytest.mark.parametrize("examples", [EXAMPLES, by_night(EXAMPLES_AT_NIGHT)])
def test_whoever_makes_the_calls(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, examples: int
) -> None:
    names = f"{queue}-1", f"{queue}-2"
    clients = [java(redis7.url, queue=name) for name in names]
    sides: dict[tuple[str, str], tuple[JavaSide | PythonSide, ...]] = {
        ("java", kind): tuple(JavaSide(client, kind, name) for client, name in zip(clients, names, strict=True))
        for kind in ("delayed", "blocking_queue")
    }
    handles = {}
    drawn: Counter[str] = Counter()
    with ExitStack() as stack:
        for flavour in (Flavour(), AsyncioFlavour()):
            stack.enter_context(closing(flavour))
            client = stack.enter_context(flavour.connect(redis7.url, remember=0))
            handles[flavour.name] = tuple(client.delayed_queue(name, transfer=False) for name in names)
            ready = tuple(client.blocking_queue(name, transfer=False) for name in names)
            for kind, made in (("delayed", handles[flavour.name]), ("blocking_queue", ready)):
                sides[flavour.name, kind] = tuple(
                    PythonSide(handle, name) for handle, name in zip(made, names, strict=True)
                )
        run_state_machine_as_test(
            lambda: TwoQueues(look, Performers(names, sides, handles), drawn),  # type: ignore[arg-type] # any factory
            settings=settings(
                max_examples=examples,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=True,
                database=None,
            ),
        )
    assert drawn.pop("steps") >= 25 * examples
    assert len(drawn) == 19, drawn
    assert min(drawn.values()) >= 5, drawn


# -- against transfers -----------------------------------------------------------------------------------------------

ITEMS, ITEMS_AT_NIGHT = 240, 600
BATCH = 12
RETAINED = 60


@formats
@pytest.mark.parametrize("count", [ITEMS, by_night(ITEMS_AT_NIGHT)])
def test_every_item_ends_once_while_java_moves_them(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
    envelope: str,
    count: int,
) -> None:
    """What each call answered, and what Java took, are all items, each of them once."""
    peer = java(redis7.url, version=version)
    peer.call("open_delayed")
    ends: dict[str, list[str]] = {"polled": [], "cancelled": [], "removed": [], "retained": [], "polled by Java": []}
    names = {kind: [f"{kind} {number}" for number in range(count)] for kind in ("left", "cancel", "move", "remove")}
    others = [name for named in names.values() for name in named]
    moved: list[Outcome] = []
    worked = threading.Event()

    with flavour.connect(redis7.url, envelope=envelope) as client:
        delayed = client.delayed_queue(queue, transfer=False)

        def batches(kind: str) -> Iterable[list[tuple[str, float]]]:
            delays = random.Random(kind)
            for start in range(0, count, BATCH):
                yield [(name, delays.randrange(50) / 1000) for name in names[kind][start : start + BATCH]]

        def leave() -> None:
            for batch in batches("left"):
                delayed.offer_all(batch)

        def cancel() -> None:
            for batch in batches("cancel"):
                # However busy the machine is, the first one still waits.
                (first, _), *more = batch
                items = [delayed.offer(name, delay) for name, delay in [(first, 60.0), *more]]
                ends["cancelled"] += [item.value for item in items if item.cancel()]

        def move() -> None:
            for batch in batches("move"):
                # However busy the machine is, the first one still waits.
                (first, _), *more = batch
                for item in [delayed.offer(name, delay) for name, delay in [(first, 60.0), *more]]:
                    moved.append(item.reschedule(random.random() / 20))

        def remove() -> None:
            for batch in batches("remove"):
                delayed.offer_all(batch)
                ends["removed"] += [name for name, _ in batch if delayed.remove(name)]

        def retain() -> None:
            for number in range(RETAINED):
                delayed.offer(f"retain {number}", number % 10 * 0.05)
                if delayed.retain_all(others):
                    ends["retained"].append(f"retain {number}")

        def poll() -> None:
            while not worked.wait(0.01):
                ends["polled"] += delayed.poll(2)

        def poll_in_java() -> None:
            while not worked.wait(0.01):
                ends["polled by Java"] += peer.invoke("delayed", "poll", int_(2))

        with ThreadPoolExecutor(8) as threads:
            taking = threads.submit(peer.take_until, lambda: worked.is_set() and not look.exists(delayed.keys.timeout))
            polling = [threads.submit(poll), threads.submit(poll_in_java)]
            working = [threads.submit(work) for work in (leave, cancel, move, remove, retain)]
            try:
                for work in working:
                    work.result(2 * PATIENCE)
            finally:
                worked.set()
            for work in polling:
                work.result(PATIENCE)
            taken = taking.result(2 * PATIENCE)

        offered = [*others, *(f"retain {number}" for number in range(RETAINED))]
        ended = Counter([*taken, *itertools.chain(*ends.values())])
        assert ended == Counter(offered)
        assert all(ends.values()), "nothing came to an end in one of the ways"
        assert {Outcome.RESCHEDULED, Outcome.DELIVERED} <= set(moved)
        assert set(look.keys()) <= {delayed.keys.records.encode(), delayed.keys.forget.encode()}
