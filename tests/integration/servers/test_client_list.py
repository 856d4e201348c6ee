"""Connections say who they are: CLIENT LIST shows library, version, client, role and queue."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.cluster import Cluster
from tests.conftest import ONE_FLAVOUR_BY_DAY, PATIENCE, eventually
from tests.flavours import Flavour

VERSION = redisson_dq.__version__


def ours(admin: Any) -> list[dict[str, str]]:
    """The connections of this library."""
    return [each for each in admin.client_list() if "redisson-dq/" in each["name"]]


def names(admin: Any) -> set[str]:
    """Their names, without the client's."""
    return {"/".join((parts := each["name"].split("/"))[:2] + parts[3:]) for each in ours(admin)}


def knows_libraries(admin: Any) -> bool:
    return "lib-name" in admin.client_list()[0]


def test_each_role_has_its_name(flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed, queue = client.delayed_queue("orders"), client.blocking_queue("orders")
        assert delayed.overdue().count == 0
        assert names(admin) == {f"redisson-dq/{VERSION}/commands"}
        delayed.offer("far", 600)
        producing = {f"redisson-dq/{VERSION}/commands", f"redisson-dq/{VERSION}/subscription/orders"}
        eventually(lambda: names(admin) == producing)
        waiting = threads.submit(queue.take)
        eventually(lambda: names(admin) == producing | {f"redisson-dq/{VERSION}/receiver/orders"})
        delayed.offer("a", 0)
        assert waiting.result(PATIENCE) == "a"
        # All of one client have its name, by which the scripts know it too.
        (one,) = {each["name"].split("/")[2].partition("@")[0] for each in ours(admin)}
        assert client.runtime.connections.client == one
        if knows_libraries(admin):
            assert {(each["lib-name"], each["lib-ver"]) for each in ours(admin)} == {("redisson-dq", VERSION)}


def test_a_subscription_of_several_queues_tells_the_first_and_how_many(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        for name in ("a", "b", "c"):
            client.delayed_queue(name).offer("far", 600)
        eventually(lambda: admin.pubsub_numsub("redisson_delay_queue_channel:{c}")[0][1] == 1)
        (told,) = [each for each in ours(admin) if "/subscription/" in each["name"]]
        admin.client_kill(told["addr"])
        eventually(lambda: f"redisson-dq/{VERSION}/subscription/a+2" in names(admin))


@pytest.mark.parametrize("name", ["two words", "caf\u00e9", "a/b", "x" * 300, "{shop}orders"])
def test_any_name_of_a_queue_can_be_told(
    flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor, name: str
) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        client.delayed_queue(name, transfer=False).offer("a", 0.05)
        assert threads.submit(client.blocking_queue(name).take).result(PATIENCE) == "a"
        roles = {each["name"].split("/")[3] for each in ours(admin)}
        assert roles == {"commands", "receiver", "subscription"}
        assert all(len(each["name"]) < 200 and each["name"].count("/") <= 4 for each in ours(admin))


def test_partitions_and_capacity(flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        parts = client.blocking_queue("parts", partitions=2)
        assert parts.poll(timeout=0.6) is None
        assert {f"redisson-dq/{VERSION}/receiver/{each.name}" for each in parts.partitions} <= names(admin)
        bounded = client.bounded_blocking_queue("bounded", transfer=False)
        bounded.try_set_capacity(1)
        assert bounded.offer("a")
        assert not bounded.offer("b", timeout=0.3)
        assert any(f"redisson-dq/{VERSION}/capacity/" in name for name in names(admin))


def test_the_users_name_comes_first(flavour: Flavour, url: str, admin: Any, threads: ThreadPoolExecutor) -> None:
    for client in (
        flavour.connect(f"{url}?client_name=shop-api", codec=StringCodec()),
        flavour.client(url, redis_options={"client_name": "shop-api"}, codec=StringCodec()),
    ):
        with client:
            client.delayed_queue("orders").offer("a", 0)
            assert threads.submit(client.blocking_queue("orders").take).result(PATIENCE) == "a"
            assert names(admin)
            assert all(each["name"].startswith("shop-api/redisson-dq/") for each in ours(admin))


def test_no_password_is_told(flavour: Flavour, server: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "someone", "on", ">secret", "~*", "&*", "+@all")
    try:
        with flavour.connect(server.url.replace("://", "://someone:secret@"), codec=StringCodec()) as client:
            client.delayed_queue("orders").offer("a", 60)
            assert ours(admin)
            assert not any("secret" in str(each) for each in admin.client_list())
    finally:
        admin.execute_command("ACL", "DELUSER", "someone")


RIGHTS = [("-client|setname",), ("-client|setinfo",), ("-client|setname", "-client|setinfo"), ("-client", "+client|id")]


@pytest.mark.parametrize("rights", RIGHTS, ids=str)
@pytest.mark.parametrize("client_name", ["", "?client_name=shop"])
def test_it_works_where_names_are_forbidden(
    flavour: Flavour,
    server: EmbeddedServer,
    admin: Any,
    threads: ThreadPoolExecutor,
    rights: tuple[str, ...],
    client_name: str,
) -> None:
    """The refusal is met once, and not by each connection anew."""
    if any("setinfo" in right for right in rights) and not knows_libraries(admin):
        # An earlier server has no such right.
        rights = tuple(right for right in rights if "setinfo" not in right)
    admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all")
    for right in rights:
        admin.execute_command("ACL", "SETUSER", "limited", right)
    admin.execute_command("ACL", "LOG", "RESET")
    try:
        user = server.url.replace("://", "://limited:secret@") + client_name
        with flavour.connect(user, codec=StringCodec()) as client:
            queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
            delayed.offer("a", 0)
            assert threads.submit(queue.take).result(PATIENCE) == "a"
            for other in ("b", "c"):
                delayed.offer(other, 0)
                assert threads.submit(client.blocking_queue("orders").receive).result(PATIENCE).value == other
        # Those that are made at the same time may ask at the same time. Seven or more connections were made.
        refused: Any = admin.acl_log()
        assert sum(int(each["count"]) for each in refused) <= 3 * 3
        if client_name and "-client|setname" in rights:
            assert refused
    finally:
        admin.execute_command("ACL", "DELUSER", "limited")


def test_names_cost_no_command_later(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.size()
        admin.config_resetstat()
        for _ in range(20):
            delayed.size()
        stats = admin.info("commandstats")
        assert not [name for name in stats if name.startswith("cmdstat_client") and "list" not in name]


@ONE_FLAVOUR_BY_DAY
def test_a_cluster_is_told_too(flavour: Flavour, cluster: Cluster, threads: ThreadPoolExecutor) -> None:
    with flavour.cluster(cluster.url, codec=StringCodec()) as client:
        client.delayed_queue("orders").offer("a", 0)
        assert threads.submit(client.blocking_queue("orders").take).result(PATIENCE) == "a"
        found = {name for admin in cluster.admins for name in names(admin)}
        assert {
            f"redisson-dq/{VERSION}/{role}" for role in ("commands", "receiver/orders", "subscription/orders")
        } <= found
