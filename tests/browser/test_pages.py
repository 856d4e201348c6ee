"""Every read-only page in a real browser: its content, accessibility, any size, with and without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Page, expect

import redisson_dq
from redisson_dq.codecs import ByteArrayCodec, JsonJacksonCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.paths import Links
from tests.browser.conftest import OpenTab, Tab, serving
from tests.browser.judging import LARGEST, accessible, fits, settled, shifts, sizes
from tests.conftest import PATIENCE, by_night

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
INT64 = 9223372036854775807
LARGE = 20_000_000
LINKS = Links("")

ORDERS, MANY, HUGE, DEAD, CLASSES = "orders", "<b>shop</b> & co", "huge", "payments", "classes"
PATHS = {
    "fleet": LINKS.fleet(),
    "queue": LINKS.queue(ORDERS),
    "items": LINKS.items(ORDERS),
    "filtered": LINKS.items(ORDERS, filter=f"order.id = {INT64}"),
    "unreadable": LINKS.items(ORDERS, filter="order.id ="),
    "item": LINKS.item(ORDERS, "waiting", "first"),
    "dead": LINKS.items(DEAD, state="dead"),
    "empty": LINKS.queue("nothing"),
    "no items": LINKS.items("nothing", state="dead"),
    "none matches": LINKS.fleet(filter="nothing*"),
    "missing": LINKS.item(ORDERS, "waiting", "none"),
    "doctor": LINKS.doctor(),
    "recurring": LINKS.queue("reminders"),
    "classes": LINKS.queue(CLASSES, from_="now", to="+1h"),
}


@pytest.fixture(scope="module")
def root(server: EmbeddedServer) -> Iterator[str]:
    """A dashboard of a shop."""
    with redisson_dq.connect(server.url) as client:
        _fill(client)
    with serving(server.url, "--name", "test", "--color", "red") as root:
        # The doctor's first findings move the rest of a page down if they arrive after it.
        httpx.get(f"{root}/doctor", timeout=PATIENCE).raise_for_status()
        yield root


def _fill(client: redisson_dq.Client) -> None:
    orders = client.delayed_queue(ORDERS, codec=JsonJacksonCodec(), transfer=False)
    value = {"order": {"id": INT64, "note": MARKUP}, "lines": [{"sku": "A-1"}, {"sku": "B-2"}], "paid": True}
    orders.offer(value, 3600, id="first")
    orders.offer_all([({"order": {"id": i}}, timedelta(hours=2 + i / 50)) for i in range(150)])
    client.delayed_queue(MANY, codec=StringCodec(), transfer=False).offer(MARKUP, 60)
    client.delayed_queue(HUGE, codec=StringCodec(), transfer=False).offer("x" * LARGE, 7200, id="large")
    reminders = client.delayed_queue("reminders", codec=StringCodec(), transfer=False)
    reminders.offer_recurring("report", "daily", cron="30 7 * * mon-fri", timezone="Europe/Berlin")
    classes = client.delayed_queue(CLASSES, codec=ByteArrayCodec(), transfer=False)
    names = ["com.acme.Bill"] * 4 + ["com.acme.Order"] * 4 + [""] * 4
    classes.offer_all([(f'{{"@class":"{name}","id":1}}'.encode() if name else b"text", 1800) for name in names])
    payments = client.blocking_queue(DEAD, codec=StringCodec())
    payments.put("card")
    delivery = payments.receive(timeout=10)
    assert delivery is not None
    delivery.reject(f"Traceback (most recent call last):\n  {MARKUP}\nDeclined: {MARKUP}")


def test_the_fleet_shows_each_queue_with_its_figures(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["fleet"])
    expect(page).to_have_title(re.compile("^Queues · test"))
    expect(page.locator(".env")).to_contain_text("test")
    row = page.locator(f'tr[data-queue="{ORDERS}"]')
    expect(row.locator('[data-cell="waiting"] .n')).to_have_text("151")
    expect(row.locator('[data-cell="waiting"] .under')).to_contain_text(re.compile(r"next in 5\dm"))
    expect(page.locator(f'tr[data-queue="{DEAD}"] [data-cell="dead"] .n')).to_have_text("1")
    expect(page.locator("tbody th a").filter(has_text=MANY)).to_be_visible()
    page.get_by_role("link", name="Waiting").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Waiting")
    expect(page.locator("tbody tr").first).to_have_attribute("data-queue", ORDERS)
    page.get_by_label("Filter the queues").fill("is:dead")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_the_timeline_zooms_and_its_bars_list_their_items(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["queue"])
    bars = page.locator("#timeline svg a")
    total = "() => [...document.querySelectorAll('#timeline svg a')].reduce((sum, a) => sum + parseInt(a.ariaLabel), 0)"
    assert page.evaluate(total) == 151
    page.get_by_role("link", name="1 h", exact=True).click()
    expect(bars).to_have_count(1)
    expect(page.locator("#timeline")).to_contain_text("150 later")
    assert "from=now" in page.url
    page.get_by_role("link", name="All", exact=True).click()
    expect(page.locator("#timeline")).not_to_contain_text("later")
    first = page.locator("#timeline").get_attribute("data-from-ms")
    assert first is not None
    # Dragging to the left shows what comes later.
    box = page.locator("#timeline svg").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 600, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.locator("#timeline")).to_contain_text("earlier")
    assert int(page.locator("#timeline").get_attribute("data-from-ms") or 0) > int(first)
    # A bar is a link, which the keyboard reaches.
    page.get_by_role("link", name="All", exact=True).click()
    expect(page.locator("#timeline")).not_to_contain_text("earlier")
    bars.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("table.items tbody tr")).to_have_count(1)
    expect(page.locator("table.items")).to_contain_text("first")


def test_a_bar_shows_the_classes_of_its_values_by_colour_and_pattern(open_tab: OpenTab) -> None:
    tab = open_tab()
    page = tab.open(PATHS["classes"])
    legend = page.locator(".plot-note")
    for name in ("Order", "Bill", "No known class", "Classes as in a sample of 12"):
        expect(legend).to_contain_text(name)
    bar = page.locator("#timeline svg a").first
    expect(bar).to_have_attribute("aria-label", re.compile(r"^12 items, .*UTC, of a sample 4 of no known class, "))
    fills = bar.locator("rect:not(.hit)").evaluate_all("all => all.map(each => each.getAttribute('fill'))")
    assert fills == [None, "url(#of-1)", "url(#of-2)"]
    # Each of these is drawn: its pattern is there, and has the colour of its class.
    for number in (1, 2):
        ground = page.locator(f"#of-{number} .ground").evaluate("each => getComputedStyle(each).fill")
        assert ground not in ("none", "rgb(0, 0, 0)")
    # A user who only looks moves nothing.
    expect(page.locator("#move-items, #move, #timeline [data-count]")).to_have_count(0)


def test_a_recurring_offer_is_told_in_words(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["recurring"])
    offers = page.get_by_role("region", name="Recurring offers")
    expect(offers).to_contain_text("at 07:30 on Monday to Friday, Europe/Berlin")
    offers.get_by_text("daily").click()
    expect(offers.locator(".times li")).to_have_count(5)


def test_items_are_filtered_with_completion(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["items"])
    expect(page.locator("table.items tbody tr")).to_have_count(50)
    page.keyboard.press("/")
    page.keyboard.type("order.i")
    expect(page.get_by_role("option").first).to_contain_text("order.id")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type(f"= {INT64}")
    page.keyboard.press("Enter")
    expect(page.locator("table.items tbody tr")).to_have_count(1)
    expect(page.locator("table.items")).to_contain_text(str(INT64))
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("table.items tbody tr")).to_have_count(50)


def test_an_unreadable_filter_is_told_where_it_fails(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["unreadable"])
    expect(page.get_by_role("alert")).to_contain_text("expected a value")
    expect(page.get_by_label("Filter the items")).to_be_focused()


def test_an_item_shows_its_value_and_no_digit_is_rounded(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["item"])
    tree = page.get_by_role("region", name="The value as a tree")
    expect(tree).to_contain_text(f"id: {INT64}")
    expect(tree).to_contain_text(MARKUP)
    expect(page.locator(".way [aria-current=step]")).to_contain_text(re.compile(r"Waits\s*due in 5\dm"))
    expect(page.locator(".facts")).to_contain_text("UTC")
    expect(page.locator(".facts")).to_contain_text(re.compile(r"in 5\dm"))
    expect(page.locator(".hex")).to_contain_text("00000000  7b 22")
    page.get_by_label("Codec", exact=True).select_option("StringCodec")
    page.get_by_role("button", name="Read").click()
    expect(tree).to_contain_text('"{"@class":"java.util')
    assert not page.title().startswith("run")


def test_times_are_those_of_redis_where_the_clock_of_the_browser_is_wrong(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.page.clock.install(time=datetime(2020, 1, 1))
    for view, times in (
        ("fleet", ".fleet time"),
        ("queue", ".figure time"),
        ("items", ".due time"),
        ("item", ".way time"),
    ):
        page = tab.open(PATHS[view])
        expect(page.locator("#clock")).not_to_have_text("00:00:00 UTC")
        expect(page.locator(times).filter(has_text=re.compile(r"^in 5\dm")).first).to_be_visible()


def test_the_time_of_the_reader_names_its_zone(open_tab: OpenTab) -> None:
    page = open_tab(timezone_id="Asia/Kolkata").open(PATHS["item"])
    expect(page.locator(".facts time[data-local]").first).to_contain_text("GMT+5:30")


def test_an_id_is_copied_over_plain_http_too(open_tab: OpenTab) -> None:
    """A browser has a clipboard for pages of this machine, or over TLS. Else it copies what is selected."""
    tab = open_tab(permissions=["clipboard-read", "clipboard-write"])
    page = tab.open(PATHS["item"])
    page.evaluate("Object.defineProperty(navigator, 'kept', {value: navigator.clipboard})")
    for has_clipboard in (True, False):
        page.evaluate("navigator.kept.writeText('before')")
        if not has_clipboard:
            page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.get_by_role("button", name="Copy the id").click()
        page.wait_for_function("() => navigator.kept.readText().then(text => text === 'first')")


def test_a_dead_value_says_why(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["dead"])
    # Of a traceback the list has the error.
    expect(page.locator(".reason")).to_have_text(f"Declined: {MARKUP}")
    page.locator("table.items tbody a").first.click()
    expect(page.locator(".trace")).to_contain_text("Traceback (most recent call last):")
    expect(page.locator(".lead")).to_have_text(f"Declined: {MARKUP}")
    assert not page.title().startswith("run")


def test_of_a_value_of_20_mb_the_beginning_is_shown(open_tab: OpenTab) -> None:
    page = open_tab().open(LINKS.items(HUGE))
    assert sum(sizes(page).values()) < LARGEST
    expect(page.locator("table.items")).to_contain_text("19.1 MB")
    page.get_by_role("link", name="large").click()
    expect(page.locator("main")).to_contain_text("Only the beginning is shown")
    assert sum(size for name, size in sizes(page).items() if "static" not in name) < 100_000


#: Views without parts of their own: each of their parts is in another view.
ALIKE = ("filtered", "no items", "none matches", "empty")


@pytest.mark.parametrize("views", [tuple(name for name in PATHS if name not in ALIKE), by_night(ALIKE)], ids=len)
def test_every_view_is_for_everybody(open_tab: OpenTab, views: tuple[str, ...]) -> None:
    """Light and dark, on a phone, at twice the size, in colours that the system forces; small, and still."""
    tab = open_tab()
    for path in map(PATHS.__getitem__, views):
        page = tab.open(path)
        settled(page)
        assert shifts(page) == 0, path
        assert sum(sizes(page).values()) < LARGEST, sizes(page)
        accessible(page)
        page.emulate_media(color_scheme="dark")
        accessible(page, "color-contrast")
        page.emulate_media(color_scheme="light")
        for width in (800, 640, 360):
            fits(page, width)
        page.set_viewport_size({"width": 1280, "height": 900})
    _forgive_missing(tab)


@pytest.mark.nightly
@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_view_is_for_everybody_who_comes_on_a_phone(open_tab: OpenTab, look: str) -> None:
    tab = open_tab(dark=look == "dark", width=360)
    for path in PATHS.values():
        page = tab.open(path)
        settled(page)
        assert shifts(page) == 0, path
        accessible(page)
    _forgive_missing(tab)


def _forgive_missing(tab: Tab) -> None:
    """Ignores the browser's log lines about missing pages."""
    tab.complaints[:] = [each for each in tab.complaints if "404" not in each]


