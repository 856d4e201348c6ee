"""The live stream over a real connection: its news, its costs, its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

import httpx
import pytest
import redis

import redisson_dq
from redisson_dq.browsing import figures_of
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web import app
from redisson_dq.web.dashboard import Dashboard
from redisson_dq.web.fleet import fleet_row
from redisson_dq.web.live import Live, LiveStream
from redisson_dq.web.snapshots import Snapshots
from tests.conftest import PATIENCE
from tests.web.conftest import Served


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots follow each other sooner."""
    monkeypatch.setattr(Live, "every", 0.1)
    monkeypatch.setattr(Snapshots, "fresh", 0.1)


def events(answer: httpx.Response) -> Iterator[tuple[str, Any]]:
    """The events of a stream, as they come."""
    name = ""
    for line in answer.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def until(holds: Any) -> None:
    """Waits until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_news_come_and_only_rows_that_changed(served: Served, client: redisson_dq.Client) -> None:
    orders = client.delayed_queue("orders", transfer=False)
    orders.offer("a", 3600)
    client.delayed_queue("bills", transfer=False).offer("a", 3600)
    # A row also comes where the doctor has a new verdict.
    assert httpx.get(f"{served.url}/doctor", timeout=PATIENCE).status_code == 200
    with httpx.stream("GET", f"{served.url}/live", timeout=PATIENCE) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = ((name, data) for name, data in events(answer) if name == "snapshot")
        _, first = next(told)
        assert {row["name"] for row in first["rows"]} == {"orders", "bills"}
        orders.offer("b", 3600)
        _, second = next(told)
        assert [(row["name"], row["waiting"]) for row in second["rows"]] == [("orders", 2)]


def test_the_page_of_a_queue_that_comes_later_gets_its_figures(
    served: Served, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Snapshots, "rescan", 0.1)
    with httpx.stream("GET", f"{served.url}/live?queue=orders", timeout=PATIENCE) as answer:
        number = served.dashboard.snapshots.number
        until(lambda: served.dashboard.snapshots.number > number + 1)
        client.delayed_queue("orders", transfer=False).offer("a", 3600)
        told = next(data for name, data in events(answer) if name == "snapshot" and data["rows"])
        assert [(row["name"], row["waiting"]) for row in told["rows"]] == [("orders", 1)]


def test_the_verdict_of_a_new_tab_is_that_on_all_queues(served: Served, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("nobody moves it", 3600)
    served.dashboard.live.every = 3600
    assert httpx.get(f"{served.url}/doctor", timeout=PATIENCE).status_code == 200
    # The tab gets no snapshot: this one is older than its page.
    served.dashboard.snapshots.fresh = 3600
    served.dashboard.snapshots.take()
    with httpx.stream("GET", f"{served.url}/live", timeout=PATIENCE) as answer:
        name, told = next(events(answer))
    assert (name, told["verdict"]) == ("doctor", "problem")


def test_no_snapshot_is_older_than_the_page_of_its_tab(
    served: Served, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the page would go back to the state before an action, and its buttons with it."""
    orders = client.delayed_queue("orders", transfer=False)
    orders.offer("a", 3600)
    looked, gate = threading.Event(), threading.Event()

    def slowly(*arguments: Any) -> Any:
        found = list(figures_of(*arguments))
        looked.set()
        assert gate.wait(PATIENCE)
        return found

    monkeypatch.setattr("redisson_dq.web.snapshots.figures_of", slowly)
    address = f"{served.url}/live?queue=orders"
    with httpx.stream("GET", address, timeout=PATIENCE):
        assert looked.wait(PATIENCE)
        # A snapshot that has begun does not see this any more.
        orders.pause()
        served.dashboard.snapshots.forget()
        with httpx.stream("GET", address, timeout=PATIENCE) as second:
            gate.set()
            told = next(data for name, data in events(second) if name == "snapshot")
            assert [row["is_paused"] for row in told["rows"]] == [True]
    orders.resume()
    with httpx.stream("GET", address, timeout=PATIENCE) as third:
        told = next(data for name, data in events(third) if name == "snapshot")
        assert [row["is_paused"] for row in told["rows"]] == [False]


