"""Ready items that somebody takes away undelivered: their ids are free again, and no other id is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import redisson_dq
from redisson_dq._redis.tuning import tuned
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DuplicateItemError
from tests.conftest import eventually
from tests.integration.conftest import KEYS
from tests.interop.sides import NO_PROBE

HOUR = 3600.0

WAYS: dict[str, Callable[[Any], Any]] = {
    "clear": lambda queue: queue.clear(),
    "delete": lambda queue: queue.delete(),
    "unlink": lambda queue: queue.unlink(),
    "remove": lambda queue: queue.remove("a"),
    "remove_all": lambda queue: queue.remove_all(["a", "x"]),
    "remove_if": lambda queue: queue.remove_if(lambda value: value == "a"),
    "retain_all": lambda queue: queue.retain_all(["b"]),
    "trim": lambda queue: queue.trim(1, -1),
    "trim to none": lambda queue: queue.trim(5, 9),
}
PLAIN: dict[str, Callable[[Any], Any]] = {
    "remove from the end": lambda queue: queue.remove("a", -1),
    "remove each": lambda queue: queue.remove("a", 0),
}
ALL = {"clear", "delete", "unlink", "trim to none"}


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with tuned(probe_interval=NO_PROBE), redisson_dq.connect(url, codec=StringCodec()) as made:
        yield made


def offered(client: Any, admin: Any, name: str, *values: str) -> None:
    """Items with ids, which are ready."""
    delayed = client.delayed_queue(name)
    for value in values:
        delayed.offer(value, 0, id=f"id-{value}")
    eventually(lambda: admin.llen(name) == len(values))


@pytest.mark.parametrize(
    ("way", "bounded"), [*((way, False) for way in {**WAYS, **PLAIN}), *((way, True) for way in WAYS)]
)
def test_an_id_is_free_when_its_value_was_taken_away(client: Any, admin: Any, way: str, bounded: bool) -> None:
    delayed = client.delayed_queue("orders")
    queue = (client.bounded_blocking_queue if bounded else client.blocking_queue)("orders", transfer=False)
    if bounded:
        queue.try_set_capacity(100)
    offered(client, admin, "orders", "a", "b")
    delayed.offer("later", HOUR, id="id-later")
    with pytest.raises(DuplicateItemError):
        delayed.offer("a", HOUR, id="id-a")
    {**WAYS, **PLAIN}[way](queue)
    assert queue.read_all() == ([] if way in ALL else ["b"])
    assert delayed.offer("a", HOUR, id="id-a").id == "id-a"
    for id in ("id-a", "id-later", *(() if way in ALL else ("id-b",))):
        with pytest.raises(DuplicateItemError):
            delayed.offer("again", HOUR, id=id)
    if way in ALL:
        delayed.offer("b", HOUR, id="id-b")
    assert delayed.cancel("id-a").value == "cancelled"
    assert delayed.cancel("id-later").value == "cancelled"


def test_what_was_delivered_stays_a_duplicate(client: Any, admin: Any) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    offered(client, admin, "orders", "a", "b", "c")
    assert queue.receive(timeout=5).ack()
    held = queue.receive(timeout=5)
    queue.clear()
    for id in ("id-a", "id-b"):
        with pytest.raises(DuplicateItemError):
            delayed.offer("again", HOUR, id=id)
    delayed.offer("c", HOUR, id="id-c")
    assert held.ack()


def test_a_payload_is_free_when_its_value_was_taken_away(client: Any, admin: Any) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    delayed.offer("a", 0, deduplicate_for=HOUR)
    eventually(lambda: queue.size() == 1)
    with pytest.raises(DuplicateItemError):
        delayed.offer("a", HOUR, deduplicate_for=HOUR)
    assert queue.remove("a")
    delayed.offer("a", HOUR, deduplicate_for=HOUR)


def test_one_of_equal_values_leaves_the_others(client: Any, admin: Any) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    for number in range(3):
        delayed.offer("same", 0, id=f"id-{number}")
    eventually(lambda: queue.size() == 3)
    assert queue.remove("same")
    delayed.offer("same", HOUR, id="id-0")
    for id in ("id-1", "id-2"):
        with pytest.raises(DuplicateItemError):
            delayed.offer("same", HOUR, id=id)
    assert queue.size() == 2


def test_a_deletion_needs_no_key_of_ours(client: Any, admin: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    for key in (KEYS.histories, KEYS.records):
        admin.set(key, "text")
    assert queue.delete()
    assert admin.exists("orders") == 0


def test_a_dead_letter_that_is_purged_frees_its_id(client: Any, admin: Any) -> None:
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    offered(client, admin, "orders", "a")
    assert queue.receive(timeout=5).reject("no")
    with pytest.raises(DuplicateItemError):
        delayed.offer("a", HOUR, id="id-a")
    assert queue.purge_dead() == 1
    delayed.offer("a", HOUR, id="id-a")
