"""The pages below a path, in a real browser: no script and no form of theirs leaves it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web import Token
from redisson_dq.web.paths import Links
from tests.browser.conftest import OpenTab
from tests.conftest import by_night, emptied
from tests.web.places import PLACES

TOKEN = "a-token-of-the-tests"
LINKS = Links("")


@pytest.fixture(params=["proxy", *map(by_night, [each for each in PLACES if each != "proxy"])])
def root(server: EmbeddedServer, request: pytest.FixtureRequest) -> Iterator[str]:
    with PLACES[request.param](emptied(server).url, auth=Token(TOKEN), allow_writes=True) as root:
        yield root


def test_everything_below_a_path(open_tab: OpenTab, root: str, server: EmbeddedServer) -> None:
    with redisson_dq.connect(server.url, codec=StringCodec()) as client:
        orders = client.delayed_queue("orders", transfer=False)
        orders.offer("a", 3600)
        tab = open_tab()
        page = tab.open(LINKS.items("orders"))
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        # The login leads on to the page that was asked for.
        expect(page.get_by_role("heading", level=1)).to_have_text("Items")
        page.get_by_role("link", name="Queues", exact=True).first.click()
        waiting = page.locator('tr[data-queue="orders"] [data-cell="waiting"] .n')
        expect(waiting).to_have_text("1")
        orders.offer("b", 3600)
        expect(waiting).to_have_text("2")
        page.get_by_role("link", name="orders").click()
        page.get_by_role("link", name="1 d", exact=True).click()
        expect(page.locator("#timeline a[aria-current]")).to_have_text("1 d")
        assert page.url.startswith(f"{root}/queues/orders?from=now")
        page.locator("#timeline svg a").first.click()
        page.get_by_role("button", name="Cancel all that match").click()
        page.get_by_role("button", name="Cancel 2 items").click()
        expect(page.locator("#action")).to_contain_text("2 of 2 cancelled")
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.locator("#action")).to_contain_text("2 of 2 are as before")
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Token")).to_be_visible()
