"""One caller's look at many queues: one round trip, in the caller's order, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

import redisson_dq._async.receiving.looking
import redisson_dq._sync.receiving.looking
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import WrongTypeError
from redisson_dq.requests.inner.leased_side import LeasedSide
from redisson_dq.waiting.line import Lifeline
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.taken import Taken
from tests.conftest import eventually
from tests.flavours import Flavour

NAMES = ("one", "two", "three")


@pytest.fixture
def client(flavour: Flavour, url: str) -> Any:
    with flavour.connect(url, codec=StringCodec()) as made:
        yield made


def source(client: Any, name: str) -> LeaseSource:
    runtime = getattr(client, "inner", client).runtime
    return LeasedSide[str](name, None, runtime.options).lease_source(30)


def look(
    flavour: Flavour, client: Any, wanted: list[tuple[LeaseSource, int]], lifelines: list[Lifeline]
) -> list[Taken]:
    if flavour.name == "sync":
        return redisson_dq._sync.receiving.looking.look_at_all(client.runtime.receivers, wanted, lifelines)
    receivers = client.inner.runtime.receivers
    return flavour.run(redisson_dq._async.receiving.looking.look_at_all(receivers, wanted, lifelines))  # type: ignore[attr-defined, no-any-return]


def test_each_source_gives_as_many_as_are_asked_of_it_in_the_callers_order(
    flavour: Flavour, client: Any, admin: Any
) -> None:
    for name in NAMES:
        admin.rpush(name, *(f"{name}{number}" for number in range(3)))
    lifelines: list[Lifeline] = []
    wanted = [(source(client, name), count) for name, count in zip(("three", "one", "two"), (2, 1, 5), strict=True)]
    taken = look(flavour, client, wanted, lifelines)
    assert [each.data for each in taken] == [b"three0", b"three1", b"one0", b"two0", b"two1", b"two2"]
    for lifeline in lifelines:
        lifeline.keep()
    del lifelines[:], lifeline
    assert [admin.llen(name) for name in NAMES] == [2, 0, 1]


def test_values_that_the_caller_does_not_keep_go_back(flavour: Flavour, client: Any, admin: Any) -> None:
    admin.rpush("one", "a", "b")
    admin.rpush("two", "c")
    lifelines: list[Lifeline] = []
    taken = look(flavour, client, [(source(client, "one"), 2), (source(client, "two"), 1)], lifelines)
    assert [each.data for each in taken] == [b"a", b"b", b"c"]
    lifelines.pop().keep()
    lifelines.clear()
    eventually(lambda: admin.lrange("one", 0, -1) == [b"a", b"b"])
    assert admin.llen("two") == 0


def test_a_source_that_cannot_be_read_keeps_nothing_of_the_others(flavour: Flavour, client: Any, admin: Any) -> None:
    admin.rpush("one", "a")
    admin.set("two", "no list")
    lifelines: list[Lifeline] = []
    with pytest.raises(WrongTypeError, match="'two'"):
        look(flavour, client, [(source(client, "one"), 2), (source(client, "two"), 1)], lifelines)
    for lifeline in lifelines:
        lifeline.let_go()
    eventually(lambda: admin.lrange("one", 0, -1) == [b"a"])
