"""A user without the right to a command of a call: nothing is done and the error names it, or everything is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import OfferOutcome, Outcome, partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DecodeError, RedisReplyError, WrongTypeError
from redisson_dq.scripts.script import load
from redisson_dq.wire.keys import DeadKeys
from tests.conftest import PATIENCE, by_night, eventually
from tests.flavours import Flavour
from tests.integration.calls import CALLS, Call, dump, fill, opened, plain_by_day
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until

# Those that do not wait. A receive of the table acks too, so it has a test of its own.
AT_ONCE = [
    call
    for call in CALLS
    if call.kind != "pipeline"
    and not (call.local or call.waits or "timeout" in call.way or call.name == "receive" or call.way == "leased")
]
# What is counted besides the commands of the call.
AROUND = {"eval", "evalsha", "config", "info", "acl"}


def grant(admin: Any, *rules: str) -> None:
    admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", *rules)


@pytest.fixture
def url_of_user(admin: Any, server: EmbeddedServer) -> Iterator[str]:
    grant(admin)
    yield server.url.replace("://", "://limited:secret@")
    admin.execute_command("ACL", "DELUSER", "limited")


@pytest.fixture
def limited(flavour: Flavour, url_of_user: str) -> Iterator[Any]:
    with flavour.connect(url_of_user, codec=StringCodec()) as client:
        yield client


def commands_of(admin: Any) -> set[str]:
    """Those that ran since the counters were set to zero, inside scripts too."""
    stats = admin.info("commandstats")
    return {name.removeprefix("cmdstat_").partition("|")[0] for name in stats} - AROUND


def sizes(admin: Any) -> dict[bytes, int]:
    """How much there is in each key."""
    counts = {b"list": "llen", b"zset": "zcard", b"hash": "hlen", b"string": "strlen"}
    return {key: getattr(admin, counts[admin.type(key)])(key) for key in sorted(admin.scan_iter())}


def scripts_refused(admin: Any) -> dict[str, int]:
    """How many calls of scripts were refused since the counters were set to zero."""
    stats = admin.info("commandstats")
    return {name.removeprefix("cmdstat_"): stats[name]["rejected_calls"] for name in stats if "eval" in name}


# A lean call is another way through the same script.
@pytest.mark.parametrize("call", plain_by_day(AT_ONCE, "bounded"), ids=str)
def test_each_command_of_each_call_is_refused(admin: Any, url_of_user: str, call: Call) -> None:
    with redisson_dq.connect(url_of_user, codec=StringCodec()) as client:

        def prepared() -> Any:
            admin.flushdb()
            grant(admin)
            fill(client, admin, KEYS)
            admin.rpush("other", "b")
            if call.other == "new name":
                admin.delete("other")
            return opened(client, call.kind)

        def outcome(handle: Any) -> Any:
            try:
                return call.run(handle)
            except LookupError as error:
                return type(error)
            except RedisReplyError as error:
                return error

        handle = prepared()
        admin.config_resetstat()
        expected = outcome(handle)
        used, left = commands_of(admin), sizes(admin)
        assert used
        for command in sorted(used):
            handle = prepared()
            grant(admin, f"-{command}")
            before = dump(admin)
            result = outcome(handle)
            if isinstance(result, RedisReplyError) and not isinstance(expected, RedisReplyError):
                assert command in str(result).lower(), command
                assert not result.maybe_done
                assert dump(admin) == before, command
            else:
                assert repr(type(result)) == repr(type(expected)), command
                assert sizes(admin) == left, command


@pytest.mark.parametrize("command", sorted({*load("receive").commands, "PUBLISH", "SET", "GET"}))
def test_a_receive_without_a_right_leases_nothing_or_all(admin: Any, url_of_user: str, command: str) -> None:
    with redisson_dq.connect(url_of_user, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, delivery_limit=2)
        queue.add_all(["again", "poison", "held"])
        queue.receive().nack(reason="x")
        queue.receive().nack()
        queue.receive(visibility_timeout=60)
        admin.rpush(KEYS.ready, *[admin.lpop(KEYS.ready) for _ in range(1)])
        poison = queue.receive()
        assert poison.value == "poison"
        admin.lpush(KEYS.ready, "gone")
        gone = queue.receive(visibility_timeout=0.001)
        eventually(lambda: gone.lost)
        # As Redisson's transfer would have moved it.
        admin.zremrangebyscore(KEYS.timeout, 0, of_server(admin, 0).timestamp() * 1000)
        admin.rpush(KEYS.ready, "gone")
        admin.rpush(KEYS.arrivals, "new")
        grant(admin, f"-{command}")
        before = dump(admin)
        refusal, batch = None, []
        try:
            batch = queue.receive(10, timeout=0)
        except RedisReplyError as error:
            refusal = str(error)
        if refusal is not None:
            assert command.lower() in refusal.lower()
            assert dump(admin) == before
        else:
            assert [(each.value, each.attempt) for each in batch] == [("new", 1), ("again", 2), ("gone", 2)]


@pytest.mark.parametrize("leased", [False, True])
@pytest.mark.parametrize("command", sorted({*load("lease_due").commands, "PUBLISH", "SET", "GET"}))
def test_taking_what_is_due_without_a_right_takes_nothing_or_all(
    admin: Any, url_of_user: str, command: str, leased: bool
) -> None:
    with redisson_dq.connect(url_of_user, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, delivery_limit=1)
        delayed = client.delayed_queue(queue, transfer=False)
        queue.add("poison")
        queue.receive(visibility_timeout=0.001)
        moment = of_server(admin, 50)
        client.delayed_queue("orders", transfer=False, lean=True).offer("lean", at=moment)
        delayed.offer("named", at=moment, id="1", context={"k": "v"})
        delayed.offer("late", at=moment, expires=0.001)
        # Not at the front of the list: it has to be searched for.
        delayed.offer("first", 3600)
        admin.lmove(KEYS.envelopes, KEYS.envelopes, "RIGHT", "LEFT")
        admin.zadd(KEYS.timeout, {"junk": 1})
        admin.rpush(KEYS.envelopes, "junk")
        wait_until(admin, of_server(admin, 100))
        grant(admin, f"-{command}")
        before = dump(admin)
        refusal: str | None = None
        taken: list[Any] = []
        try:
            taken = delayed.take_due(visibility_timeout=60) if leased else delayed.take_due()
        except RedisReplyError as error:
            refusal = str(error)
        if refusal is not None:
            assert command.lower() in refusal.lower()
            assert dump(admin) == before
        else:
            values = [getattr(each, "value", each) for each in taken]
            # Those due in one millisecond are in the order of their members' bytes.
            assert sorted(values) == (["lean", "named"] if leased else ["lean", "named", "poison"])
            assert admin.lrange(DeadKeys.belonging_to("orders").dead, 0, -1) == ([b"poison"] if leased else [])
            assert [item.data for item in delayed.read_expired()] == [b"late"]
            assert delayed.read_all() == ["first"]


@pytest.mark.parametrize("command", sorted({*load("transfer").commands, "PUBLISH", "PUBSUB", "SET"}))
def test_a_transfer_without_a_right_moves_nothing_or_all(admin: Any, url_of_user: str, command: str) -> None:
    with redisson_dq.connect(url_of_user, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        lean = client.delayed_queue("orders", transfer=False, lean=True)
        moment = of_server(admin, 50)
        delayed.offer("plain", at=moment)
        lean.offer("lean", at=moment)
        delayed.offer("named", at=moment, id="1")
        delayed.offer("late", at=moment, expires=0.001)
        delayed.offer("forgotten", 3600, id="2")
        delayed.cancel("2")
        # Not at the front of the list: it has to be searched for.
        delayed.offer("first", 3600)
        admin.lmove(KEYS.envelopes, KEYS.envelopes, "RIGHT", "LEFT")
        delayed.offer_recurring("tick", "tick", every=3600)
        admin.zadd(KEYS.recurring_due, {"tick": 1})
        admin.zadd(KEYS.timeout, {"junk": 1})
        wait_until(admin, of_server(admin, 100))
        grant(admin, f"-{command}")
        before = dump(admin)
        script = load("transfer")
        keys = [getattr(KEYS, key) for key in script.keys]
        with redis.Redis.from_url(url_of_user) as user:
            try:
                moved: Any = user.eval(
                    script.source, len(keys), *keys, 100, 1000, "client", "cluster", 1, "deliver", ""
                )
            except redis.exceptions.ResponseError:
                assert dump(admin) == before
                return
    assert moved[:3] == [3, 1, 1]
    assert sorted(admin.lrange("orders", 0, -1)) == [b"lean", b"named", b"plain"]
    assert admin.zcard(KEYS.timeout) == 2


# -- what others are told --------------------------------------------------------------------------------------------


def test_changes_stand_that_others_are_not_told_of(admin: Any, limited: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A new user of Redis 7 has no right to any channel."""
    grant(admin, "resetchannels")
    caplog.set_level(logging.WARNING, "redisson_dq")
    delayed = limited.delayed_queue("orders", transfer=False)
    assert delayed.offer("a", 50).outcome is OfferOutcome.OFFERED
    assert delayed.offer("b", 40, id="7").outcome is OfferOutcome.OFFERED
    assert delayed.offer_all([("c", 30), ("d", 20)]) == 2
    assert delayed.reschedule("7", 10) is Outcome.RESCHEDULED
    assert delayed.offer_recurring("e", "tick", every=5) is OfferOutcome.OFFERED
    delayed.pause()
    assert delayed.resume() is True
    assert delayed.read_all() == ["a", "b", "c", "d", "e"]
    assert delayed.copy("copied") is True
    assert [delayed.size(), admin.zcard(KEYS.timeout)] == [5, 5]
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert KEYS.channel in told[0]
    assert "PUBLISH" in told[0]
    assert "copied" in told[1]
    with limited.pipeline() as pipe:
        added = pipe.add(delayed.requests.offer("f", 1))
    assert added.result.outcome is OfferOutcome.OFFERED
    assert len(caplog.records) == 2


