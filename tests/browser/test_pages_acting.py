"""Every action, from the page that counts to its undo, in a real browser."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.paths import Links
from redisson_dq.worker import Limit, Retry, Worker, fixed
from tests.browser.conftest import OpenTab, Tab, serving
from tests.browser.judging import accessible, fits
from tests.conftest import emptied, eventually

TOKEN = "a-token-of-the-tests"
LINKS = Links("")
Client = redisson_dq.Client


@pytest.fixture(scope="module")
def root(server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    undo = str(tmp_path_factory.mktemp("undo"))
    with serving(server.url, "--allow-writes", "--auth", "token", "--undo-dir", undo, token=TOKEN) as root:
        yield root


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[Client]:
    """A client on an empty Redis."""
    with redisson_dq.connect(emptied(server).url, codec=StringCodec()) as client:
        yield client


@pytest.fixture(scope="module")
def session(browser: Browser, root: str) -> Iterator[Any]:
    """The cookie of somebody who has logged in, with the second try."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(root)
        accessible(page)
        page.get_by_label("Token").fill("a wrong one")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_have_text("This is not the token.")
        accessible(page)
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        yield context.storage_state()


@pytest.fixture
def mender(open_tab: OpenTab, session: Any) -> Tab:
    """A tab of somebody who has logged in."""
    return open_tab(storage_state=session)


def _offered(client: Client, count: int) -> Callable[[], set[str]]:
    """Offers items that wait. The function says which do now."""
    delayed = client.delayed_queue("orders", transfer=False)
    for i in range(count):
        delayed.offer(f"order-{i}", 3600 + i, id=f"id-{i}")
    return lambda: {str(each) for each in delayed.read_all()}


def _confirmed(page: Page, question: str, button: str, told: str, *, judged: bool = False) -> None:
    """Reads the count, and says yes. ``judged``: all can use the two pages."""
    expect(page.get_by_role("heading", level=1)).to_have_text(question)
    expect(page.locator("#action")).to_contain_text("Nothing has changed yet.")
    if judged:
        accessible(page)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#action")).to_contain_text(told)
    if judged:
        accessible(page)


def _undone(page: Page, told: str) -> None:
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undone")
    expect(page.locator("#action")).to_contain_text(told)


def test_chosen_items_are_cancelled_and_come_back(mender: Tab, client: Client) -> None:
    waiting = _offered(client, 5)
    page = mender.open(LINKS.items("orders"))
    page.get_by_label("Choose id-1").check()
    page.get_by_label("Choose id-3").press("Space")
    expect(page.locator("#picked")).to_have_text("2 chosen")
    page.get_by_role("button", name="Cancel the chosen items").click()
    assert len(waiting()) == 5
    _confirmed(page, "Cancel these items?", "Cancel 2 items", "2 of 2 cancelled", judged=True)
    assert waiting() == {"order-0", "order-2", "order-4"}
    _undone(page, "2 of 2 are as before")
    accessible(page)
    assert len(waiting()) == 5


@pytest.mark.nightly
def test_items_of_a_filter_are_rescheduled(mender: Tab, client: Client) -> None:
    _offered(client, 5)
    before = client.stats("orders")["orders"].next_due
    page = mender.open(LINKS.items("orders", filter="id in (id-0, id-4)"))
    page.get_by_label("Reschedule all that match to").fill("+1d")
    page.get_by_role("button", name="Reschedule all that match").click()
    _confirmed(page, "Reschedule these items?", "Reschedule 2 items", "2 of 2 rescheduled")
    after = client.stats("orders")["orders"].next_due
    assert before is not None
    assert after is not None
    # The next one is id-1 now.
    assert after > before
    expect(mender.open(LINKS.item("orders", "waiting", "id-0")).locator(".facts")).to_contain_text("in 1d")
    page.go_back()
    _undone(page, "2 of 2 are as before")
    assert client.stats("orders")["orders"].next_due == before