def calls(url: str) -> int:
    """How many commands Redis has carried out, inside scripts too.

    Those that open this look's own connection, and those of the search for new queues, which goes by the clock, are
    left out.
    """
    with redis.Redis.from_url(url) as admin:
        told: dict[str, Any] = admin.info("commandstats")
        own = re.compile("cmdstat_(info|hello|select|client.*|scan|pubsub.channels)")
        return sum(each["calls"] for name, each in told.items() if not own.fullmatch(name))


@pytest.mark.parametrize("path", ["/live", "/live?queue=orders"])
def test_a_hundred_tabs_cost_as_much_as_one_and_none_costs_nothing(
    served: Served, redis_url: str, client: redisson_dq.Client, path: str
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    client.close()
    snapshots, live, doctor = served.dashboard.snapshots, served.dashboard.live, served.dashboard.doctor

    def between_two() -> tuple[int, int]:
        """How many snapshots and commands there were, at a moment when none is taken."""
        while True:
            number, found = snapshots.number, calls(redis_url)
            if snapshots.begun == number:
                return number, found

    def calls_for(tabs: int) -> Fraction:
        """How many commands a snapshot sends. On a busy machine more than three of them may be counted."""
        # A stream whose iterator is freed is closed.
        kept = []
        with ExitStack() as stack:
            asked = stack.enter_context(httpx.Client(limits=httpx.Limits(max_connections=tabs), timeout=PATIENCE))
            for _ in range(tabs):
                kept.append(events(stack.enter_context(asked.stream("GET", f"{served.url}{path}"))))
            assert {next(each)[0] for each in kept} <= {"snapshot", "doctor"}
            assert live.tabs == tabs
            while True:
                # The doctor looks once a minute.
                until(lambda: doctor.report is not None and not doctor.is_running)
                seen = doctor.report
                number, before = between_two()
                until(lambda enough=number + 3: snapshots.number >= enough)
                last, after = between_two()
                if doctor.report is seen and not doctor.is_running:
                    return Fraction(after - before, last - number)

    one = calls_for(1)
    assert one > 0
    until(lambda: live.tabs == 0 and not live.is_running)
    assert calls_for(100) == one
    until(lambda: live.tabs == 0 and not live.is_running)
    number, before = snapshots.number, calls(redis_url)
    time.sleep(2 * Live.every)
    assert (snapshots.number, calls(redis_url)) == (number, before)


def test_a_row_is_made_once_for_all_tabs(
    redis_url: str, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a hundred tabs on hundreds of queues would keep the dashboard from all other answers."""
    queues = [client.delayed_queue(f"queue-{i}", transfer=False) for i in range(20)]
    for each in queues:
        each.offer("a", 3600)
    made = 0

    def counted(*arguments: Any) -> Any:
        nonlocal made
        made += 1
        return fleet_row(*arguments)

    monkeypatch.setattr("redisson_dq.web.live.fleet_row", counted)
    dashboard = app(redis_url).state.dashboard

    async def rows_of_all_tabs() -> int:
        dashboard.snapshots.forget()
        dashboard.snapshots.take()
        told = await asyncio.gather(*(LiveStream(dashboard.live, None, seeing).changed_rows(0) for _ in range(50)))
        assert {len(rows) for rows, _, _ in told} == {20}
        return made

    async def seeing(names: list[str]) -> list[str]:
        return names

    with contextlib.closing(dashboard.client):
        assert asyncio.run(rows_of_all_tabs()) == 20
        queues[0].offer("b", 3600)
        # A minute may have ended meanwhile, and then the charts of all have moved on.
        assert asyncio.run(rows_of_all_tabs()) in (21, 40)
        dashboard.close()


def test_a_hundred_tabs_that_draw_their_spans_anew_cost_as_much_as_one(
    redis_url: str, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    client.close()
    monkeypatch.setattr(Dashboard, "shared_for", 3600)
    page = "/queues/orders/timeline"

    async def answers(*spans: str) -> tuple[int, int, int]:
        """How many of these timelines came, how many have to wait, and how many commands that cost."""
        made = app(redis_url)
        with contextlib.closing(made.state.dashboard.client):
            transport = httpx.ASGITransport(made)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8787") as asked:
                before = calls(redis_url)
                found = await asyncio.gather(*(asked.get(f"{page}?{span}") for span in spans))
            made.state.dashboard.close()
        codes = [each.status_code for each in found]
        assert set(codes) <= {200, 204}
        return codes.count(200), codes.count(204), calls(redis_url) - before

    async def play() -> None:
        # Redis learns the script.
        await answers("")
        alone = await answers("from=now&to=%2B3600s&again=1")
        assert alone[:2] == (1, 0)
        assert await answers(*["from=now&to=%2B3600s&again=1"] * 100) == (100, 0, alone[2])
        dragged = await answers(*(f"from=0&to={10**12 + i}&again=1" for i in range(100)))
        assert dragged[:2] == (1, 99)
        assert dragged[2] <= alone[2]
        # Spans that somebody asks for come at once.
        assert (await answers("from=0&to=1000", "from=1&to=1000"))[:2] == (2, 0)

    asyncio.run(asyncio.wait_for(play(), PATIENCE))


def test_the_first_page_and_that_of_a_queue_alone_have_a_stream(browse: Any, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600, id="first")
    pages = browse()
    streams = {
        address: f'data-url="{stream}"' in pages.get(address).text
        for address, stream in (
            ("/", "/live"),
            ("/queues/orders", "/live?queue=orders"),
            ("/queues/orders/items", "/live"),
            ("/queues/orders/items/waiting/first", "/live"),
            ("/doctor", "/live"),
        )
    }
    assert [address for address, is_there in streams.items() if is_there] == ["/", "/queues/orders"]


def test_redis_goes_and_comes_back(own_server: EmbeddedServer) -> None:
    with redisson_dq.connect(own_server.url) as client:
        client.delayed_queue("orders", transfer=False).offer("a", 3600)
    served = Served(own_server.url)
    try:
        with httpx.stream("GET", f"{served.url}/live", timeout=PATIENCE) as answer:
            told = events(answer)
            assert next(each for each in told if each[0] == "snapshot")[1]["rows"][0]["name"] == "orders"
            own_server.kill()
            assert next(each for each in told if each[0] == "trouble")[1]["text"]
            # The pages say it in place, with the last figures that were seen.
            fleet = httpx.get(f"{served.url}/?format=json", timeout=PATIENCE)
            assert (fleet.status_code, fleet.json()["rows"][0]["name"]) == (200, "orders")
            assert fleet.json()["trouble"]
            page = httpx.get(f"{served.url}/queues/orders", timeout=PATIENCE)
            assert (page.status_code, page.headers["retry-after"]) == (503, "2")
            assert "Redis is away" in page.text
            own_server.start()
            assert next(each for each in told if each[0] == "snapshot")[1]["rows"][0]["name"] == "orders"
        assert httpx.get(f"{served.url}/queues/orders", timeout=PATIENCE).status_code == 200
    finally:
        served.close()


def test_a_hundred_tabs_that_do_not_read_are_dropped(
    redis_url: str, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    monkeypatch.setattr(Live, "slow", 0.05)
    dashboard = app(redis_url).state.dashboard

    async def play() -> None:
        live: Live = dashboard.live
        entered = 0

        async def never(message: Any = None) -> Any:
            nonlocal entered
            if message is None or message["type"] == "http.response.body":
                entered = max(entered, live.tabs)
                await asyncio.Event().wait()

        async def seeing(names: list[str]) -> list[str]:
            return names

        await asyncio.gather(*(LiveStream(live, None, seeing)({}, never, never) for _ in range(100)))
        assert (entered, live.tabs) == (100, 0)

    with contextlib.closing(dashboard.client):
        asyncio.run(asyncio.wait_for(play(), PATIENCE))
        dashboard.close()
