"""Open pages stay up to date, and say so if they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import expect

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.paths import Links
from tests.browser.conftest import OpenTab, serving
from tests.browser.judging import accessible
from tests.conftest import PROGRAMS, emptied

LINKS = Links("")
_HIDE = """is => {
  Object.defineProperty(document, "hidden", {value: is, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A Redis that the tests stop and start again."""
    data = Path(tmp_path_factory.mktemp("redis"))
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=data) as server:
        yield server


@pytest.fixture(scope="module")
def root(server: EmbeddedServer) -> Iterator[str]:
    with serving(server.url) as root:
        yield root


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[redisson_dq.Client]:
    with redisson_dq.connect(emptied(server).url, codec=StringCodec()) as client:
        yield client


def test_figures_come_by_themselves(open_tab: OpenTab, client: redisson_dq.Client) -> None:
    orders = client.delayed_queue("orders", transfer=False)
    orders.offer("a", 3600)
    page = open_tab().open("/")
    waiting = page.locator('tr[data-queue="orders"] [data-cell="waiting"] .n')
    expect(waiting).to_have_text("1")
    orders.offer_all([(str(i), 3600) for i in range(1233)])
    expect(waiting).to_have_text("1,234")
    expect(page.locator('[data-figure="waiting"] .count')).to_have_text("1,234")


# All keys are scanned every ten seconds.
@pytest.mark.nightly
def test_queues_come_by_themselves(open_tab: OpenTab, client: redisson_dq.Client) -> None:
    page = open_tab().open("/")
    expect(page.get_by_role("heading", level=2)).to_have_text("There is no queue yet", timeout=20_000)
    for name in ("orders", "invoices"):
        client.delayed_queue(name, transfer=False).offer("b", 60)
        expect(page.locator(f'tr[data-queue="{name}"]')).to_be_visible(timeout=20_000)
        # Redrawing keeps the focus.
        page.get_by_role("link", name="Waiting").focus()
    expect(page.get_by_role("link", name="Waiting")).to_be_focused()
    accessible(page)
    # Rows keep their places below the pointer or the focus, and nothing is lost.
    client.delayed_queue("bills", transfer=False).offer("b", 60)
    page.get_by_role("link", name="orders").focus()
    expect(page.locator('[data-figure="waiting"] .count')).to_have_text("3")
    expect(page.locator('tr[data-queue="bills"]')).to_have_count(0)
    page.get_by_role("link", name="Waiting").focus()
    expect(page.locator('tr[data-queue="bills"]')).to_be_visible()


def test_a_pause_and_a_hidden_tab_stop_the_updates(open_tab: OpenTab, client: redisson_dq.Client) -> None:
    orders = client.delayed_queue("orders", transfer=False)
    orders.offer("a", 3600)
    page = open_tab().open(LINKS.queue("orders"))
    count = page.locator('[data-figure="waiting"] .count')
    live = page.locator("#live")
    expect(live).to_have_attribute("data-state", "live")
    live.click()
    expect(live).to_have_text("Paused")
    orders.offer("b", 3600)
    # A page that is loaded meanwhile is paused too, and shows the state at its loading.
    page.reload()
    expect(live).to_have_text("Paused")
    expect(count).to_have_text("2")
    orders.offer("c", 3600)
    live.click()
    expect(count).to_have_text("3")
    page.evaluate(_HIDE, True)
    expect(live).to_have_attribute("data-state", "paused")
    orders.offer("d", 3600)
    page.evaluate(_HIDE, False)
    expect(live).to_have_attribute("data-state", "live")
    expect(count).to_have_text("4")


def test_now_moves_and_what_is_overdue_turns_red(open_tab: OpenTab, client: redisson_dq.Client) -> None:
    orders = client.delayed_queue("orders", transfer=False)
    orders.offer_all([("soon", 2), ("later", 3600)])
    page = open_tab().open(LINKS.queue("orders", from_="-30s", to="+30s"))
    expect(page.locator("#timeline svg a")).to_have_count(1)
    now = page.locator("#timeline .now")
    before = float((now.get_attribute("x1") or "").rstrip("%"))
    expect(page.locator('[data-figure="overdue"] .count')).to_have_text("1")
    expect(page.locator("#timeline .bar.overdue")).to_have_count(1, timeout=20_000)
    expect(page.locator('[data-figure="overdue"] .beside')).to_contain_text("oldest")
    page.wait_for_function(
        "before => parseFloat(document.querySelector('#timeline .now').getAttribute('x1')) > before", arg=before
    )


def test_redis_goes_away_and_comes_back_in_place(
    open_tab: OpenTab, client: redisson_dq.Client, server: EmbeddedServer
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    client.close()
    with ExitStack() as stack:
        tab = open_tab()
        page = tab.open("/")
        other = open_tab()
        count = page.locator('tr[data-queue="orders"] [data-cell="waiting"] .n')
        expect(count).to_have_text("1")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        server.kill()
        stack.callback(lambda: server.restart())
        banner = page.locator("#away")
        expect(banner).to_contain_text("Redis is away, and the figures are the last that were seen", timeout=20_000)
        expect(page.locator("#live")).to_have_text("Away")
        expect(count).to_have_text("1")
        accessible(page)
        # A page that is asked for meanwhile says so too, and comes by itself later.
        second = other.open(LINKS.queue("orders"))
        expect(second.get_by_role("heading", level=1)).to_have_text("Redis is away")
        accessible(second)
    expect(banner).to_contain_text("Redis is back", timeout=20_000)
    expect(page.locator("#live")).to_have_text("Live")
    expect(second.get_by_role("heading", level=1)).to_have_text("orders", timeout=20_000)
    for each in (tab, other):
        # The browser logs that a page had an error.
        each.complaints[:] = [said for said in each.complaints if "503" not in said]
