"""A call to several partitions of which one is refused: its error says that it may have been carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisReplyError
from tests.conftest import ONE_FLAVOUR_BY_DAY
from tests.flavours import Flavour

_CALLS: dict[str, Callable[[Any, Any, list[Any]], object]] = {
    "ack_all": lambda queue, delayed, held: queue.ack_all(held),
    "nack_all": lambda queue, delayed, held: queue.nack_all(held),
    "reject_all": lambda queue, delayed, held: queue.reject_all(held),
    "extend_all": lambda queue, delayed, held: queue.extend_all(held, 60),
    "redrive": lambda queue, delayed, held: queue.redrive(),
    "purge_dead": lambda queue, delayed, held: queue.purge_dead(),
    "clear": lambda queue, delayed, held: queue.clear(),
    "pause": lambda queue, delayed, held: delayed.pause(),
    "resume": lambda queue, delayed, held: delayed.resume(),
    "clear waiting": lambda queue, delayed, held: delayed.clear(),
    "offer_all": lambda queue, delayed, held: delayed.offer_all([("c", 60)] * 20),
}


@ONE_FLAVOUR_BY_DAY
def test_a_call_that_one_partition_refuses_says_that_it_may_be_done(flavour: Flavour, admin: Any, url: str) -> None:
    for name, call in _CALLS.items():
        admin.flushall()
        admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all")
        with flavour.connect(url.replace("//", "//limited:secret@"), codec=StringCodec()) as client:
            queue = client.blocking_queue("orders", transfer=False, partitions=2)
            delayed = client.delayed_queue("orders", transfer=False, partitions=2)
            for part in queue.partitions:
                partition = client.blocking_queue(part.name, transfer=False)
                partition.add("dead")
                partition.receive(timeout=1).reject()
                partition.add("value")
            held = queue.receive(2, timeout=1, visibility_timeout=60)
            first = queue.partitions[0].name
            admin.execute_command("ACL", "SETUSER", "limited", "resetkeys", f"~*{first}*")
            with pytest.raises(RedisReplyError) as refused:
                call(queue, delayed, held)
            assert refused.value.maybe_done, name
    admin.execute_command("ACL", "DELUSER", "limited")


def test_what_was_settled_is_known(admin: Any, url: str) -> None:
    admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all")
    with Flavour().connect(url.replace("//", "//limited:secret@"), codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False, partitions=2)
        for partition in queue.partitions:
            partition.add(partition.name)
        held = queue.receive(2, timeout=1, visibility_timeout=60)
        first = queue.partitions[0].name
        admin.execute_command("ACL", "SETUSER", "limited", "resetkeys", f"~*{first}*")
        with pytest.raises(RedisReplyError):
            queue.ack_all(held)
        assert {each.value for each in held if each.outcome} == {first}
    admin.execute_command("ACL", "DELUSER", "limited")
