"""The doctor's verdicts come to open pages by themselves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.paths import Links
from tests.browser.conftest import OpenTab, serving
from tests.browser.judging import accessible

LINKS = Links("")
ODD = ".odd/<b>name</b> é"


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[redisson_dq.Client]:
    with redisson_dq.connect(server.url, codec=StringCodec()) as client:
        yield client


@pytest.fixture
def root(server: EmbeddedServer, client: redisson_dq.Client) -> Iterator[str]:
    """A dashboard whose doctor has not looked yet."""
    client.delayed_queue(ODD, transfer=False).offer("a", 3600)
    with serving(server.url) as root:
        yield root


def test_the_verdicts_of_the_doctor_come_by_themselves(open_tab: OpenTab, client: redisson_dq.Client) -> None:
    page, other = open_tab().open(LINKS.queue(ODD)), open_tab()
    # The first look of the doctor ends after the page of the queue is there.
    expect(page.locator("#findings")).to_contain_text("Problem")
    fleet = other.open("/")
    marks = fleet.locator(f"tr:has-text('{ODD}') .marks")
    expect(marks.get_by_role("link")).to_have_text("Problem: Nobody moves")
    expect(fleet.locator("#verdict")).to_have_text("The doctor found problems")
    orders = client.delayed_queue(ODD, transfer=False)
    orders.pause()
    expect(marks).to_contain_text("Paused")
    expect(page.locator("#paused")).to_be_visible()
    orders.resume()
    expect(marks).not_to_contain_text("Paused")
    expect(page.locator("#paused")).to_be_hidden()
    for each in (fleet, page):
        accessible(each)
    # JavaScript writes the addresses as Python does.
    assert marks.get_by_role("link").get_attribute("href") == LINKS.finding("nobody-moves", ODD)
    assert page.locator("#findings a").first.get_attribute("href") == LINKS.finding("nobody-moves", ODD)
    marks.get_by_role("link").click()
    expect(fleet.locator(f'[id="{LINKS.finding_id("nobody-moves", ODD)}"]')).to_be_visible()
