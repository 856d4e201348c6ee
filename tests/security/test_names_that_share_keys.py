"""Names whose keys are those of another queue: rights count for the keys that are reached, not for the text."""

from __future__ import annotations

from itertools import product
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.errors import ArgumentError
from redisson_dq.web.paths import Links, segment_of
from redisson_dq.web.views import PAGES
from redisson_dq.wire.keys import DeadKeys, QueueKeys, is_plain
from redisson_dq.wire.names import queues_reached
from tests.conftest import thinned
from tests.web.conftest import Open, TestClient, browse, redis_url, token_of

__all__ = ["browse", "redis_url"]

LINKS = Links("")
KEYS = QueueKeys.of("payroll")
DEAD = DeadKeys.belonging_to("payroll")
#: Every name with a key of ``payroll``.
ALIASES = sorted({"{payroll}", *attrs.asdict(KEYS).values(), *attrs.asdict(DEAD).values()} - {"payroll"})
PARTS = redisson_dq.partition_names("payroll", 4)


def keys_of(name: str) -> set[str]:
    keys = QueueKeys.of(name)
    return {*attrs.asdict(keys).values(), *attrs.asdict(DeadKeys.belonging_to(name)).values()}


def test_whatever_shares_a_key_reaches_the_other_queue() -> None:
    """Over names that are built of tags, prefixes and other names of queues."""
    parts = ["payroll", "{payroll}", "a", "{a}", "a}b", "{a}b", "{a}}", "{}", "x{a}", "redisson_dq_dead", *ALIASES[:4]]
    names = {*parts, *ALIASES, *(f"{a}:{b}" for a, b in product(parts, parts))}
    met = 0
    for one, other in product(names, names):
        if one != other and not keys_of(one).isdisjoint(keys_of(other)):
            met += 1
            assert set(queues_reached(one, None)) & set(queues_reached(other, None)), (one, other)
            assert not (is_plain(one) and is_plain(other)), (one, other)
    assert met > len(ALIASES)


@pytest.mark.parametrize("mapper", [None, "shop:", "redisson_dq_dead:"])
def test_plain_names_reach_nothing_else(redis_url: str, mapper: Any) -> None:
    with redisson_dq.connect(redis_url) as victim:
        victim.delayed_queue("payroll", transfer=False).offer("salary", 3600)
        with redisson_dq.connect(redis_url, names="plain", name_mapper=mapper) as client:
            for name in ALIASES:
                for opened in (client.delayed_queue, client.blocking_queue, client.bounded_blocking_queue):
                    if mapper == "shop:":
                        opened(name, transfer=False).delete()
                        continue
                    with pytest.raises(ArgumentError, match="keys of another queue"):
                        opened(name, transfer=False).delete()
        assert victim.delayed_queue("payroll", transfer=False).size() == 1
        # Without it they are names as any other, as in Redisson.
        victim.delayed_queue("{payroll}", transfer=False).delete()
        assert victim.delayed_queue("payroll", transfer=False).size() == 0


def test_a_name_of_ones_own_may_have_any_tag(redis_url: str) -> None:
    with redisson_dq.connect(redis_url, names="plain") as client:
        for name in ("orders", "a:b", "x{tag}y", "{tag}:orders", "redisson"):
            assert client.delayed_queue(name, transfer=False).size() == 0


def asked_for(pages: TestClient, name: str, id: str) -> list[int]:
    """The status of each route about a queue, or about an action on it."""
    found = []
    for page in PAGES:
        path = page.path.replace("{queue}", segment_of(name)).replace("{state}", "waiting").replace("{step}", "do")
        path = path.replace("{id}", id if page.path.startswith("/actions") else "a")
        if "{queue}" in page.path or "{id}" in page.path:
            for method in page.methods:
                data = {"token": token_of(pages, ""), "action": "cancel", "all": "1"} if method == "POST" else None
                found.append(pages.request(method, path, data=data).status_code)
    found.append(pages.head(LINKS.live(queue=name)).status_code)
    return found


@pytest.mark.parametrize(("name", "names"), thinned([*ALIASES, *PARTS], ["plain", "any"], of=5))
def test_no_other_name_leads_past_the_rights(redis_url: str, browse: Open, name: str, names: Any) -> None:
    def authorize(request: Any, action: str, queue: str | None) -> bool:
        return queue != "payroll"

    with redisson_dq.connect(redis_url) as client:
        client.delayed_queue("payroll", transfer=False).offer("salary", 3600, id="a")
        client.delayed_queue("payroll", partitions=4, transfer=False).offer("salary", 3600, id="a")
    pages = browse(auth=authorize, allow_writes=True, names=names)
    statuses = asked_for(pages, name, "0")
    refused = {400, 403} if names == "plain" and name not in PARTS else {403}
    # There is no such action.
    assert set(statuses) - {404} <= refused, statuses
    assert sum(each in refused for each in statuses) >= 6
    for path in ("/?format=json", "/doctor?format=json", "/actions?format=json"):
        assert name not in pages.get(path).text
        assert "payroll" not in pages.get(path).text
    with redis.Redis.from_url(redis_url) as admin:
        assert admin.zcard(KEYS.timeout) == 1


def test_who_may_see_the_queue_may_see_its_partitions(redis_url: str, browse: Open) -> None:
    pages = browse(auth=lambda request, action, queue: queue in (None, "payroll"))
    for part in PARTS:
        assert pages.get(LINKS.items(part)).status_code == 200
    assert pages.get(LINKS.items("payroll:0-1")).status_code == 403
