"""A page of one item reads no more from Redis than it shows, and searches no longer than a reader waits."""

from __future__ import annotations

import pytest
import redis

import redisson_dq
from redisson_dq.browsing import TooFar, find_row
from redisson_dq.codecs import StringCodec
from redisson_dq.web import Token
from redisson_dq.web.paths import Links
from tests.web.conftest import Open, token_of

LINKS = Links("")


@pytest.mark.parametrize("has_id", [True, False])
def test_of_a_large_value_its_beginning_alone_leaves_redis(redis_url: str, has_id: bool) -> None:
    server = redis.Redis.from_url(redis_url)

    def sent() -> int:
        return int(server.info("stats")["total_net_output_bytes"])

    with redisson_dq.connect(redis_url, codec=StringCodec()) as client:
        queue = client.delayed_queue("orders", transfer=False)
        made = queue.offer("x" * 5_000_000, 3600, id="large") if has_id else queue.offer("x" * 5_000_000, 3600)
        id = "large" if has_id else made.id
        before = sent()
        row = find_row(client, "orders", id, head=1000)
        assert sent() - before < 100_000
    assert row is not None
    assert (row.size, row.data, row.is_whole) == (5_000_000, b"x" * 1000, False)


def test_a_search_for_an_id_in_hex_ends_and_goes_on(
    browse: Open, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    queue.offer_all((f"v{i}", 3600 + i) for i in range(2500))
    last = queue.offer("last", 7200)
    id = last.id.rpartition("-")[2]
    with pytest.raises(TooFar, match="among 1,000 of 2,501") as too_far:
        find_row(client, "orders", id, most=1000)
    with pytest.raises(TooFar) as further:
        find_row(client, "orders", id, most=1000, after=too_far.value.after)
    found = find_row(client, "orders", id, most=1000, after=further.value.after)
    assert found is not None
    assert found.id == last.id
    monkeypatch.setattr("redisson_dq.web.item.MOST_LOOKED", 2000)
    pages = browse()
    answer = pages.get(LINKS.item("orders", "waiting", id, format="json"))
    told = answer.json()
    assert answer.status_code == 404
    assert "not found among 2,000 of 2,501" in told["text"]
    page = pages.get(told["go_on"])
    assert page.status_code == 200
    assert last.id in page.text
    assert "Look further" in pages.get(LINKS.item("orders", "waiting", id)).text
    # An id that nobody has is not found in the end.
    answer = pages.get(LINKS.item("orders", "waiting", "0" * 16, format="json"))
    assert pages.get(f"{answer.json()['go_on']}&format=json").json()["go_on"] == ""


def test_the_doctor_repeats_no_large_entry(browse: Open, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as admin:
        for i in range(5):
            admin.zadd(f"redisson_delay_queue_timeout:{{orders-{i}}}", {b"\xff" * 60_000: 1})
        admin.zadd("redisson_delay_queue_timeout:{small}", {b"\xffsmall": 1})
    answer = browse().get("/doctor?format=json")
    assert len(answer.content) < 50_000
    shown = {each["queue"]: each["shown_by"] for each in answer.json()["findings"] if each["check"] == "quarantine"}
    assert len(shown) == 6
    assert shown["orders-0"].endswith(" ZRANGE 'redisson_delay_queue_timeout:{orders-0}' 0 9")
    assert "small" in shown["small"]
    assert "| redis-cli" in shown["small"]


def test_no_name_fills_a_page(browse: Open, redis_url: str) -> None:
    name = "n" * 100_000
    with redis.Redis.from_url(redis_url) as admin:
        for each in (name, "m" * 3000):
            admin.zadd(f"redisson_delay_queue_timeout:{{{each}}}", {b"\xffno entry": 1e13})
    pages = browse()
    assert len(pages.get("/doctor").content) < 100_000
    assert "redisson-dq doctor</code> prints it" in pages.get("/doctor").text
    # A link is whole, however long its name is.
    assert LINKS.queue("m" * 3000) in pages.get("/").text
    assert pages.get(LINKS.queue("m" * 3000)).status_code == 200


def test_every_page_of_a_token_has_a_way_out(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    token = "0123456789abcdef0123"
    pages = browse(auth=Token(token), allow_writes=True)
    assert "Log out" not in pages.get("/login").text
    assert pages.post("/login", data={"password": token}).status_code == 303
    form = {"token": token_of(pages, "token"), "action": "cancel", "all": "1"}
    action = pages.post(LINKS.act("orders"), data=form).headers["location"]
    for address in ("/", LINKS.queue("orders"), "/actions", action, "/actions/none", "/doctor"):
        assert "Log out" in pages.get(address).text, address
