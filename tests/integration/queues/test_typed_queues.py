"""Queues with an element type, and the errors that name two Java types where no type was said."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonCodec, StringCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.unit.codecs import acme


@dataclass
class Reminder:
    user: int
    at: datetime


REMINDER = Reminder(71, datetime(2027, 1, 1, tzinfo=timezone.utc))


def test_an_int_is_a_long_where_the_queue_is_of_longs(flavour: Flavour, url: str) -> None:
    with flavour.connect(url) as client:
        queue = client.blocking_queue("orders", type=java.Long)
        delayed = client.delayed_queue(queue)
        delayed.offer(100_234, delay=60)
        assert delayed.contains(100_234)
        assert client.delayed_queue("orders").contains(java.Long(100_234))
        assert delayed.remove(100_234)
        delayed.offer(100_235, delay=0.01)
        taken = queue.poll(timeout=PATIENCE)
        assert (taken, type(taken)) == (100_235, java.Long)
        with pytest.raises(EncodeError, match=r"queue 'orders': .*'x' of type str cannot be a java\.lang\.Long"):
            delayed.offer("x", delay=1)
        assert delayed.size() == 0


def test_a_value_of_another_type_is_kept_aside(flavour: Flavour, url: str) -> None:
    with flavour.connect(url) as client:
        client.blocking_queue("orders").offer("text")
        queue = client.blocking_queue("orders", type=acme.Order)
        with pytest.raises(DecodeError, match="a queue of another type") as caught:
            queue.take()
        assert caught.value.kept_in == queue.keys.undecodable
        assert len(queue.read_undecodable()) == 1


@pytest.mark.parametrize("kind", ["deque", "bounded", "partitions", "delayed by name"])
def test_each_kind_of_queue_takes_a_type(flavour: Flavour, url: str, kind: str) -> None:
    with flavour.connect(url, codec=JsonCodec()) as client:
        if kind == "deque":
            queue = client.blocking_deque("jobs", type=Reminder)
        elif kind == "bounded":
            queue = client.bounded_blocking_queue("jobs", type=Reminder)
            queue.try_set_capacity(5)
        elif kind == "partitions":
            queue = client.blocking_queue("jobs", type=Reminder, partitions=2)
        else:
            queue = client.blocking_queue("jobs", type=Reminder)
        if kind == "delayed by name":
            client.delayed_queue("jobs", type=Reminder).offer(REMINDER, delay=0.01)
        else:
            queue.offer(REMINDER)
        assert queue.poll(timeout=PATIENCE) == REMINDER
        with pytest.raises(EncodeError, match="is not a value of Reminder"):
            queue.offer({"user": 71})


@pytest.mark.parametrize("said", ["by the handler", "by the worker", "by two handlers"])
def test_a_worker_gives_typed_values_to_its_handlers(flavour: Flavour, url: str, said: str) -> None:
    handled: list[Any] = []
    with flavour.connect(url, codec=JsonCodec()) as client:
        worker = flavour.worker(client)
        if said == "by the worker":
            worker.queue("jobs", type=Reminder)

        def note(value: Any) -> None:
            handled.append(value)

        if said == "by the worker":
            worker.handler("jobs")(note)
        else:
            worker.handler("jobs", Reminder)(note)
        expected: list[Any] = [REMINDER]
        if said == "by two handlers":
            worker.handler("jobs", int)(lambda value: handled.append(value))
            expected.append(5)
        client.delayed_queue("jobs", type=Reminder | int).offer_all([(value, 0) for value in expected])
        with worker:
            eventually(lambda: len(handled) == len(expected))
        assert sorted(handled, key=str) == sorted(expected, key=str)


SOUGHT: dict[str, Callable[[Any, Any], Any]] = {
    "contains": lambda queue, value: queue.contains(value),
    "contains_all": lambda queue, value: queue.contains_all([value]),
    "remove": lambda queue, value: queue.remove(value),
    "remove_all": lambda queue, value: queue.remove_all([value]),
    "retain_all": lambda queue, value: queue.retain_all([value]),
}
READY: dict[str, Callable[[Any, Any], Any]] = {
    **SOUGHT,
    "index_of": lambda queue, value: queue.index_of(value),
    "last_index_of": lambda queue, value: queue.last_index_of(value),
}
EQUAL: list[tuple[Any, Any, str]] = [
    (java.Long(100_234), 100_234, "java.Long"),
    (5, java.Long(5), "java.Integer"),
    (java.BigInteger(5), 5, "java.BigInteger"),
    (java.Short(5), 5, "java.Short"),
    (java.Float(1.5), 1.5, "java.Float"),
    (java.Character("a"), "a", "java.Character"),
    ([java.Long(1), java.Long(2)], [1, 2], r"list\[java.Long\]"),
    ({"a": java.Long(1)}, {"a": 1}, r"dict\[..., java.Long\]"),
    (java.JavaDate(REMINDER.at), REMINDER.at, "java.JavaDate"),
    (java.LinkedList(["a"]), ["a"], "java.LinkedList"),
    ({"a": "b"}, java.HashMap({"a": "b"}), "dict"),
    ([1, 2], [java.Long(1), java.Long(2)], r"list\[java.Integer\]"),
]

#: For tests of each call.
EVERY_OTHER = [
    pytest.param(*case, id=case[2], marks=[pytest.mark.nightly] if place % 2 else [])
    for place, case in enumerate(EQUAL)
]


@pytest.mark.parametrize("call", SOUGHT)
@pytest.mark.parametrize(("there", "sought", "name"), EVERY_OTHER)
def test_a_waiting_value_of_another_type_is_no_false(
    flavour: Flavour, url: str, call: str, there: Any, sought: Any, name: str
) -> None:
    with flavour.connect(url) as client:
        delayed = client.delayed_queue("orders")
        delayed.offer(there, delay=60)
        with pytest.raises(EncodeError, match=rf"an equal {name} is, which has other bytes: search for that"):
            SOUGHT[call](delayed, sought)
        assert delayed.read_all() == [there]


@pytest.mark.parametrize("call", READY)
@pytest.mark.parametrize(("there", "sought", "name"), EVERY_OTHER)
def test_a_ready_value_of_another_type_is_no_false(
    flavour: Flavour, url: str, call: str, there: Any, sought: Any, name: str
) -> None:
    with flavour.connect(url) as client:
        queue = client.blocking_queue("orders")
        queue.offer(there)
        with pytest.raises(EncodeError, match=rf"an equal {name} is, which has other bytes: search for that"):
            READY[call](queue, sought)
        assert queue.read_all() == [there]


@pytest.mark.parametrize("call", ["remove_first_occurrence", "remove_last_occurrence"])
def test_a_deque_has_no_false_for_another_type_either(flavour: Flavour, url: str, call: str) -> None:
    with flavour.connect(url) as client:
        deque = client.blocking_deque("orders")
        deque.offer(java.Long(5))
        with pytest.raises(EncodeError, match=r"an equal java\.Long is"):
            getattr(deque, call)(5)


@pytest.mark.parametrize(("there", "sought", "name"), EQUAL, ids=[name for _, _, name in EQUAL])
def test_the_error_names_a_type_only_if_that_helps(
    flavour: Flavour, url: str, there: Any, sought: Any, name: str
) -> None:
    with flavour.connect(url) as client:
        client.delayed_queue("orders").offer(there, delay=60)
        with pytest.raises(EncodeError, match=f"an equal {name} is") as caught:
            client.delayed_queue("orders").contains(sought)
        told = str(caught.value).partition(", or open the queue with type=")[2]
        assert bool(told) == (not isinstance(there, (java.LinkedList, dict)) or "[" in name)
        types: dict[str, Any] = {"dict[..., java.Long]": dict[str, java.Long], "list[java.Long]": list[java.Long]}
        types["list[java.Integer]"] = list[java.Integer]
        if told:
            kind = types[told] if told in types else getattr(java, told.removeprefix("java."))
            assert client.delayed_queue("orders", type=kind).contains(sought)


def test_what_is_not_there_at_all_is_false(flavour: Flavour, url: str) -> None:
    with flavour.connect(url) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders", transfer=False)
        delayed.offer(java.Long(5), delay=60)
        queue.offer("text")
        for value in (6, 2.5, "a", "text of some length", [1, 2], True):
            assert not delayed.contains(value)
            assert not delayed.remove(value)
            assert not queue.contains(value)
            assert queue.index_of(value) == -1
        typed = client.delayed_queue("orders", type=int)
        assert not typed.contains(5)
    with flavour.connect(url, codec=StringCodec()) as client:
        assert not client.blocking_queue("orders").contains("a")


def test_the_first_int_in_a_queue_of_longs_is_reported(
    flavour: Flavour, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "redisson_dq")
    with flavour.connect(url) as client:
        client.delayed_queue("orders").offer(java.Long(1), delay=60)
        client.blocking_queue("ids", transfer=False).offer(java.Long(1))
        for name in ("orders", "ids"):
            delayed = client.delayed_queue(name)
            delayed.offer(2, delay=60)
            delayed.offer(3, delay=60)
            typed = client.delayed_queue(name, type=java.Long)
            typed.offer(4, delay=60)
        client.delayed_queue("numbers").offer(2, delay=60)
    told = [record.getMessage() for record in caplog.records if "java.lang.Integer" in record.getMessage()]
    assert [text.partition(":")[0] for text in told] == ["queue 'orders'", "queue 'ids'"]
    assert all("open it with type=java.Long" in text for text in told)


@pytest.mark.parametrize(("there", "offered", "name"), EQUAL, ids=[name for _, _, name in EQUAL])
def test_an_equal_payload_of_another_type_is_no_second_offer(
    flavour: Flavour, url: str, there: Any, offered: Any, name: str
) -> None:
    with flavour.connect(url) as client:
        delayed = client.delayed_queue("orders")
        delayed.offer(there, delay=60, deduplicate_for=300)
        with pytest.raises(EncodeError, match=rf"an equal {name} is, which has other bytes: search for that"):
            delayed.offer(offered, delay=60, deduplicate_for=300, on_duplicate="keep")
        assert delayed.read_all() == [there]
        delayed.offer(offered, delay=60)
        assert delayed.size() == 2


@pytest.mark.parametrize("key", [None, "customer"])
@pytest.mark.parametrize(("there", "offered", "name"), EQUAL, ids=[name for _, _, name in EQUAL])
def test_an_equal_payload_is_found_in_the_partition_of_its_own_bytes(
    flavour: Flavour, url: str, there: Any, offered: Any, name: str, key: str | None
) -> None:
    with flavour.connect(url) as client:
        delayed = client.delayed_queue("orders", partitions=16)
        delayed.offer(there, delay=60, deduplicate_for=300, key=key)
        with pytest.raises(EncodeError, match=rf"an equal {name} is, which has other bytes: search for that"):
            delayed.offer(offered, delay=60, deduplicate_for=300, key=key)
        assert delayed.size() == 1
        delayed.offer(there, delay=60, deduplicate_for=300, key=key, on_duplicate="keep")
        assert delayed.size() == 1


@pytest.mark.parametrize("side", ["waiting", "ready"])
@pytest.mark.parametrize(("there", "sought", "name"), EQUAL, ids=[name for _, _, name in EQUAL])
def test_a_pipeline_has_no_false_for_another_type(
    flavour: Flavour, url: str, side: str, there: Any, sought: Any, name: str
) -> None:
    with flavour.connect(url) as client:
        queue = client.delayed_queue("orders") if side == "waiting" else client.blocking_queue("orders")
        queue.offer(there, **({"delay": 60} if side == "waiting" else {}))
        pipe = client.pipeline()
        calls = SOUGHT if side == "waiting" else READY
        replies = [pipe.add(call(queue.requests, sought)) for call in calls.values()]
        found = pipe.add(queue.requests.contains(there))
        with pytest.raises(EncodeError, match=rf"an equal {name} is, which has other bytes: search for that"):
            pipe.execute()
        assert found.result
        for reply in replies:
            with pytest.raises(EncodeError, match=rf"an equal {name} is"):
                reply.result  # noqa: B018
        assert queue.read_all() == [there]
        pipe.add(queue.requests.contains("nothing equal"))
        assert pipe.execute() == [False]


CASES_OF_A_PIPELINE: dict[str, Callable[[Any], Any]] = {
    "retain_all": lambda requests: requests.retain_all(["x", *range(30)]),
    "deduplicate_for": lambda requests: requests.offer(25, delay=60, deduplicate_for=300),
}


@pytest.mark.parametrize("transaction", [False, True])
@pytest.mark.parametrize("kind", ["delayed", "ready", "bounded", "partitions"])
@pytest.mark.parametrize("call", CASES_OF_A_PIPELINE)
def test_a_pipeline_does_no_harm_to_a_value_of_another_type(
    flavour: Flavour, url: str, call: str, kind: str, transaction: bool
) -> None:
    with flavour.connect(url) as client:
        delayed = client.delayed_queue("orders", partitions=8 if kind == "partitions" else None)
        requests = delayed.requests
        if call == "deduplicate_for":
            delayed.offer(java.Long(25), delay=60, deduplicate_for=300)
        elif kind == "ready" or kind == "bounded":
            ready = client.blocking_queue("orders") if kind == "ready" else client.bounded_blocking_queue("orders")
            kind == "bounded" and ready.try_set_capacity(9)
            ready.offer(java.Long(25))
            requests = ready.requests
        else:
            delayed = client.delayed_queue("orders")
            delayed.offer(java.Long(25), delay=60)
            requests = delayed.requests
        pipe = client.pipeline(transaction=transaction)
        refused = pipe.add(CASES_OF_A_PIPELINE[call](requests))
        other = pipe.add(client.blocking_queue("others").requests.offer("x"))
        with pytest.raises(EncodeError, match=r"25 is not there as int, but an equal java\.Long is"):
            pipe.execute()
        with pytest.raises(EncodeError):
            refused.result  # noqa: B018
        assert client.blocking_queue("others").size() == (0 if transaction else 1)
        if transaction:
            with pytest.raises(ArgumentError, match="not been executed yet"):
                other.result  # noqa: B018
        # Nothing was removed, and nothing added.
        assert delayed.size() + client.blocking_queue("orders").size() == 1


@pytest.mark.parametrize("transaction", [False, True])
@pytest.mark.parametrize("partitions", [None, 8])
def test_a_pipeline_compares_its_own_offers(
    flavour: Flavour, url: str, partitions: int | None, transaction: bool
) -> None:
    with flavour.connect(url) as client:
        delayed = client.delayed_queue("orders", partitions=partitions)
        pipe = client.pipeline(transaction=transaction)
        replies = [
            pipe.add(delayed.requests.offer(value, delay=60, deduplicate_for=300, on_duplicate="keep"))
            for value in (25, 26, java.Long(25), 25, [java.Long(1)], [1])
        ]
        with pytest.raises(EncodeError, match=r"is not there as Long, but an equal java\.Integer is"):
            pipe.execute()
        if transaction:
            assert delayed.size() == 0
            return
        for reply in (replies[2], replies[5]):
            with pytest.raises(EncodeError, match="but an equal"):
                reply.result  # noqa: B018
        assert replies[3].result.id == replies[0].result.id
        assert delayed.size() == 3
        # One with another name is no offer of this queue.
        pipe.add(client.delayed_queue("others").requests.offer(java.Long(25), delay=60, deduplicate_for=300))
        pipe.add(client.delayed_queue("more").requests.offer(25, delay=60, deduplicate_for=300))
        assert len(pipe.execute()) == 2


@pytest.mark.parametrize("in_a_pipeline", [False, True])
@pytest.mark.parametrize("kind", ["delayed", "ready"])
def test_a_value_that_is_there_as_both_is_told_where_one_would_be_left_or_lost(
    flavour: Flavour, url: str, kind: str, in_a_pipeline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "redisson_dq")
    with flavour.connect(url) as client:
        queue = client.delayed_queue("orders") if kind == "delayed" else client.blocking_queue("orders")

        def run(call: Callable[[Any], Any]) -> Any:
            if not in_a_pipeline:
                return call(queue)
            pipe = client.pipeline()
            pipe.add(call(queue.requests))
            return pipe.execute()[0]

        for value in (5, java.Long(5), java.Long(6), "x"):
            queue.offer(value, **({"delay": 60} if kind == "delayed" else {}))
        with pytest.raises(EncodeError, match=r"5 is there as int, and an equal java\.Long is"):
            run(lambda to: to.retain_all([5]))
        assert run(lambda to: to.contains_all([5, "x"]))
        assert not run(lambda to: to.contains_all([5, "y"]))
        with pytest.raises(EncodeError, match=r"6 is not there as int, but an equal java\.Long is"):
            run(lambda to: to.contains_all([5, 6]))
        assert caplog.records == []
        assert run(lambda to: to.remove_all([5, 6]))
        told = [record.getMessage() for record in caplog.records]
        assert [text.partition(" but ")[0].rpartition(": ")[2] for text in told] == [
            "5 is not there as int,",
            "6 is not there as int,",
        ]
        assert queue.read_all() == [java.Long(5), java.Long(6), "x"]