@pytest.mark.nightly
def test_a_span_of_the_timeline_is_acted_on_and_nothing_else(mender: Tab, client: Client) -> None:
    waiting = _offered(client, 3)
    client.delayed_queue("orders", transfer=False).offer("far", 5 * 86_400, id="far")
    page = mender.open(LINKS.queue("orders"))
    page.locator("#timeline svg a").last.click()
    expect(page.locator("table.items tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Cancel all that match").click()
    _confirmed(page, "Cancel this item?", "Cancel 1 item", "1 of 1 cancelled")
    assert waiting() == {"order-0", "order-1", "order-2"}


def _dues(client: Client) -> dict[str, datetime]:
    """The due times of what waits."""
    found = client.delayed_queue("orders", transfer=False).items()
    return {item.id: item.due for item in found if item.due is not None}


def test_bars_of_the_timeline_are_dragged_to_another_time(mender: Tab, client: Client) -> None:
    _offered(client, 3)
    client.delayed_queue("orders", transfer=False).offer("later", 7000, id="later")
    before = _dues(client)
    page = mender.open(LINKS.queue("orders", from_="now", to="+4h"))
    bars = page.locator("#timeline svg a")
    expect(bars).to_have_count(2)
    page.get_by_role("button", name="Move items").click()
    expect(page.locator("#moved")).to_contain_text("Pick a bar")
    accessible(page)
    box, plot = bars.first.locator(".hit").bounding_box(), page.locator("#timeline svg").bounding_box()
    assert box is not None
    assert plot is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + plot["width"] / 8, box["y"] + 20, steps=5)
    page.mouse.up()
    expect(page.locator("#moved")).to_contain_text("3 items due")
    expect(bars.first).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#timeline .ghost")).to_have_count(1)
    accessible(page)
    by = page.get_by_label("Move the chosen items by").input_value()
    assert re.fullmatch(r"\+\d+m", by), by
    assert _dues(client) == before
    page.get_by_role("button", name="Reschedule…").click()
    _confirmed(page, "Reschedule these items?", "Reschedule 3 items", "3 of 3 rescheduled")
    moved = _dues(client)
    assert {id: moved[id] - before[id] for id in before} == {
        **{f"id-{i}": timedelta(minutes=int(by[1:-1])) for i in range(3)},
        "later": timedelta(0),
    }
    _undone(page, "3 of 3 are as before")
    assert _dues(client) == before


@pytest.mark.nightly
def test_bars_of_the_timeline_are_moved_from_the_keyboard(mender: Tab, client: Client) -> None:
    _offered(client, 2)
    client.delayed_queue("orders", transfer=False).offer("later", 7000, id="later")
    before = _dues(client)
    page = mender.open(LINKS.queue("orders", from_="now", to="+4h"))
    _tab_to(page, "Move items", "Enter")
    _tab_to(page, page.locator("#timeline svg a").first.get_attribute("aria-label") or "", "Space")
    expect(page.locator("#moved")).to_contain_text("2 items due")
    # Shift selects the neighbour too, and Escape leaves all where they are.
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#moved")).to_contain_text("3 items due")
    page.keyboard.press("Escape")
    expect(page.locator("#moved")).to_contain_text("Pick a bar")
    page.keyboard.press("Space")
    expect(page.locator("#moved")).to_contain_text("1 item due")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    step = int(page.locator("#timeline").get_attribute("data-step-ms") or 0)
    expect(page.get_by_label("Move the chosen items by")).to_have_value(f"-{8 * step // 60_000}m")
    # Another zoom keeps what was picked.
    page.keyboard.press("-")
    expect(page.locator("#timeline")).not_to_have_attribute("data-step-ms", str(step))
    expect(page.locator("#moved")).to_contain_text("1 item due")
    by = page.get_by_label("Move the chosen items by")
    by.fill("-3h")
    expect(page.locator("#moved")).to_contain_text("That is past")
    # When the timeline is redrawn, typed text and the focus stay.
    before_zoom = page.locator("#timeline").get_attribute("data-step-ms") or ""
    page.locator("#timeline svg").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, 200)
    page.keyboard.up("Control")
    expect(page.locator("#timeline")).not_to_have_attribute("data-step-ms", before_zoom)
    expect(by).to_have_value("-3h")
    expect(by).to_be_focused()
    _tab_to(page, "Reschedule…", "Enter")
    _confirmed(page, "Reschedule this item?", "Reschedule 1 item", "1 of 1 rescheduled", judged=True)
    assert _dues(client)["later"] == before["later"] - timedelta(hours=3)
    _undone(page, "1 of 1 is as before")
    assert _dues(client) == before
    # Left again, a bar is a link to its items.
    page = mender.open(LINKS.queue("orders"))
    page.get_by_role("button", name="Move items").press("Enter")
    page.get_by_role("button", name="Leave them").click()
    expect(page.locator("#move")).to_be_hidden()
    page.locator("#timeline svg a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Items")