def test_forced_colours_leave_what_has_a_meaning(open_tab: OpenTab) -> None:
    """Without it the marks of states would be as the ground, and the chosen span as any other."""
    page = open_tab(forced_colors="active").open(PATHS["queue"])
    ground = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    for mark in (".figure .dot.waiting", ".figure .dot.overdue", ".legend i", ".legend i.overdue", ".live .dot"):
        assert page.locator(mark).first.evaluate("each => getComputedStyle(each).backgroundColor") != ground, mark
    chosen = page.locator(".segmented a[aria-current]")
    assert chosen.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    assert page.locator("#timeline .bar").first.evaluate("each => getComputedStyle(each).fill") != ground


def test_the_files_of_the_pages_are_loaded_once(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["fleet"])
    settled(page)
    page.goto(page.url)
    kept = (
        "() => performance.getEntriesByType('resource').filter(each => each.transferSize > 1000).map(each => each.name)"
    )
    assert page.evaluate(kept) == []


def test_without_a_script_every_view_is_there_to_look_at(open_tab: OpenTab) -> None:
    tab = open_tab(script=False)
    page = tab.open(PATHS["fleet"])
    expect(page.locator(f'tr[data-queue="{ORDERS}"]')).to_contain_text(re.compile(r"next in 5\dm"))
    expect(page.locator("#live, #clock")).to_have_count(1 + 1)
    expect(page.locator("#live")).to_be_hidden()
    page.locator(f'tr[data-queue="{ORDERS}"] a').first.click()
    page.get_by_role("link", name="1 h", exact=True).click()
    expect(page.locator("#timeline svg a")).to_have_count(1)
    page.locator("#timeline svg a").first.click()
    expect(page.locator("table.items tbody tr")).to_have_count(1)
    page.get_by_role("link", name="first").click()
    expect(page.locator(".tree")).to_contain_text(str(INT64))


def test_the_keyboard_reaches_all_of_a_page(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["fleet"])
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    reached = _tabbed_through(page, 60)
    for wanted in ("filter", "Waiting", ORDERS, MANY, DEAD):
        assert wanted in reached, (wanted, reached)


def _tabbed_through(page: Page, most: int) -> list[str]:
    """The ids or texts of what the Tab key reaches until the end of the page, each of it with an outline."""
    found: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            """() => {
              const found = document.activeElement;
              if (found === document.body) return ["", ""];
              return [found.id || found.innerText, getComputedStyle(found).outlineStyle];
            }"""
        )
        if not name:
            break
        assert outline != "none", name
        found.append(name)
    return found


def test_the_theme_is_kept(open_tab: OpenTab) -> None:
    page = open_tab().open(PATHS["fleet"])
    page.get_by_role("button", name="Switch between light and dark").click()
    page.goto(page.url)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 17, 21)"
