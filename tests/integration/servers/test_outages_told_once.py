"""A part that notices an outage after its end does not report it again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.observing import Away, BackAgain, Happening
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour

# More queues than have a connection of their own.
NAMES = [f"queue{number}" for number in range(10)]


def cut(admin: Any, role: str) -> None:
    """Cuts the connections with a role, and returns when others are there in their place."""
    before = {entry["id"] for entry in of_role(admin, role)}
    for number in before:
        admin.client_kill_filter(_id=number)
    eventually(lambda: len(before) == len({entry["id"] for entry in of_role(admin, role)} - before))


def of_role(admin: Any, role: str) -> list[Any]:
    return [entry for entry in admin.client_list() if f"/{role}" in entry["name"]]


def watching(admin: Any) -> int:
    return int(admin.info("stats")["tracking_total_keys"])


@pytest.mark.parametrize(
    ("role", "names", "waits"),
    [
        ("receiver", NAMES[:1], lambda admin: admin.info("clients")["blocked_clients"] == 1),
        ("lookout", NAMES, lambda admin: watching(admin) == 2),
    ],
)
def test_a_wait_that_breaks_after_an_outage_began_before_its_end(
    flavour: Flavour, admin: Any, url: str, role: str, names: list[str], waits: Callable[[Any], bool]
) -> None:
    """It connects anew. Its next break is an outage of its own."""
    heard: list[Happening] = []
    with (
        ThreadPoolExecutor(len(NAMES)) as threads,
        flavour.connect(url, codec=StringCodec(), observer=heard.append) as client,
    ):
        runtime = getattr(client, "inner", client).runtime
        waiting = [threads.submit(client.blocking_queue(name, transfer=False).take) for name in names]
        eventually(lambda: waits(admin))
        outage = runtime.connections.outage
        outage.began("another part", ConnectionError("away"), runtime.clock.monotonic())
        outage.ended("another part")
        cut(admin, role)
        eventually(lambda: waits(admin))
        assert told(heard) == ["Away", "BackAgain"]
        cut(admin, role)
        eventually(lambda: told(heard) == ["Away", "BackAgain"] * 2)
        for name in names:
            admin.rpush(name, name)
        assert [each.result(PATIENCE) for each in waiting] == names


def told(heard: list[Happening]) -> list[str]:
    return [type(each).__name__ for each in heard if isinstance(each, (Away, BackAgain))]