def test_one_item_runs_now(mender: Tab, client: Client) -> None:
    _offered(client, 2)
    page = mender.open(LINKS.item("orders", "waiting", "id-1"))
    page.get_by_role("button", name="Run now this item").click()
    _confirmed(page, "Run now this item?", "Run now 1 item", "1 of 1 made due")
    assert client.stats("orders")["orders"].overdue == 1


def test_a_queue_is_paused_and_resumed(mender: Tab, client: Client) -> None:
    _offered(client, 1)
    page = mender.open(LINKS.queue("orders"))
    page.get_by_role("button", name="Pause…").click()
    _confirmed(page, "Pause this queue?", "Pause orders", "is paused", judged=True)
    page.get_by_role("link", name="Back to the queue").click()
    expect(page.locator(".head .chip")).to_have_text("Paused")
    page.get_by_role("button", name="Resume…").click()
    _confirmed(page, "Resume this queue?", "Resume orders", "is resumed")
    assert not client.stats("orders")["orders"].is_paused


def test_a_value_is_offered(mender: Tab, client: Client) -> None:
    waiting = _offered(client, 1)
    page = mender.open(LINKS.queue("orders"))
    page.get_by_text("Offer a value").click()
    accessible(page)
    page.get_by_label("Value, as JSON").fill('"<b>late</b>"')
    page.get_by_label("Delay").fill("2h")
    page.get_by_role("button", name="Offer").click()
    expect(page.get_by_role("heading", name="Offer a value?")).to_be_visible()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    assert waiting() == {"order-0"}
    page.get_by_role("button", name="Offer to orders").click()
    expect(page.get_by_role("heading", name="Done")).to_be_visible()
    assert waiting() == {"order-0", "<b>late</b>"}


def test_dead_values_are_redriven_and_purged(mender: Tab, client: Client) -> None:
    queue = client.blocking_queue("orders")
    for value in ("a", "b", "c"):
        queue.put(value)
        delivery = queue.receive(timeout=10)
        assert delivery is not None
        delivery.reject(f"{value} failed")
    page = mender.open(LINKS.items("orders", state="dead", filter="reason ~ b"))
    page.get_by_role("button", name="Redrive all that match").click()
    _confirmed(page, "Redrive this item?", "Redrive 1 item", "1 of 1 given to the queue again")
    assert queue.poll(timeout=10) == "b"
    page = mender.open(LINKS.items("orders", state="dead"))
    page.get_by_label("Choose all of this page").check()
    page.get_by_role("button", name="Purge the chosen items").click()
    _confirmed(page, "Purge these items?", "Purge 2 items", "2 of 2 purged")
    assert client.stats("orders")["orders"].dead == 0
    _undone(page, "2 of 2 are as before")
    assert client.stats("orders")["orders"].dead == 2


