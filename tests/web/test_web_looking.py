"""The pages show a real queue as it is."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, StringCodec
from redisson_dq.web.doctor import FleetDoctor
from redisson_dq.web.frame import sentence
from redisson_dq.web.paths import Links
from tests.conftest import by_night
from tests.web.conftest import Open

INT64 = 9223372036854775807
# Names that a path, a proxy or a browser may rewrite.
NAMES = ["orders", "a/b", "..", ".", "50%", "a%2Fb", "~", "ü ☃", "a?b#c", "<b>", "a\\b", "nul\0", "x" * 300, "{tag}q"]


@pytest.mark.parametrize("path", ["/", "/doctor", "/queues/orders", "/queues/orders/items", "/queues/orders/timeline"])
def test_every_view_shows_nothing_where_nothing_is(browse: Open, path: str) -> None:
    answer = browse().get(path)
    assert answer.status_code == 200, answer.text
    assert "style-src 'self'" in answer.headers["content-security-policy"]
    assert browse().get(f"{path}?format=json").json()


@pytest.mark.parametrize("name", NAMES)
def test_a_queue_of_any_name_has_its_pages(browse: Open, client: redisson_dq.Client, name: str) -> None:
    client.delayed_queue(name, transfer=False).offer("one", 60, id="id/..%2F" + name)
    pages = browse()
    [row] = pages.get("/?format=json").json()["rows"]
    assert (row["name"], row["waiting"]) == (name, 1)
    links = Links("")
    [found] = pages.get(links.items(name, format="json")).json()["rows"]
    assert found["id"] == "id/..%2F" + name
    detail = pages.get(links.item(name, "waiting", found["id"], format="json")).json()
    assert (detail["queue"], detail["id"], detail["nodes"][0]["text"]) == (name, found["id"], "one")
    for path in (links.queue(name), links.items(name), links.item(name, "waiting", found["id"])):
        answer = pages.get(path)
        assert answer.status_code == 200
        assert "<b>" not in answer.text
        # A proxy that decodes and encodes the path again changes nothing.
        assert path.isascii()
        assert "%" not in path
        assert ".." not in path.split("/")


@pytest.mark.parametrize("partitions", [None, by_night(4)])
def test_an_item_that_is_gone_has_a_page_while_its_history_lasts(
    browse: Open, client: redisson_dq.Client, partitions: int | None
) -> None:
    delayed = client.delayed_queue("orders", partitions=partitions)
    delayed.set_history(10)
    delayed.offer("a", 0, id="order-71")
    held = client.blocking_queue("orders", partitions=partitions).receive(timeout=20)
    assert held is not None
    held.ack()
    pages, links = browse(), Links("")
    for state in ("ready", "dead"):
        view = pages.get(links.item("orders", state, "order-71", format="json")).json()
        assert (view["state"], view["id"], view["attempts"], view["nodes"]) == ("gone", "order-71", 1, [])
        assert [event["what"] for event in view["events"]] == ["offered", "moved", "delivered", "done"]
    text = pages.get(links.item("orders", "ready", "order-71")).text
    assert "in no place of the queue any more" in text
    assert "Delivered" in text
    assert pages.get(links.item("orders", "ready", "order-72")).status_code == 404
    delayed.set_history(None)
    assert pages.get(links.item("orders", "ready", "order-71")).status_code == 404


def test_whole_numbers_keep_their_digits_and_markup_is_text(browse: Open, redis_url: str) -> None:
    markup = "<script>alert('x')</script>\" onload=alert(1) {{ 7 * 7 }}"
    value = {"id64": INT64, "least": -INT64 - 1, "huge": 10**900, markup: markup, "list": [1, None, True, 0.5]}
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer(value, 3600, id=markup, context={"trace": markup})
        ready = client.blocking_queue("orders", transfer=False)
        ready.add(value)
        held = ready.receive(timeout=1, visibility_timeout=60)
        assert held is not None
        held.save({"at": markup})
        held.reject(markup)
    pages = browse()
    links = Links("")
    for state in ("waiting", "dead"):
        [row] = pages.get(links.items("orders", state=state, format="json")).json()["rows"]
        assert f"{INT64}" in row["preview"]
        assert len(row["preview"].encode()) <= 256
        address = links.item("orders", state, row["id"])
        view = pages.get(f"{address}?format=json").json()
        assert view["cursor"] == (json.dumps({"at": markup}) if state == "dead" else "")
        assert browse(masks=["a-field"]).get(f"{address}?format=json").json()["cursor"] == ""
        nodes = {node["key"]: node for node in view["nodes"]}
        assert nodes["id64"]["text"] == "9223372036854775807"
        assert nodes["least"]["text"] == "-9223372036854775808"
        assert nodes[markup]["text"] == markup
        for page in (address, links.items("orders", state=state), links.queue("orders")):
            text = pages.get(page).text
            assert "<script>alert" not in text
            assert "{{ 7 * 7 }}" in text or page != address
            assert '" onload' not in text
    [found] = pages.get(links.items("orders", filter=f"id64 = {INT64}", format="json")).json()["rows"]
    assert found["state"] == "waiting"
    assert pages.get(links.items("orders", filter=f"id64 = {INT64 - 1}", format="json")).json()["rows"] == []


def test_one_part_of_a_value_is_no_plural(browse: Open, redis_url: str) -> None:
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer([[1], [1, 2], {"a": 1}], 3600, id="one")
    address = Links("").item("orders", "waiting", "one", format="json")
    pages = browse()
    nodes = pages.get(address).json()["nodes"]
    assert [node["text"] for node in nodes if node["kind"] in ("list", "object")] == [
        "3 elements",
        "1 element",
        "2 elements",
        "1 field",
    ]
    assert "Of 1 queue none has nothing." in pages.get(Links("").fleet(filter="nothing")).text


def test_half_a_pair_of_surrogates_is_shown_as_an_escape(browse: Open, redis_url: str) -> None:
    """JSON may have one in a key and in a text, and no page can be sent with it."""
    with redisson_dq.connect(redis_url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer(
            '{"@class": "a.B", "key\\udfff": "text\\ud800"}', 3600, id="a"
        )
    pages, links = browse(), Links("")
    for page in (links.items("orders"), links.item("orders", "waiting", "a")):
        answer = pages.get(page)
        assert answer.status_code == 200
        assert "key\\udfff" in answer.text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("from=999999999999999999", 200),
        ("from=-99999999999999999", 200),
        ("from=1&to=999999999999999999", 200),
        ("to=-99999999999999999", 200),
        ("from=--5", 400),
        ("from=5-", 400),
        ("from=1e3", 400),
    ],
)
def test_a_span_beyond_the_calendar(browse: Open, client: redisson_dq.Client, query: str, status: int) -> None:
    client.delayed_queue("orders", transfer=False).offer("one", 60)
    pages = browse()
    for format in ("", "&format=json"):
        assert pages.get(f"/queues/orders/items?{query}{format}").status_code == status


def test_a_value_of_20_mb_is_shown_cut(browse: Open, redis_url: str) -> None:
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        queue = client.delayed_queue("orders", transfer=False)
        queue.offer({"n": "x" * 20_000_000}, 3600, id="large")
        client.blocking_queue("orders", transfer=False).add({"n": "y" * 20_000_000})
    pages, links = browse(), Links("")
    for state in ("waiting", "ready"):
        answer = pages.get(links.items("orders", state=state, format="json"))
        [row] = answer.json()["rows"]
        assert row["size"] > 20_000_000
        assert row["is_cut"]
        assert len(answer.content) < 10_000
        answer = pages.get(links.item("orders", state, row["id"], format="json"))
        found = answer.json()
        assert (found["size"], found["is_cut"], found["bytes_are_cut"]) == (row["size"], True, True)
        assert len(answer.content) < 100_000
        assert len(pages.get(links.item("orders", state, row["id"])).content) < 100_000


def test_a_page_of_items_is_small_and_the_pages_go_to_the_end(browse: Open, redis_url: str) -> None:
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        queue = client.delayed_queue("orders", transfer=False)
        queue.offer_all(({"n": i, "text": "ü" * 5000}, 60 + i) for i in range(230))
    pages, links = browse(), Links("")
    for filter, wanted in (("", 230), ("n >= 100 and n < 120", 20), ("late > 5m", 0)):
        cursor, seen = "", []
        while True:
            answer = pages.get(links.items("orders", filter=filter, cursor=cursor, format="json"))
            assert len(answer.content) < 100_000
            assert len(pages.get(links.items("orders", filter=filter, cursor=cursor)).content) < 200_000
            view = answer.json()
            assert view["count"] == 230
            seen += [row["id"] for row in view["rows"]]
            cursor = view["next"]
            if not cursor:
                break
        assert len(seen) == len(set(seen)) == wanted, filter
    view = pages.get(links.items("orders", filter="n <", format="json")).json()
    assert (view["rows"], view["filter_position"]) == ([], 3)
    assert "n" in pages.get(links.items("orders", filter="n = 1", format="json")).json()["fields"]


def test_partitions_are_one_queue_and_500_are_looked_at_in_turn(browse: Open, client: redisson_dq.Client) -> None:
    for i in range(500):
        client.delayed_queue(f"q{i:03}", transfer=False).offer("x", 3600)
    whole = client.delayed_queue("parted", transfer=False, partitions=4)
    for i in range(20):
        whole.offer(i, 60)
    pages = browse()
    view = pages.get("/?format=json&sort=-waiting").json()
    assert (view["count"], len(view["rows"]), view["pages"], view["totals"]["waiting"]) == (501, 100, 6, 520)
    assert (view["rows"][0]["name"], view["rows"][0]["partitions"], view["rows"][0]["waiting"]) == ("parted", 4, 20)
    view = pages.get("/?format=json&filter=q1*&sort=name&page=1").json()
    assert (view["shown"], view["rows"][0]["name"]) == (100, "q100")
    assert pages.get("/?format=json&filter=is:late").json()["shown"] == 0
    dashboard = pages.app.state.dashboard  # type: ignore[attr-defined]
    seen: set[str] = set()
    for _ in range(3):
        asked = {each.name: each.at for each in dashboard.snapshots.queues()}
        dashboard.snapshots.forget()
        dashboard.snapshots.take()
        fresh = {each.name for each in dashboard.snapshots.queues() if each.at != asked[each.name]}
        assert len(fresh) <= 200
        seen |= fresh
    assert len(seen) == 501


def test_recurring_offers_in_words_with_their_next_times(browse: Open, client: redisson_dq.Client) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    queue.offer_recurring("a", id="minutes", every=900)
    queue.offer_recurring("b", id="weekdays", cron="30 9 * * mon-fri", timezone="Europe/Berlin", missed="skip")
    view = browse().get(Links("").queue("orders", format="json")).json()
    words = {each["id"]: each["words"] for each in view["recurring"]}
    assert words == {
        "minutes": "every 15 minutes",
        "weekdays": "at 09:30 on Monday to Friday, Europe/Berlin",
    }
    assert [len(each["next"]) for each in view["recurring"]] == [5, 5]
    assert {each["missed"] for each in view["recurring"]} == {"one", "skip"}
    assert "Europe/Berlin; missed: skip" in browse().get(Links("").queue("orders")).text


def test_the_first_page_names_what_the_doctor_has_found(
    browse: Open, client: redisson_dq.Client, redis_url: str
) -> None:
    client.delayed_queue("a b", transfer=False).offer("alone", 3600)
    with redis.Redis.from_url(redis_url) as admin:
        admin.config_set("maxmemory", "1gb")
        admin.config_set("maxmemory-policy", "allkeys-lru")
        try:
            pages = browse()
            doctor = pages.get("/doctor").text
            fleet = pages.get("/").text
        finally:
            admin.config_set("maxmemory", 0)
            admin.config_set("maxmemory-policy", "noeviction")
    assert "may drop keys" in fleet
    assert '<span class="unseen">Problem: </span>Nobody moves</a>' in fleet
    # Each of them is one click away.
    for check, queue in (("nobody-moves", "a b"), ("eviction", None)):
        assert f'href="{Links("").finding(check, queue)}"' in fleet
        assert f'id="{Links("").finding_id(check, queue)}"' in doctor


def test_a_filter_that_costs_much_ends_after_a_second_too(browse: Open, redis_url: str) -> None:
    with redisson_dq.connect(redis_url, codec=StringCodec()) as client:
        value = json.dumps([{"x": i} for i in range(1000)])
        queue = client.delayed_queue("orders", transfer=False)
        for i in range(400):
            queue.offer(value, 3600 + i, id=f"{i:03}")
    filter = " or ".join(["a.b = 1"] * 900)
    seen = browse().get(Links("").items("orders", filter=filter, format="json")).json()
    assert 0 < seen["looked"] < 400
    assert seen["next"]
    # The next page begins behind the last one that was looked at.
    further = browse().get(Links("").items("orders", cursor=seen["next"], format="json")).json()
    assert further["rows"][0]["id"] == f"{seen['looked']:03}"


def test_whoever_has_mended_something_lets_the_doctor_look_again(
    browse: Open, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = browse()

    def found(**query: object) -> set[str]:
        return {each["queue"] for each in pages.get(Links("").doctor(format="json", **query)).json()["findings"]}

    assert "orders" not in found()
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    # It has looked just now.
    assert "orders" not in found(again=1)
    monkeypatch.setattr(FleetDoctor, "again", 0.0)
    assert "orders" not in found()
    assert "orders" in found(again=1)
    assert 'href="/doctor?again=1">Look again' in pages.get("/doctor").text


def test_a_recurring_offer_has_a_page(browse: Open, client: redisson_dq.Client) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    queue.offer_recurring("all", "daily-report", cron="30 7 * * mon-fri")
    queue.offer_recurring("some", "hourly", every=timedelta(hours=1))
    pages, links = browse(), Links("")
    listed = pages.get(links.items("orders", state="recurring")).text
    for id, value in (("daily-report", "all"), ("hourly", "some")):
        address = links.item("orders", "recurring", id)
        assert f'href="{address}"' in listed
        found = pages.get(f"{address}?format=json").json()
        assert (found["id"], found["state"], found["nodes"][0]["text"]) == (id, "recurring", value)
        assert "Next</dt>" in pages.get(address).text
    # The end of an id names no offer.
    assert pages.get(links.item("orders", "recurring", "report")).status_code == 404


def test_a_key_of_another_kind_leads_to_the_doctor(browse: Open, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as admin:
        admin.set("redisson_delay_queue_timeout:{orders}", "a text of somebody else")
    pages, links = browse(), Links("")
    answer = pages.get(links.items("orders"))
    assert answer.status_code == 409
    assert f'href="{links.doctor(again=1)}">Ask the doctor' in answer.text
    text = pages.get(links.doctor(again=1)).text
    assert "holds a string" in text
    assert links.queue("orders") in text


def test_findings_begin_with_capital_letters_and_what_is_late_comes_first(
    browse: Open, client: redisson_dq.Client, redis_url: str
) -> None:
    client.delayed_queue("a", transfer=False).offer_all([(str(i), 3600) for i in range(2000)])
    late = client.delayed_queue("late", transfer=False)
    late.pause()
    late.offer("due", 0.001)
    pages = browse()
    found = pages.get("/doctor?format=json").json()["findings"]
    assert [each["queue"] for each in found if each["check"] == "nobody-moves"] == ["late", "a"]
    text = pages.get("/doctor").text
    assert "Delivery is paused, and 1 item waits" in text
    assert "2,000 items wait" in text
    assert "waiting <strong" in text
    assert ">2,000</strong>" in text
    assert "Delivery is paused" in pages.get(Links("").queue("late")).text
    told = [sentence(each) for each in ("a value was", "redis.example.com:6379 may", "10 items", "values: 2")]
    assert told == ["A value was", "redis.example.com:6379 may", "10 items", "values: 2"]


def test_two_services_with_two_codecs_are_seen_however_they_offer(browse: Open, redis_url: str) -> None:
    for codec, delay in ((StringCodec(), 900), (Kryo5Codec(), 1900)):
        with redisson_dq.connect(redis_url, codec=codec) as client:
            client.delayed_queue("orders", transfer=False).offer_all([(f"text {i}", delay + i) for i in range(30)])
    pages = browse()
    found = pages.get("/doctor?format=json").json()["findings"]
    assert "codec" in {each["check"] for each in found}
    assert len(pages.get("/queues/orders?format=json").json()["codecs"]) == 2


def test_a_name_of_no_queue_is_told(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    pages = browse()
    assert "spelt in another way" in pages.get("/queues/order").text
    assert "spelt in another way" not in pages.get("/queues/orders").text


@pytest.mark.parametrize(
    ("id", "copied"),
    [
        ("it's 4 <b>", "it's 4 <b>"),
        ("or\u200bders", r"$'or\xe2\x80\x8bders'"),
        ("a\nrm -rf x", r"$'a\x0arm -rf x'"),
        ("x" * 512, "x" * 512),
    ],
)
def test_the_whole_id_is_copied_as_a_shell_takes_it(
    browse: Open, client: redisson_dq.Client, id: str, copied: str
) -> None:
    client.delayed_queue("orders", transfer=False).offer("v", 3600, id=id)
    text = browse().get(Links("").item("orders", "waiting", id)).text
    found = re.search('data-copy="([^"]+)"', text)
    assert found is not None
    assert html.unescape(found[1]) == copied