def test_a_bounded_queue_whose_room_is_not_announced(
    admin: Any, limited: Any, caplog: pytest.LogCaptureFixture
) -> None:
    grant(admin, "resetchannels")
    caplog.set_level(logging.WARNING, "redisson_dq")
    bounded = limited.bounded_blocking_queue("orders", transfer=False)
    assert bounded.try_set_capacity(3) is True
    assert bounded.add_all(["a", "b", "c"]) is True
    assert bounded.poll() == "a"
    assert bounded.take() == "b"
    assert bounded.move("other") == "c"
    assert bounded.remaining_capacity() == 3
    (record,) = caplog.records
    assert KEYS.capacity_channel in record.getMessage()


def test_a_second_offer_under_an_id_is_a_duplicate_without_the_right_to_publish(admin: Any, limited: Any) -> None:
    grant(admin, "resetchannels")
    delayed = limited.delayed_queue("orders", transfer=False)
    first = delayed.offer("a", 50, id="7")
    again = delayed.offer("a", 50, id="7", on_duplicate="keep")
    assert [first.outcome, again.outcome] == [OfferOutcome.OFFERED, OfferOutcome.KEPT]
    assert delayed.size() == 1


def test_items_are_delivered_without_the_right_to_a_channel(admin: Any, flavour: Flavour, url_of_user: str) -> None:
    grant(admin, "resetchannels")
    with flavour.connect(url_of_user, codec=StringCodec(), probe_interval=0.2) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        delayed.offer("a", 0.1)
        assert queue.take() == "a"