def test_a_stuck_lease_is_given_back(mender: Tab, client: Client) -> None:
    queue = client.blocking_queue("orders")
    queue.put("stuck")
    assert queue.receive(timeout=10, visibility_timeout=3600) is not None
    page = mender.open(LINKS.items("orders", state="in-flight"))
    page.get_by_role("button", name="Give back all items").click()
    _confirmed(page, "Give back this item?", "Give back 1 item", "1 of 1 given back")
    assert queue.poll(timeout=10) == "stuck"


def test_nothing_happens_where_somebody_says_no(mender: Tab, client: Client) -> None:
    waiting = _offered(client, 2)
    page = mender.open(LINKS.items("orders"))
    page.get_by_role("button", name="Cancel all items").click()
    page.get_by_role("button", name="Do nothing").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dropped")
    assert len(waiting()) == 2


def _logged_in(tab: Tab) -> Page:
    """The first page, behind a login of this tab's own."""
    page = tab.open("/")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    return page


def test_the_action_log_has_all_and_takes_back(mender: Tab, client: Client) -> None:
    waiting = _offered(client, 3)
    page = mender.open(LINKS.items("orders"))
    page.get_by_role("button", name="Cancel all items").click()
    _confirmed(page, "Cancel these items?", "Cancel 3 items", "3 of 3 cancelled")
    page.get_by_role("link", name="Action log").first.click()
    row = page.locator("tbody tr").first
    expect(row).to_contain_text("orders")
    expect(row).to_contain_text("token")
    accessible(page)
    assert waiting() == set()
    row.get_by_role("button", name="Undo").click()
    expect(page.locator("#action")).to_contain_text("3 of 3 are as before")
    assert len(waiting()) == 3


def test_a_logout_ends_its_session_and_no_other(mender: Tab, open_tab: OpenTab) -> None:
    """The other tests go on with the session of the module, so this one has its own."""
    page = _logged_in(open_tab())
    session = page.context.storage_state()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    # A copy of the cookie does not log in again either.
    expect(open_tab(storage_state=session).open("/").get_by_label("Token")).to_be_visible()
    expect(mender.open("/").get_by_role("heading", name="Queues")).to_be_visible()


