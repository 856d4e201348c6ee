"""The pages of a large server: 500 queues, and by night 1,000,000 items."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.paths import Links
from tests.browser.conftest import OpenTab, serving
from tests.browser.judging import LARGEST, settled, shifts, sizes
from tests.conftest import PATIENCE

LINKS = Links("")
QUEUES, ITEMS = 500, 1_000_000
_IN_BARS = """() => [...document.querySelectorAll("#timeline svg a")]
  .reduce((sum, bar) => sum + Number(bar.ariaLabel.split(" ")[0].replaceAll(",", "")), 0)"""


@pytest.fixture(scope="module")
def root(server: EmbeddedServer) -> Iterator[str]:
    with redisson_dq.connect(server.url, codec=StringCodec()) as client:
        for i in range(QUEUES):
            with client.delayed_queue(f"queue-{i:03}", transfer=False) as queue:
                queue.offer("a", 3600 + i)
    with serving(server.url) as root:
        # The doctor's first findings push the rest of a page down where they come after it.
        httpx.get(f"{root}/doctor", timeout=PATIENCE).raise_for_status()
        yield root


def test_500_queues_are_pages_of_one_list(open_tab: OpenTab) -> None:
    page = open_tab().open("/")
    settled(page)
    assert shifts(page) == 0
    assert sum(sizes(page).values()) < LARGEST
    expect(page.locator("#shown")).to_have_text("500")
    expect(page.locator('[data-figure="waiting"] .count')).to_have_text("500")
    expect(page.locator("tbody tr")).to_have_count(100)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".pager")).to_contain_text("Page 2 of 5")
    page.get_by_label("Filter the queues").fill("queue-49?")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(10)
    expect(page.locator("#shown")).to_have_text("10 of 500")
    # The page of findings has the worst hundred.
    page.get_by_role("link", name="Doctor", exact=True).click()
    expect(page.locator(".finding")).to_have_count(100, timeout=20_000)
    expect(page.locator("main")).to_contain_text("more are not shown")
    assert sum(sizes(page).values()) < LARGEST


@pytest.mark.nightly
def test_every_view_of_a_million_items(browser: Browser, server: EmbeddedServer) -> None:
    with redisson_dq.connect(server.url, codec=StringCodec()) as client:
        large = client.delayed_queue("large", transfer=False)
        for i in range(0, ITEMS, 10_000):
            large.offer_all([(f"order-{k}", 3600 + k) for k in range(i, i + 10_000)])
    with serving(server.url) as root:
        page = browser.new_page()
        page.goto(root + LINKS.fleet(sort="-waiting"))
        expect(page.locator("tbody tr").first.locator('[data-cell="waiting"] .n')).to_have_text("1,000,000")
        told = {"fleet": _loaded(page)}
        page.goto(root + LINKS.queue("large"))
        assert page.evaluate(_IN_BARS) == ITEMS
        told["queue"] = _loaded(page)
        page.locator("#timeline svg a").nth(20).click()
        expect(page.locator("table.items tbody tr")).to_have_count(50)
        told["items of a span"] = _loaded(page)
        page.locator("table.items tbody a").first.click()
        expect(page.locator(".tree")).to_contain_text("order-")
        told["item"] = _loaded(page)
        page.goto(root + LINKS.items("large", filter="id ~ 1"))
        expect(page.locator("table.items tbody tr")).to_have_count(50)
        told["filter"] = _loaded(page)
        page.goto(root + LINKS.doctor())
        expect(page.locator(".finding").first).to_contain_text("Problem", timeout=20_000)
        told["doctor"] = _loaded(page)
        page.close()
    print("ms from the request to the loaded page:", told)


@pytest.mark.nightly
def test_a_slow_phone_goes_on_while_500_queues_change(open_tab: OpenTab, root: str, server: EmbeddedServer) -> None:
    tab = open_tab(width=360)
    tab.page.context.new_cdp_session(tab.page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    page = tab.open("/")
    waited = [0.0]
    with redisson_dq.connect(server.url, codec=StringCodec()) as client:
        for k in range(3):
            for i in range(QUEUES):
                with client.delayed_queue(f"queue-{i:03}", transfer=False) as queue:
                    queue.offer("b", 7200)
                if i % 50 == 0:
                    # The page answers amid its updates.
                    began = time.monotonic()
                    page.evaluate("() => new Promise(requestAnimationFrame)")
                    waited.append(time.monotonic() - began)
            expect(page.locator('tr[data-queue="queue-000"] [data-cell="waiting"] .n')).to_have_text(f"{k + 2}")
        began = time.monotonic()
        page.get_by_role("link", name="queue-007").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("queue-007")
        loaded = time.monotonic() - began
    assert max(waited) < 1
    assert loaded < 3


def _loaded(page: Page) -> int:
    return int(page.evaluate("() => performance.getEntriesByType('navigation')[0].loadEventEnd"))