def test_the_error_names_every_right_that_is_missing(admin: Any, limited: Any) -> None:
    grant(admin, "-rpush", "-zadd")
    with pytest.raises(RedisReplyError, match=r"offer on .* may not run the commands RPUSH, ZADD .*nothing was"):
        limited.delayed_queue("orders", transfer=False).offer("a", 5)
    grant(admin, "-lpush", "-zadd")
    assert admin.keys() == []


def test_a_user_who_may_run_no_script_is_asked_little_more(admin: Any, limited: Any) -> None:
    delayed = limited.delayed_queue("orders", transfer=False)
    grant(admin, "-@scripting")
    admin.config_resetstat()
    with pytest.raises(RedisReplyError, match="'evalsha'"):
        delayed.offer("a", 5)
    assert scripts_refused(admin) == {"evalsha": 1}
    pipe = limited.pipeline()
    for _ in range(3):
        pipe.add(delayed.requests.size())
    with pytest.raises(RedisReplyError, match="'evalsha'"):
        pipe.execute()
    # The first carries the text of the script. One of the three is sent again, by itself.
    assert scripts_refused(admin) == {"eval": 1, "evalsha": 4, "evalsha_ro": 1}


def test_the_transfer_goes_on_when_the_right_is_given(admin: Any, limited: Any) -> None:
    delayed, queue = limited.delayed_queue("orders"), limited.blocking_queue("orders")
    grant(admin, "-zremrangebyrank")
    delayed.offer("a", 0)
    eventually(lambda: delayed.overdue().count == 1)
    assert queue.size() == 0
    grant(admin)
    assert queue.take() == "a"
    assert delayed.size() == 0