def test_actions_work_without_a_script(open_tab: OpenTab, client: Client) -> None:
    waiting = _offered(client, 3)
    page = _logged_in(open_tab(script=False))
    page.goto(page.url.rstrip("/") + LINKS.items("orders"))
    page.get_by_label("Choose id-1").check()
    page.get_by_role("button", name="Cancel the chosen items").click()
    page.get_by_role("button", name="Cancel 1 item", exact=True).click()
    page.goto(page.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Done")
    assert waiting() == {"order-0", "order-2"}


_FOCUSED = r"""() => {
  const at = document.activeElement;
  if (at === document.body) return "";
  const found = [at.getAttribute("aria-label"), at.labels?.[0]?.textContent, at.textContent].find(Boolean) ?? "";
  return found.replace(/\s+/g, " ").trim();
}"""


def _tab_to(page: Page, name: str, *keys: str) -> None:
    """Presses Tab until something of that name has the focus, then these keys."""
    met = []
    for _ in range(80):
        page.keyboard.press("Tab")
        met.append(page.evaluate(_FOCUSED))
        if met[-1] == name:
            for each in keys:
                page.keyboard.press(each)
            return
    pytest.fail(f"Tab does not reach {name!r}: {met}")


def _from_the_keyboard(page: Page, confirm: str, told: str, *, undo: bool = True) -> None:
    """Confirms the action that has counted its items, and takes it back."""
    expect(page.get_by_role("button", name=confirm, exact=True)).to_be_visible()
    _tab_to(page, confirm, "Enter")
    expect(page.locator("#action")).to_contain_text(told)
    if undo:
        expect(page.get_by_role("button", name="Undo", exact=True)).to_be_visible()
        _tab_to(page, "Undo", "Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Undone")


def test_every_action_from_the_keyboard_alone(mender: Tab, client: Client) -> None:
    _offered(client, 2)
    queue = client.blocking_queue("orders")
    queue.put("bad")
    delivery = queue.receive(timeout=10)
    assert delivery is not None
    delivery.reject("it failed")
    queue.put("held")
    assert queue.receive(timeout=10, visibility_timeout=3600) is not None

    page = mender.open(LINKS.items("orders"))
    _tab_to(page, "Choose id-0", "Space")
    _tab_to(page, "Cancel the chosen items…", "Enter")
    _from_the_keyboard(page, "Cancel 1 item", "1 of 1 cancelled")
    page = mender.open(LINKS.items("orders"))
    _tab_to(page, "Reschedule all items to")
    page.keyboard.type("+1d")
    _tab_to(page, "Reschedule all items…", "Enter")
    _from_the_keyboard(page, "Reschedule 2 items", "2 of 2 rescheduled")
    page = mender.open(LINKS.item("orders", "waiting", "id-0"))
    _tab_to(page, "Run now this item…", "Enter")
    _from_the_keyboard(page, "Run now 1 item", "1 of 1 made due")
    for state, action, confirm, told in (
        ("dead", "Redrive all items…", "Redrive 1 item", "1 of 1 given to the queue again"),
        ("dead", "Purge all items…", "Purge 1 item", "1 of 1 purged"),
        ("in-flight", "Give back all items…", "Give back 1 item", "1 of 1 given back"),
    ):
        page = mender.open(LINKS.items("orders", state=state))
        _tab_to(page, action, "Enter")
        _from_the_keyboard(page, confirm, told, undo=state == "dead")
    for action, told in (("Pause", "is paused"), ("Resume", "is resumed")):
        page = mender.open(LINKS.queue("orders"))
        _tab_to(page, f"{action}…", "Enter")
        _from_the_keyboard(page, f"{action} orders", told, undo=False)
    page = mender.open(LINKS.queue("orders"))
    _tab_to(page, "Offer a value", "Enter")
    _tab_to(page, "Value, as JSON")
    page.keyboard.type('"by hand"')
    _tab_to(page, "Delay")
    page.keyboard.type("2h")
    _tab_to(page, "Offer…", "Enter")
    _from_the_keyboard(page, "Offer to orders", "Done", undo=False)


def test_what_happened_to_an_item_and_to_one_that_is_gone(mender: Tab, client: Client) -> None:
    holds, goes_on, reasons = Event(), Event(), ["ValueError: no paper", "x" * 200]
    delayed = client.delayed_queue("orders")
    delayed.set_history(100)
    worker = Worker(client)

    @worker.handler("orders", concurrency=2, retry=Retry(limit=9, backoff=fixed(0.01)), limit=Limit(1, by=lambda _: 7))
    def handle(value: str) -> None:
        if value == "first":
            holds.set()
            assert goes_on.wait(20)
        elif reasons:
            raise RuntimeError(reasons.pop())

    def told() -> list[str]:
        return [event.what for event in delayed.history("order-71")]

    with worker:
        delayed.offer("first", 0)
        assert holds.wait(20)
        delayed.offer("second", 0, id="order-71")
        eventually(lambda: "parked" in told())
        goes_on.set()
        eventually(lambda: "done" in told())
    delayed.offer("third", 3600, id="order-72")
    delayed.reschedule("order-72", 7200)

    page = mender.open(LINKS.items("orders"))
    _tab_to(page, "order-72", "Enter")
    _shows_events(page, ["offered", "rescheduled"])
    page = mender.open(LINKS.item("orders", "ready", "order-71"))
    expect(page.locator("main")).to_contain_text("in no place of the queue any more")
    _shows_events(page, told())
    card = page.locator('section[aria-labelledby="events"]')
    expect(card).to_contain_text("attempt 3")
    expect(card).to_contain_text("no paper")
    expect(card).to_contain_text(f":{os.getpid()}")


def _shows_events(page: Page, events: list[str]) -> None:
    """The card of the history has these events in their order, for everybody, on a phone too."""
    card = page.locator('section[aria-labelledby="events"]')
    expect(card.get_by_role("heading")).to_have_text("What happened")
    expect(card.locator("dt")).to_have_text([event.capitalize() for event in events])
    accessible(page)
    fits(page, 390)
    accessible(page)
    page.set_viewport_size({"width": 1280, "height": 900})


def _counted(page: Page) -> str:
    """Chooses all items to be cancelled. The address of the page that has counted them."""
    page.get_by_role("button", name="Cancel all items").click()
    expect(page.get_by_role("button", name="Do nothing")).to_be_visible()
    return page.url


@pytest.mark.nightly
def test_who_has_the_focus_keeps_it_while_an_action_goes_on(mender: Tab, client: Client) -> None:
    """The page polls the progress."""
    _offered(client, 2)
    page = mender.open(LINKS.items("orders"))
    address = _counted(page)
    name = "Do nothing"

    def going_on(route: Route) -> None:
        answer = route.fetch()
        text = answer.text().replace('id="action"', 'id="action" data-goes-on')
        route.fulfill(response=answer, body=text.replace("Do nothing", name))

    page.route(address, going_on)
    page.goto(address)
    _tab_to(page, "Do nothing")
    page.evaluate("() => { document.activeElement.dataset.was = 'here'; }")
    expect(page.locator("[data-was]")).to_have_count(0)
    expect(page.get_by_role("button", name="Do nothing")).to_be_focused()
    name = "Another button"
    expect(page.get_by_role("button", name=name)).to_be_visible()
    # No other button has the focus now, so pressing a key at that moment does nothing.
    expect(page.locator("#action")).to_be_focused()
    accessible(page)
    # A request of the page may be under way.
    page.unroute_all(behavior="ignoreErrors")
    _tab_to(page, "Do nothing", "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Dropped")


def test_a_second_click_and_a_second_tab_see_how_it_ended(mender: Tab, open_tab: OpenTab, client: Client) -> None:
    waiting = _offered(client, 2)
    page = mender.open(LINKS.items("orders"))
    address = _counted(page)
    other = page.context.new_page()
    other.goto(address)
    page.get_by_role("button", name="Cancel 2 items").dblclick()
    expect(page.locator("#action")).to_contain_text("2 of 2 cancelled")
    other.get_by_role("button", name="Cancel 2 items").click()
    expect(other.locator("#action")).to_contain_text("2 of 2 cancelled")
    _undone(other, "2 of 2 are as before")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#action")).to_contain_text("2 of 2 are as before")
    assert len(waiting()) == 2
    # Back and forward show the current state, and send nothing again.
    page.go_back()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("Undone")
    assert len(waiting()) == 2


def test_a_session_that_is_over_leads_to_the_login(mender: Tab, client: Client) -> None:
    _offered(client, 1)
    page = mender.open(LINKS.queue("orders"))
    live = page.locator("#live")
    live.click()
    page.context.clear_cookies()
    live.click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orders")
    # The browser logs that the stream was refused.
    mender.complaints[:] = [said for said in mender.complaints if "401" not in said]


@pytest.mark.nightly
def test_shift_chooses_all_rows_between(mender: Tab, client: Client) -> None:
    _offered(client, 6)
    page = mender.open(LINKS.items("orders"))
    page.get_by_label("Choose id-1").check()
    page.get_by_label("Choose id-4").click(modifiers=["Shift"])
    expect(page.locator("#picked")).to_have_text("4 chosen")
    page.get_by_label("Choose id-3").click()
    page.get_by_label("Choose id-1").click(modifiers=["Shift"])
    expect(page.locator("#picked")).to_have_text("1 chosen")
