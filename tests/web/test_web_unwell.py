"""The pages on a server that serves nobody or lets nobody in, on a replica, and where one node of a cluster is away."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.testing.faults import Faults
from redisson_dq.web import Token, app
from redisson_dq.web.snapshots import Snapshots
from tests.cluster import Cluster
from tests.conftest import PROGRAMS, REPLICATES_AT_ONCE, emptied, eventually
from tests.web.conftest import TestClient, token_of

_TOKEN = "0123456789abcdef0123"


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Snapshots, "fresh", 0.0)


@pytest.fixture
def shop(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """A Redis with one delayed value."""
    server = emptied(servers("redis"))
    with redisson_dq.connect(server.url) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 3600)
    return server


def browsing(stack: ExitStack, url: str, **options: Any) -> TestClient:
    """A dashboard of that server."""
    made = TestClient(app(url, **options), base_url="http://127.0.0.1:8787", client=("127.0.0.1", 50000))
    stack.enter_context(made)
    return made


def told(pages: TestClient) -> tuple[dict[str, Any], str]:
    """The rows of the first page by their names, and its trouble."""
    answer = pages.get("/?format=json")
    assert answer.status_code == 200
    view = answer.json()
    return {row["name"]: row for row in view["rows"]}, view["trouble"]


@pytest.mark.parametrize(
    ("refusal", "remedy"),
    [
        ("LOADING Redis is loading the dataset in memory", "when it has started"),
        ("BUSY Redis is busy running a script.", "SCRIPT KILL"),
        ("CLUSTERDOWN The cluster is down", "CLUSTER INFO"),
        ("MASTERDOWN Link with MASTER is down.", "name another server"),
    ],
)
def test_a_server_that_serves_nobody_for_now(shop: EmbeddedServer, refusal: str, remedy: str) -> None:
    with Faults(shop) as faults, ExitStack() as stack:
        pages = browsing(stack, faults.url)
        assert told(pages)[1] == ""
        with faults.refused("*", refusal):
            rows, trouble = told(pages)
            # The last figures stay.
            assert (rows["orders"]["waiting"], rows["orders"]["error"]) == (1, "")
            assert trouble.startswith("Redis does not serve requests now, ")
            assert remedy in trouble
            page = pages.get("/queues/orders")
            assert (page.status_code, page.headers["retry-after"]) == (503, "2")
            # It comes back by itself.
            assert " data-away>" in page.text
            assert "acl" not in page.text
        assert told(pages)[1] == ""
        assert pages.get("/queues/orders").status_code == 200


def test_a_password_that_is_changed_meanwhile(shop: EmbeddedServer) -> None:
    with redis.Redis.from_url(shop.url) as admin, ExitStack() as stack:
        pages = browsing(stack, shop.url)
        assert told(pages)[1] == ""
        stack.callback(admin.config_set, "requirepass", "")
        admin.config_set("requirepass", "another")
        admin.client_kill_filter(_type="normal", skipme=True)
        rows, trouble = told(pages)
        assert rows["orders"]["waiting"] == 1
        assert trouble.startswith("Redis refused the login, ")
        page = pages.get("/queues/orders").text
        assert "<h1>Redis refused the login</h1>" in page
        assert "the user and the password that Redis has now" in page
        admin.config_set("requirepass", "")
        assert told(pages)[1] == ""


def test_a_replica_shows_all_and_refuses_actions(shop: EmbeddedServer) -> None:
    with ExitStack() as stack:
        replica = stack.enter_context(EmbeddedServer(program=PROGRAMS["redis"](), config=REPLICATES_AT_ONCE))
        admin = stack.enter_context(redis.Redis.from_url(replica.url))
        admin.replicaof("127.0.0.1", shop.port)
        eventually(lambda: admin.info("replication")["master_link_status"] == "up")
        pages = browsing(stack, replica.url, auth=Token(_TOKEN), allow_writes=True)
        pages.headers["authorization"] = f"Bearer {_TOKEN}"
        rows, trouble = told(pages)
        assert (rows["orders"]["waiting"], trouble) == (1, "")
        for path in ("/queues/orders", "/queues/orders/items", "/doctor"):
            assert pages.get(path).status_code == 200, path
        token = token_of(pages, "token")
        form = {"token": token, "state": "waiting", "action": "cancel", "all": "1"}
        counted = pages.post("/queues/orders/actions", data=form)
        assert counted.status_code == 200
        acted = pages.post(f"{counted.url.path}/do", data={"token": token})
        assert "this server is a replica: name its master" in acted.text


def test_of_a_cluster_whose_node_is_away_the_others_go_on() -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        url = f"redis+cluster://127.0.0.1:{cluster.servers[0].port}"
        client = stack.enter_context(redisson_dq.connect(url, codec=StringCodec()))
        names = [f"queue-{i}" for i in range(20)]
        for name in names:
            client.delayed_queue(name, transfer=False).offer("a", 3600)
        for part in client.delayed_queue("split", partitions=4, transfer=False).partitions:
            part.offer("a", 3600)
        here = {name for name in names if cluster.owner(name) != 1}
        assert 0 < len(here) < len(names)
        pages = browsing(stack, url)
        assert told(pages)[0].keys() == {*names, "split"}
        cluster.servers[1].kill()
        alive = sorted(here)[0]
        client.delayed_queue(alive, transfer=False).offer("b", 3600)
        rows, trouble = told(pages)
        assert (rows[alive]["waiting"], trouble) == (2, "")
        for name in names:
            assert rows[name]["has_figures"] == (name in here), name
            assert bool(rows[name]["error"]) == (name not in here), name
        # Not all of its partitions have told.
        assert (rows["split"]["has_figures"], bool(rows["split"]["error"])) == (True, True)
        page = pages.get("/").text
        assert page.count(">No figures</span>") == len(names) - len(here)
        assert page.count(">Figures are missing</span>") == 1
        cluster.servers[1].start()
        eventually(lambda: all(row["has_figures"] and not row["error"] for row in told(pages)[0].values()))


def test_a_page_that_begins_while_a_node_is_away_says_that_queues_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Snapshots, "rescan", 0.0)
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        url = f"redis+cluster://127.0.0.1:{cluster.servers[0].port}"
        client = stack.enter_context(redisson_dq.connect(url, codec=StringCodec()))
        names = {f"queue-{i}" for i in range(10)}
        for name in names:
            client.delayed_queue(name, transfer=False).offer("a", 3600)
        here = {name for name in names if cluster.owner(name) == 0}
        assert 0 < len(here) < len(names)
        cluster.servers[1].kill()
        pages = browsing(stack, url)
        view = pages.get("/?format=json").json()
        assert {row["name"] for row in view["rows"]} == here
        assert view["missing"].startswith("Its queues may be missing: ")
        page = pages.get("/").text
        assert ">A node is away<" in page
        assert "Still looking" not in page
        cluster.servers[1].start()
        eventually(lambda: pages.get("/?format=json").json()["missing"] == "")
        assert '<span class="chip problem" id="missing" title="" hidden>' in pages.get("/").text


def test_a_cluster_that_serves_nobody_is_asked_for_no_long_time() -> None:
    """Each call waits for a slot that moves. Hundreds of queues would wait one after another."""
    with ExitStack() as stack:
        cluster = Cluster(stack, 2, node_timeout_ms=500)
        url = f"redis+cluster://127.0.0.1:{cluster.servers[0].port}"
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            for i in range(60):
                client.delayed_queue(f"queue-{i}", transfer=False).offer("a", 3600)
        pages = browsing(stack, url)
        assert told(pages)[1] == ""
        # One of two is no majority.
        cluster.servers[1].kill()
        eventually(lambda: cluster.admins[0].execute_command("CLUSTER INFO")["cluster_state"] == "fail")
        began = time.monotonic()
        rows, trouble = told(pages)
        assert len(rows) == 60
        assert time.monotonic() - began < 10
        assert trouble.startswith("Redis ")
