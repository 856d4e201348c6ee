"""Writes the screenshots of the pages: ``python -m tests.browser.shots [MINUTES]``.

A shop runs for some minutes on a Redis of its own: the charts show what happened in them. Then a browser takes each
picture into docs/images.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import redisson_dq
from redisson_dq.codecs import JsonJacksonCodec
from redisson_dq.embedded import EmbeddedServer, find_server
from redisson_dq.java.values import JavaObject
from redisson_dq.web.paths import Links
from tests.browser.conftest import chromium, serving

IMAGES = Path(__file__).parents[2] / "docs" / "images"
#: The pictures, each ``dashboard-NAME.png``.
PICTURES = ("fleet", "queue", "items", "item", "action")
_TOKEN = "a-token-of-the-screenshots"
_DAY = 86_400.0
_NAMES = ("Ada Müller", "Liam O'Neil", "Søren Berg", "Zoë Nowak", "Inès Marin")


def _order(i: int) -> JavaObject:
    """An object of a Java class: most are orders, and some are gifts or returns."""
    kind = random.choices(["Order", "Gift", "Return"], [6, 3, 1])[0]
    total = str(round(random.uniform(8, 400), 2))
    customer = {"name": random.choice(_NAMES), "country": random.choice(["DE", "FR", "PL", "DK"])}
    lines = [{"sku": f"A-{random.randrange(1000, 9999)}", "count": random.randrange(1, 5)}]
    fields = {"id": 9223372036854770000 + i, "customer": customer, "total": total, "lines": lines, "paid": i % 3 > 0}
    return JavaObject(f"com.shop.{kind}", fields)


class _Shop:
    """Producers and consumers, until the end."""

    def __init__(self, client: redisson_dq.Client) -> None:
        self._client, self._end = client, threading.Event()
        works = (self._orders, self._payments, self._shipments, self._consume("orders"), self._consume("shipments"))
        self._threads = [threading.Thread(target=each) for each in works]

    def __enter__(self) -> None:
        self._fill()
        for each in self._threads:
            each.start()

    def __exit__(self, *error: object) -> None:
        self._end.set()
        for each in self._threads:
            each.join()

    def _fill(self) -> None:
        orders = self._client.delayed_queue("orders")
        # Most of them in some hours, in two waves.
        for i in range(0, 6000, 500):
            waves = [(_order(k), abs(random.gauss(random.choice([5000, 17000]), 3000)) + 20) for k in range(i, i + 500)]
            orders.offer_all(waves)
        reminders = self._client.delayed_queue("reminders")
        reminders.offer_all([({"user": i, "about": "trial ends"}, random.random() * 9 * _DAY) for i in range(900)])
        rule: Any = {"cron": "30 7 * * mon-fri", "timezone": "Europe/Berlin"}
        reminders.offer_recurring({"report": "trials"}, "daily-report", **rule)
        self._client.delayed_queue("invoices").offer_all(
            [({"invoice": i}, random.random() * 300 * _DAY) for i in range(120)]
        )
        carts = self._client.delayed_queue("carts:abandoned")
        carts.offer_all([({"cart": i}, 1200 + random.random() * 3600) for i in range(310)])
        newsletter = self._client.blocking_queue("newsletter")
        for i in range(420):
            newsletter.put({"mail": i})
        # Nobody has this queue open: what is due stays where it is.
        webhooks = self._client.delayed_queue("webhooks.partners", transfer=False)
        webhooks.offer_all([({"call": i}, 30 + random.random() * 2400) for i in range(500)])

    def _orders(self) -> None:
        delayed = self._client.delayed_queue("orders")
        i = 6000
        while not self._end.wait(0.2):
            delayed.offer_all([(_order(i + k), random.random() * 60) for k in range(random.randrange(4))])
            i += 4

    def _consume(self, name: str) -> Callable[[], None]:
        """A consumer that takes what is due as soon as it is ready."""

        def taking() -> None:
            queue = self._client.blocking_queue(name)
            while not self._end.is_set():
                queue.poll(timeout=1)

        return taking

    def _payments(self) -> None:
        queue = self._client.blocking_queue("payments")
        delayed = self._client.delayed_queue(queue)
        held, rejected = [], 0
        while not self._end.wait(0.5):
            delayed.offer(_order(random.randrange(10**6)), 5 + random.random() * 20)
            delivery = queue.receive(timeout=0.2, visibility_timeout=120)
            if delivery is None:
                continue
            if rejected < 3:
                delivery.reject(_TRACEBACK)
                rejected += 1
            elif random.random() < 0.1:
                held.append(delivery)
            else:
                delivery.ack()
            if len(held) > 3:
                held.pop(0).ack()

    def _shipments(self) -> None:
        delayed = self._client.delayed_queue("shipments")
        while not self._end.wait(1):
            delayed.offer_all([({"parcel": i}, random.random() * 900) for i in range(random.randrange(9))])


_TRACEBACK = """Traceback (most recent call last):
  File "/srv/payments/handlers.py", line 42, in charge
    receipt = provider.charge(order.id, order.total)
  File "/srv/payments/provider.py", line 118, in charge
    raise Declined(answer.code)
payments.provider.Declined: card_expired
"""


def _path(name: str) -> Path:
    assert name in PICTURES
    return IMAGES / f"dashboard-{name}.png"


def _taken(page: Page, name: str) -> None:
    page.screenshot(path=_path(name))


def _shoot(page: Page, root: str) -> None:
    links = Links(root)

    def shot(name: str, address: str, *, height: int = 860, wait: str = "main") -> None:
        page.goto(address)
        page.wait_for_selector(wait)
        page.evaluate("document.fonts.ready")
        width = page.viewport_size["width"] if page.viewport_size else 1280
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(1500)
        _taken(page, name)

    shot("fleet", links.fleet(), height=780)
    shot("queue", links.queue("orders"), height=1000)
    shot("items", links.items("orders", filter='customer.country = "DE"'))
    page.goto(links.items("payments", state="dead"))
    page.locator("table.items tbody a").first.click()
    shot("item", page.url, height=760)
    page.goto(links.items("orders", filter='customer.country = "DE"'))
    page.get_by_role("button", name="Cancel all that match").click()
    page.get_by_role("button", name="Do nothing").wait_for()
    shot("action", page.url, height=450)


def main() -> None:
    """Runs the shop, then takes the pictures."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    IMAGES.mkdir(exist_ok=True)
    random.seed(36)
    with (
        EmbeddedServer(program=find_server("redis-server"), appendonly=True) as server,
        redisson_dq.connect(server.url, codec=JsonJacksonCodec(unknown="generic")) as client,
        _Shop(client),
        serving(
            server.url, *("--name", "staging", "--color", "teal", "--allow-writes", "--auth", "token"), token=_TOKEN
        ) as root,
        sync_playwright() as playwright,
    ):
        print(root, flush=True)
        browser = playwright.chromium.launch(executable_path=chromium())
        looking = browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
        looking.goto(root)
        looking.get_by_label("Token").fill(_TOKEN)
        looking.get_by_role("button", name="Log in").click()
        # The charts have what was seen while somebody looked.
        looking.wait_for_timeout(minutes * 60_000)
        _shoot(looking, root)
        browser.close()


if __name__ == "__main__":
    main()