_WAITS: dict[str, Callable[[Any], list[Any]]] = {
    "poll shortly": lambda client: [client.blocking_queue("orders").poll(timeout=0.001)],
    "poll": lambda client: [client.blocking_queue("orders").poll(timeout=0.6)],
    "poll many": lambda client: client.blocking_queue("orders").poll(3, timeout=0.6),
    "poll many shortly": lambda client: client.blocking_queue("orders").poll(3, timeout=0.001),
    "poll from any": lambda client: [client.blocking_queue("orders").poll_from_any("other", timeout=0.001)],
    "poll last": lambda client: [client.blocking_deque("orders").poll_last(timeout=0.001)],
    "move": lambda client: [None, client.blocking_queue("orders").move("other", timeout=0.6)][:1],
    "take of a bounded queue": lambda client: [client.bounded_blocking_queue("orders").take()],
    "poll of a bounded queue": lambda client: [client.bounded_blocking_queue("orders").poll(timeout=0.001)],
    "receive": lambda client: received(client.blocking_queue("orders").receive(3, timeout=0.6)),
    "receive shortly": lambda client: received(client.blocking_queue("orders").receive(3, timeout=0.001)),
    "poll of partitions": lambda client: client.blocking_queue("orders", partitions=2).poll(3, timeout=0.6),
    "receive of partitions": lambda client: received(
        client.blocking_queue("orders", partitions=2).receive(3, timeout=0.6)
    ),
}


@pytest.mark.parametrize("wait", _WAITS)
@pytest.mark.parametrize("first", [b"a", by_night(b"\xff not UTF-8")])
def test_a_wait_without_a_right_loses_nothing(
    flavour: Flavour, admin: Any, url_of_user: str, wait: str, first: bytes
) -> None:
    name = partition_names("orders", 2)[0] if "partitions" in wait else "orders"
    values = {first, b"b", b"c", b"d"}

    def waited(*rules: str) -> set[str]:
        """The commands that were sent. Every value is given or in Redis."""
        admin.flushdb()
        admin.rpush(name, first, b"b", b"c", b"d")
        if "bounded" in wait:
            admin.set(KEYS.capacity, 6)
        grant(admin)
        admin.config_resetstat()
        given: set[bytes] = set()
        refused: RedisReplyError | None = None
        with flavour.connect(url_of_user, codec=StringCodec()) as client:
            grant(admin, *rules)
            try:
                given = {value.encode() for value in _WAITS[wait](client) if value is not None}
            except DecodeError as error:
                # Where they could not be set aside, the error has the bytes.
                given = {
                    *(getattr(each, "value", each).encode() for each in error.decoded),
                    *(error.undecodable if not error.kept_in else ()),
                }
            except RedisReplyError as error:
                refused = error
        assert refused is None or not refused.maybe_done
        left = b"\n".join([value for key in admin.scan_iter() for value in contents(admin, key)])
        assert {value for value in values if value in left} | given == values, rules
        return commands_of(admin)

    for command in sorted(waited() - {"hello", "auth", "select"}):
        waited(f"-{command}")


def received(deliveries: list[Any]) -> list[Any]:
    return [each.value for each in deliveries]


def contents(admin: Any, key: bytes) -> list[bytes]:
    """What is in a list or in a zset."""
    found: list[bytes] = {b"list": admin.lrange, b"zset": admin.zrange}.get(admin.type(key), lambda *_: [])(key, 0, -1)
    return found


