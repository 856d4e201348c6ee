"""A user who has never seen the pages finds the problems of a server with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from playwright.sync_api import expect

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from tests.browser.conftest import OpenTab, serving
from tests.conftest import PROGRAMS
from tests.illnesses import ILLNESSES, PythonWriter, well

#: The problems, and the marks of their queues. The last one is of the server.
PLANTED = {
    "nobody-moves": "Nobody moves",
    "leases-stuck": "Leases stuck",
    "dead-letters": "Dead letters",
    "unknown-classes": "Unknown classes",
    "slow-scripts": "",
}


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    """A dashboard of a server with these problems, each on its own queue, and two healthy queues."""
    with (
        EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True) as server,
        redis.Redis.from_url(server.url) as admin,
        redisson_dq.connect(server.url) as client,
        redisson_dq.connect(server.url) as other,
        well(server.url, admin, client, PythonWriter(other)) as fleet,
    ):
        for illness in PLANTED:
            ILLNESSES[illness](fleet, f"queue-{illness}")
        with serving(server.url) as root:
            yield root


@pytest.mark.nightly
def test_the_first_page_shows_five_planted_problems_without_a_click(open_tab: OpenTab) -> None:
    page = open_tab().open("/")
    expect(page.locator("#verdict")).to_have_text("The doctor found problems")
    told = {name: page.locator(f'tr[data-queue="queue-{name}"] .marks') for name in PLANTED if PLANTED[name]}
    for name, place in told.items():
        expect(place).to_contain_text(PLANTED[name])
    expect(page.locator("#findings")).to_contain_text("busy for up to")
    # The worst one is on top, and the queues that are well have no mark.
    expect(page.locator("tbody tr").first).to_have_attribute("data-queue", "queue-nobody-moves")
    for name in ("idle", "busy"):
        expect(page.locator(f'tr[data-queue="{name}"] .marks')).to_have_text("")
    # Each mark leads to its remedy.
    addresses = [place.get_by_role("link").get_attribute("href") or "" for place in told.values()]
    for address in addresses:
        page.goto(page.url.partition("/doctor")[0].rstrip("/") + address)
        expect(page.locator(f'[id="{address.partition("#")[2]}"] .command').first).to_be_visible()
