"""A Java service beside the page: a live Redisson offers and takes, and the browser shows its queue as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.paths import Links
from tests.browser.conftest import OpenTab, serving
from tests.faults.servers import at_hand
from tests.interop.sides import Java
from tests.peer import VERSIONS, JavaPeer, from_json

LINKS = Links("")
HOUR_MS = 3_600_000


@pytest.fixture(scope="module", params=list(at_hand()))
def server(request: pytest.FixtureRequest) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(program=at_hand()[request.param]()) as made:
        yield made


@pytest.fixture(scope="module")
def root(server: EmbeddedServer) -> Iterator[str]:
    with serving(server.url) as root:
        yield root


# A JVM starts, and two clients in it.
@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
def test_a_producer_and_a_consumer_of_java(
    open_tab: OpenTab, server: EmbeddedServer, peers: Callable[[str], JavaPeer], version: str
) -> None:
    queue = f"orders-{version}"
    producer, consumer = (Java(peers(version), server.url, queue) for _ in range(2))
    try:
        page = open_tab().open(LINKS.queue(queue))
        waiting, ready = (page.locator(f'[data-figure="{each}"] .count') for each in ("waiting", "ready"))
        movers = page.get_by_role("region", name="Who moves and listens")
        expect(waiting).to_have_text("0")
        producer.offer({"order": {"id": 42, "sku": "A-1"}}, HOUR_MS)
        expect(waiting).to_have_text("1", timeout=20_000)
        expect(movers).to_contain_text("No client has this queue open.")
        # The list of clients is as new as the count of those that listen.
        consumer.call("open_delayed")
        page.reload()
        expect(movers).to_contain_text("1 would move")
        expect(movers).not_to_contain_text("No client has this queue open.")
        expect(movers.get_by_role("listitem")).to_have_count(1)
        # Redisson tells Redis no name of its library.
        expect(movers.get_by_role("listitem")).to_contain_text("gives no name")
        expect(movers).to_contain_text("1 of those that would move it are not of this library, such as Redisson's.")
        expect(page.locator("main")).to_contain_text("legacy" if version == "3.20.0" else "current")
        expect(page.locator("main")).to_contain_text("Kryo5Codec")
        # What falls due goes to the Java consumer while the page is open.
        taking = consumer.taking(1)
        producer.offer("soon", 300)
        assert from_json(taking.result(60)[0]["value"]) == "soon"
        expect(waiting).to_have_text("1")
        expect(ready).to_have_text("0")
        page.get_by_role("link", name="List the items").click()
        expect(page.locator("table.items tbody tr")).to_have_count(1)
        expect(page.locator("table.items")).to_contain_text('{"order": {"id": 42, "sku": "A-1"}}')
        page.locator("table.items tbody a").first.click()
        tree = page.get_by_role("region", name="The value as a tree")
        expect(tree).to_contain_text("id: 42")
        expect(tree).to_contain_text('sku: "A-1"')
        expect(page.locator("main")).to_contain_text("Kryo5Codec, certain")
    finally:
        producer.close()
        consumer.close()