def test_a_transaction_without_the_right_to_one(admin: Any, limited: Any, caplog: pytest.LogCaptureFixture) -> None:
    queue = limited.blocking_queue("orders", transfer=False)

    def transacted() -> Any:
        pipe = limited.pipeline(transaction=True)
        pipe.add(queue.requests.add("b"))
        pipe.add(queue.requests.poll())
        return pipe.execute()

    admin.rpush("orders", "a")
    grant(admin, "-multi")
    with pytest.raises(RedisReplyError, match="multi"):
        transacted()
    assert admin.lrange("orders", 0, -1) == [b"a"]
    grant(admin)
    assert transacted() == [True, "a"]
    grant(admin, "-multi")
    # Redis carries out what stands behind it.
    assert transacted() == [True, "b"]
    (record,) = caplog.records
    assert "was carried out, but not atomically" in record.getMessage()
    with pytest.raises(RedisReplyError, match="multi"):
        transacted()
    assert admin.lrange("orders", 0, -1) == [b"b"]


@pytest.mark.parametrize("rule", ["-subscribe", "-pubsub"])
def test_who_cannot_know_whether_it_is_alone_tells_of_its_leases(
    admin: Any, flavour: Flavour, url_of_user: str, rule: str
) -> None:
    """Another client listens that is told nothing by this one's transfers, such as a JVM."""
    grant(admin, rule)
    with (
        flavour.connect(url_of_user, codec=StringCodec(), probe_interval=0.05) as client,
        closing(admin.pubsub(ignore_subscribe_messages=True)) as listener,
    ):
        listener.subscribe(KEYS.channel)
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue)
        for _ in range(5):
            delayed.offer("a", delay=0.005)
            delivery = queue.receive(timeout=PATIENCE, visibility_timeout=60)
            told = b"%d" % round(delivery.deadline.timestamp() * 1000)
            eventually(partial(_hears, listener, told))
            assert delivery.ack()


def _hears(listener: Any, text: bytes) -> bool:
    return (listener.get_message() or {}).get("data") == text


# -- looking without a right to write --------------------------------------------------------------------------------

LOOKS: dict[str, Callable[[Any, Any], Any]] = {
    "size": lambda queue, delayed: delayed.size(),
    "next_due": lambda queue, delayed: delayed.next_due(),
    "overdue": lambda queue, delayed: delayed.overdue().count,
    "contains": lambda queue, delayed: delayed.contains("a"),
    "contains_all": lambda queue, delayed: queue.contains_all(["a"]),
    "recurring": lambda queue, delayed: len(delayed.recurring()),
    "in_flight": lambda queue, delayed: len(queue.in_flight()),
    "in_flight_size": lambda queue, delayed: queue.in_flight_size(),
    "expire_time": lambda queue, delayed: queue.expire_time(),
    "dump": lambda queue, delayed: delayed.dump(),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_user_who_may_only_read_the_keys_may_look(
    admin: Any, flavour: Flavour, url: str, url_of_user: str, look: str
) -> None:
    with (
        flavour.connect(url, codec=StringCodec()) as client,
        flavour.connect(url_of_user, codec=StringCodec()) as limited,
    ):
        fill(client, admin, KEYS)
        client.blocking_queue("orders", transfer=False).receive(visibility_timeout=60)
        expected, found = (
            [each.blocking_queue("orders", transfer=False), each.delayed_queue("orders", transfer=False)]
            for each in (client, limited)
        )
        admin.execute_command("ACL", "SETUSER", "limited", "resetkeys", "%R~*")
        assert LOOKS[look](*found) == LOOKS[look](*expected)
        with pytest.raises(RedisReplyError, match="offer on"):
            found[1].offer("x", 60)
        # What was refused once is not tried again, until the other way is refused.
        admin.config_resetstat()
        assert LOOKS[look](*found) == LOOKS[look](*expected)
        assert admin.info("commandstats")["cmdstat_evalsha"]["rejected_calls"] == 0
        grant(admin, "-eval_ro", "-evalsha_ro")
        assert LOOKS[look](*found) == LOOKS[look](*expected)
        grant(admin, "-@scripting")
        with pytest.raises(RedisReplyError, match=r"NOPERM|permissions"):
            LOOKS[look](*found)


def test_the_error_of_a_look_is_its_own(admin: Any, flavour: Flavour, url_of_user: str) -> None:
    admin.execute_command("ACL", "SETUSER", "limited", "resetkeys", "%R~*")
    admin.set(KEYS.timeout, "text")
    with flavour.connect(url_of_user, codec=StringCodec()) as limited:
        for _ in range(2):
            with pytest.raises(WrongTypeError, match="holds a string"):
                limited.delayed_queue("orders", transfer=False).size()
