"""The dashboard on a cluster, behind a Sentinel, over TLS, under a name mapper, and for users that lack rights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
import redis

import redisson_dq
from redisson_dq._sync.connect import unopened
from redisson_dq.codecs import JsonJacksonCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.web import Token, app
from redisson_dq.web.paths import Links
from redisson_dq.wire.rights import acl_words
from tests.cluster import Cluster
from tests.conftest import emptied, eventually, moving
from tests.integration.servers.test_topologies import Watched
from tests.security.conftest import Certificates
from tests.web.conftest import TestClient, token_of

HOUR = 3600.0
LINKS = Links("")
TOKEN = "a-token-of-the-servers"
Browse = Callable[..., "Pages"]


class Pages:
    """The pages of one server, as their data."""

    def __init__(self, asked: TestClient) -> None:
        self.asked = asked

    def json(self, address: str) -> Any:
        answer = self.asked.get(address, params={**_query(address), "format": "json"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def html(self, address: str) -> str:
        answer = self.asked.get(address)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def act(self, queue: str, **fields: str) -> Any:
        """Counts and does an action."""
        token = {"token": token_of(self.asked, "token")}
        chosen = self.asked.post(LINKS.act(queue), data={**token, **fields})
        assert chosen.status_code == 303, chosen.text
        address = chosen.headers["location"]
        eventually(lambda: self.json(address)["status"] == "ready", told=lambda: self.json(address))
        self.asked.post(f"{address}/do", data=token)
        return eventually(lambda: (found := self.json(address))["status"] == "done" and found)

    def refused(self, queue: str, **fields: str) -> str:
        """Asks for an action that cannot be done. Gives its error."""
        token = {"token": token_of(self.asked, "token")}
        address = self.asked.post(LINKS.act(queue), data={**token, **fields}).headers["location"]
        found = eventually(lambda: not (it := self.json(address))["goes_on"] and it)
        if found["status"] == "ready":
            self.asked.post(f"{address}/do", data=token)
            found = eventually(lambda: not (it := self.json(address))["goes_on"] and it)
        assert found["status"] == "failed", found
        return str(found["error"])


def _query(address: str) -> dict[str, str]:
    return dict(parse_qsl(address.partition("?")[2]))


@pytest.fixture
def browse() -> Iterator[Browse]:
    """Opens the dashboard of a client, which is closed at the end."""
    with ExitStack() as stack:

        def opened(url: str | None, **options: Any) -> Pages:
            client = unopened(url, options)
            stack.callback(client.close)
            made = app(client, auth=Token(TOKEN), allow_writes=True)
            headers = {"authorization": f"Bearer {TOKEN}"}
            return Pages(
                stack.enter_context(TestClient(made, "http://127.0.0.1:8787", headers=headers, follow_redirects=False))
            )

        yield opened


def filled(client: redisson_dq.Client, *, partitions: int | None = None) -> None:
    """A queue that our client moves, one that nobody moves, one dead letter."""
    orders: Any = client.delayed_queue("orders", partitions=partitions)
    moving(orders).offer_all([({"id": i}, HOUR + i) for i in range(12)])
    client.delayed_queue("lonely", transfer=False).offer("a", HOUR, id="only")
    payments = client.blocking_queue("payments")
    payments.put({"card": 1})
    delivery = payments.receive(timeout=10)
    assert delivery is not None
    delivery.reject("card_expired")


def every_view(pages: Pages, *, partitions: int | None = None) -> None:
    """Each view shows what ``filled`` has planted, and an action with its undo works."""
    rows = {row["name"]: row for row in pages.json(LINKS.fleet())["rows"]}
    assert {name: row["waiting"] for name, row in rows.items()} == {"lonely": 1, "orders": 12, "payments": 0}
    assert (rows["orders"]["partitions"], rows["payments"]["dead"]) == (partitions, 1)
    queue = pages.json(LINKS.queue("orders"))
    assert queue["figures"]["waiting"] == sum(each["count"] for each in queue["timeline"]["spans"]) == 12
    assert [(each["language"], "subscription" in each["roles"]) for each in queue["listeners"]] == [("Python", True)]
    assert [each["name"] for each in queue["codecs"]] == ["JsonJacksonCodec"]
    lonely = pages.json(LINKS.queue("lonely"))
    if lonely["subscribers"] is None:
        assert "does not report which clients listen to this queue" in pages.html(LINKS.queue("lonely"))
    else:
        assert (lonely["subscribers"], lonely["listeners"]) == (0, [])
    listed = pages.json(LINKS.items("orders", filter="value.id >= 10"))
    assert {row["preview"] for row in listed["rows"]} == {'{"id": 10}', '{"id": 11}'}
    item = pages.json(LINKS.item("orders", "waiting", listed["rows"][0]["id"]))
    assert {"id", ""} == {node["key"] for node in item["nodes"]}
    assert pages.json(LINKS.items("payments", state="dead"))["rows"][0]["reason"] == "card_expired"

    def found() -> set[tuple[str, str]]:
        return {(each["check"], each["queue"]) for each in pages.json(LINKS.doctor())["findings"]}

    # The page shows the last report while another one is made.
    eventually(lambda: {("nobody-moves", "lonely"), ("dead-letters", "payments")} <= found(), told=found)
    done = pages.act("orders", action="cancel", filter="value.id >= 10")
    assert (done["wanted"], done["done"]) == (2, 2)
    assert pages.json(LINKS.queue("orders"))["figures"]["waiting"] == 10


def test_a_cluster(browse: Browse) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        url = f"redis+cluster://{cluster.url.removeprefix('redis://').partition('/')[0]}"
        client = stack.enter_context(redisson_dq.connect(url, codec=JsonJacksonCodec()))
        filled(client, partitions=4)
        every_view(browse(url), partitions=4)
        cluster.servers[1].kill()
        # The queues of the node that is away are not found, and the page says so.
        pages = browse(url, socket_timeout=2)
        shown = pages.asked.get(LINKS.fleet())
        assert shown.status_code == 200
        assert re.search('title="Its queues may be missing: [^"]+">A node is away<', shown.text), shown.text


@pytest.mark.nightly
def test_a_sentinel(browse: Browse, tmp_path: Path) -> None:
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        url = f"redis+sentinel://127.0.0.1:{watched.port}/main"
        client = stack.enter_context(redisson_dq.connect(url, codec=JsonJacksonCodec()))
        filled(client)
        every_view(browse(url))


@pytest.mark.parametrize("way", ["url", "file"])
def test_tls(
    tls_server: tuple[EmbeddedServer, int], certificates: Certificates, browse: Browse, way: str, tmp_path: Path
) -> None:
    server, port = tls_server
    with redisson_dq.connect(server.url, codec=JsonJacksonCodec()) as client:
        filled(client)
        options = {"ssl_ca_certs": certificates.ca, "ssl_certfile": certificates.client}
        options["ssl_keyfile"] = certificates.client_key
        if way == "url":
            pages = browse(f"rediss://localhost:{port}/0?{urlencode(options)}")
        else:
            # A file of Redisson's settings, beside certificates that Python reads.
            path = tmp_path / "redisson.json"
            path.write_text(json.dumps({"singleServerConfig": {"address": f"rediss://localhost:{port}"}}))
            pages = browse(None, redisson_config=path, **options)
        every_view(pages)
        # The address in the page has no paths of keys.
        assert "client.key" not in pages.html(LINKS.fleet())


def test_a_name_mapper(servers: Callable[[str], EmbeddedServer], browse: Browse) -> None:
    url = emptied(servers("redis")).url
    with redisson_dq.connect(url, codec=JsonJacksonCodec(), name_mapper="shop:") as client:
        filled(client)
        every_view(browse(url, name_mapper="shop:"))
    # A dashboard without the mapper shows the names in Redis.
    seen = browse(url).json(LINKS.fleet())["rows"]
    assert {row["name"] for row in seen} == {"shop:lonely", "shop:orders", "shop:payments"}
    with pytest.raises(ArgumentError, match="cannot turn a raw name back"):
        browse(url, name_mapper=str.upper)


def _user(admin: redis.Redis, url: str, *rules: str) -> str:
    """The URL for a user of these rights alone."""
    admin.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">secret", *rules)
    return url.replace("//", "//looker:secret@")


def test_users_of_few_rights(servers: Callable[[str], EmbeddedServer], browse: Browse) -> None:
    url = emptied(servers("redis")).url
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(url))
        stack.callback(admin.execute_command, "ACL", "DELUSER", "looker")
        filled(stack.enter_context(redisson_dq.connect(url, codec=JsonJacksonCodec())))
        observer = acl_words("observer", ["*"], version=(7, 0))
        every_look = browse(_user(admin, url, *observer))
        for address in _ADDRESSES:
            every_look.html(address)
        # An action is refused by Redis, and the page names the right that is missing.
        told = every_look.refused("orders", action="cancel", all="1")
        assert "the user may not run the commands HDEL" in told
        assert "ACL SETUSER gives the right" in told
        # Of one queue alone: the others are there without figures, and say why.
        some = browse(_user(admin, url, *acl_words("observer", ["orders"], version=(7, 0))))
        rows = {row["name"]: (row["waiting"], row["verdict"], row["error"]) for row in some.json(LINKS.fleet())["rows"]}
        assert rows["orders"][0] == 12
        assert rows["lonely"][1] == "problem"
        assert "stats on 'lonely': this user has no permissions to access one of the keys" in rows["lonely"][2]
        assert some.html(LINKS.fleet()).count("No figures") == 2
        # Without a look at clients, slow logs and the server.
        few = browse(_user(admin, url, "+@all", "-client|list", "-slowlog", "-info", "~*", "&*"))
        assert few.json(LINKS.queue("orders"))["subscribers"] == 1
        assert "The clients cannot be seen: Redis refuses CLIENT LIST" in few.html(LINKS.queue("orders"))
        unknown = {
            each["id"]: each["reason"] for each in few.json(LINKS.doctor())["checks"] if each["status"] == "unknown"
        }
        assert {"memory", "slow-scripts", "client-versions"} <= unknown.keys()
        assert all("Redis refuses" in reason for reason in unknown.values())
        # With no right at all each page says which command was refused.
        none = browse(_user(admin, url, "-@all"))
        for address, refused in ((LINKS.fleet(), "SCAN"), (LINKS.queue("orders"), "EXISTS")):
            answer = none.asked.get(address)
            assert (answer.status_code, "Redis refused" in answer.text) == (502, True)
            assert refused in answer.text
            assert "this user has no permissions" in answer.text
            assert "redisson-dq acl prints the rights of an observer" in answer.text


_ADDRESSES = (
    LINKS.fleet(),
    LINKS.queue("orders"),
    LINKS.items("orders"),
    LINKS.items("payments", state="dead"),
    LINKS.item("lonely", "waiting", "only"),
    LINKS.doctor(),
)
