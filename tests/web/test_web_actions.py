"""Actions by the pages: counted first, carried out, taken back, and told of in the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import JsonJacksonCodec, StringCodec
from redisson_dq.web import Basic
from redisson_dq.web.paths import Links
from tests.web.conftest import Open, TestClient, logged_in, token_of

LINKS = Links("")
MEND = Basic({"ada": "secret-of-ada"})


def act(pages: TestClient, queue: str, **fields: Any) -> dict[str, Any]:
    """Chooses items, and gives the view of the action."""
    answer = pages.post(LINKS.act(queue), data={"token": token_of(pages), **fields})
    assert answer.status_code == 303, answer.text
    return view_of(pages, answer.headers["location"])


def view_of(pages: TestClient, address: str) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = pages.get(f"{address}?format=json").json()
        if not found["goes_on"]:
            return found


def step(pages: TestClient, found: dict[str, Any], name: str) -> dict[str, Any]:
    answer = pages.post(LINKS.action(found["id"], name), data={"token": token_of(pages)})
    assert answer.status_code == 303, answer.text
    return view_of(pages, answer.headers["location"])


@pytest.fixture
def pages(browse: Open) -> TestClient:
    return browse(auth=MEND, allow_writes=True, headers=logged_in("ada", "secret-of-ada"))


def test_a_filter_by_reason_acts_on_the_items_that_it_lists(browse: Open, client: redisson_dq.Client) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    for value, reason in (("a", "card expired"), ("b", "timeout")):
        queue.put(value)
        held = queue.receive(timeout=1)
        assert held is not None
        held.nack(delay=3600, reason=reason)
    pages = browse(auth=Basic({"ada": "secret-of-ada"}), allow_writes=True, headers=logged_in("ada", "secret-of-ada"))
    filter = "reason ~ expired and attempts = 1"
    listed = pages.get(LINKS.items("orders", filter=filter, format="json")).json()["rows"]
    assert [(row["preview"], row["reason"]) for row in listed] == [("a", "card expired")]
    found = act(pages, "orders", action="cancel", filter=filter)
    assert (found["wanted"], found["met"], found["total"]) == (1, 2, 2)


def test_a_filter_is_counted_and_cancelled_and_put_back(
    pages: TestClient, client: redisson_dq.Client, caplog: pytest.LogCaptureFixture
) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    queue.offer_all(({"n": i}, 3600) for i in range(300))
    found = act(pages, "orders", action="cancel", state="waiting", filter="n < 250")
    assert (found["status"], found["wanted"], found["met"], found["can_do"]) == ("ready", 250, 300, True)
    assert client.stats("orders")["orders"].waiting == 300
    with caplog.at_level(logging.INFO, "redisson_dq.web.audit"):
        found = step(pages, found, "do")
    assert (found["status"], found["done"], found["can_undo"]) == ("done", 250, True)
    assert client.stats("orders")["orders"].waiting == 50
    last = caplog.messages[-1]
    assert last.startswith("ada: cancelled 250 of 250: cancel 250 waiting items by filter 'n < 250' of 'orders'")
    found = step(pages, found, "undo")
    assert (found["status"], found["undone"]) == ("undone", 250)
    assert client.stats("orders")["orders"].waiting == 300
    # An action is carried out once, and taken back once. A second click, or another tab, sees how it ended.
    lines = len(caplog.messages)
    for name in ("do", "undo", "drop"):
        assert step(pages, found, name) == found
    assert (client.stats("orders")["orders"].waiting, len(caplog.messages)) == (300, lines)
    assert [row["status"] for row in pages.get("/actions?format=json").json()["rows"]] == ["undone"]


def test_an_item_that_changed_since_it_was_counted_is_left(pages: TestClient, client: redisson_dq.Client) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    for id in ("a", "b"):
        queue.offer(id, 3600, id=id)
    found = act(pages, "orders", action="run-now", state="waiting", id=["a", "b", "c"])
    assert found["wanted"] == 2
    assert len(found["problems"]) == 1
    queue.cancel("a")
    found = step(pages, found, "do")
    assert (found["done"], found["left"]) == (1, {"moved, taken or changed meanwhile": 1})
    assert client.stats("orders")["orders"].overdue == 1


def test_items_are_rescheduled_to_a_moment_and_by_a_span(pages: TestClient, client: redisson_dq.Client) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    queue.offer("a", 3600, id="a")

    def due() -> str:
        [row] = pages.get(LINKS.items("orders", format="json")).json()["rows"]
        return str(row["due"])

    step(pages, act(pages, "orders", action="reschedule", id="a", when="2040-01-02T03:04:05Z"), "do")
    assert due() == "2040-01-02T03:04:05+00:00"
    step(pages, act(pages, "orders", action="reschedule", id="a", when="-5m"), "do")
    assert due() == "2040-01-02T02:59:05+00:00"
    answer = pages.post(
        LINKS.act("orders"), data={"token": token_of(pages), "action": "reschedule", "id": "a", "when": "soon"}
    )
    assert answer.status_code == 400
    assert f'href="{LINKS.queue("orders")}">Back to the queue</a>' in answer.text


def test_a_queue_is_paused_and_resumed(pages: TestClient, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    found = step(pages, act(pages, "orders", action="pause", state="queue"), "do")
    assert client.stats("orders")["orders"].is_paused
    step(pages, found, "undo")
    assert not client.stats("orders")["orders"].is_paused
    step(pages, act(pages, "orders", action="pause", state="queue"), "do")
    step(pages, act(pages, "orders", action="resume", state="queue"), "do")
    assert not client.stats("orders")["orders"].is_paused


def test_stuck_leases_and_dead_letters_come_back(pages: TestClient, client: redisson_dq.Client) -> None:
    ready = client.blocking_queue("orders", transfer=False)
    ready.add_all(["a", "b"])
    lease = ready.receive(timeout=1, visibility_timeout=600)
    assert lease is not None
    found = act(pages, "orders", action="release", state="in-flight", all="1")
    assert found["wanted"] == 1
    found = step(pages, found, "do")
    assert (found["done"], found["can_undo"]) == (1, True)
    assert client.stats("orders")["orders"].in_flight == 0
    found = step(pages, found, "undo")
    assert (found["undone"], found["left"]) == (1, {})
    # Its holder goes on as if nothing had been.
    assert lease.ack()
    ready.add("a")
    for _ in range(2):
        held = ready.receive(timeout=1, visibility_timeout=600)
        assert held is not None
        held.reject("broken")
    [first, _] = pages.get(LINKS.items("orders", state="dead", format="json")).json()["rows"]
    assert first["reason"] == "broken"
    found = step(pages, act(pages, "orders", action="redrive", state="dead", id=first["id"]), "do")
    assert found["done"] == 1
    found = step(pages, act(pages, "orders", action="purge", state="dead", all="1"), "do")
    assert (found["done"], client.stats("orders")["orders"].dead) == (1, 0)
    step(pages, found, "undo")
    assert client.stats("orders")["orders"].dead == 1


def test_an_action_says_which_items(pages: TestClient) -> None:
    token = token_of(pages)
    for fields in (
        {"action": "cancel"},
        {"action": "cancel", "id": "a", "all": "1"},
        {"action": "cancel", "filter": "n <", "state": "waiting"},
        {"action": "cancel", "all": "1", "state": "dead"},
        {"action": "erase", "all": "1"},
    ):
        assert pages.post(LINKS.act("orders"), data={"token": token, **fields}).status_code == 400, fields
    assert pages.get("/actions?format=json").json()["rows"] == []


def test_a_value_is_offered_as_the_others_are_written(pages: TestClient, redis_url: str) -> None:
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        queue = client.delayed_queue("orders", transfer=False)
        queue.offer({"n": 1}, 3600)
        found = act(pages, "orders", action="offer", state="queue", value='{"n": 2}', delay="2h", item_id="second")
        assert (found["wanted"], found["can_do"]) == (1, True)
        assert client.stats("orders")["orders"].waiting == 1
        found = step(pages, found, "do")
        assert (found["status"], found["done"], found["can_undo"]) == ("done", 1, False)
        assert queue.read_all() == [{"n": 1}, {"n": 2}]
        found = step(pages, act(pages, "orders", action="offer", state="queue", value="3", item_id="second"), "do")
        assert (found["status"], found["done"]) == ("failed", 0)
        assert "second" in found["error"]
    for fields in ({"value": "{"}, {"value": "1", "delay": "-5m"}, {"value": "{}", "class": "com.acme.Nobody"}):
        answer = pages.post(LINKS.act("orders"), data={"token": token_of(pages), "action": "offer", **fields})
        assert answer.status_code == 400, fields


@pytest.mark.parametrize(
    ("error", "text"), [(OSError("No space left on device"), "No space left"), (KeyError("x"), "KeyError")]
)
def test_an_action_that_meets_an_unexpected_error_ends(
    pages: TestClient, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch, error: Exception, text: str
) -> None:
    """A full disk, or a mistake of the dashboard: nothing goes on forever, and the page says so."""
    client.delayed_queue("orders", transfer=False).offer("a", 3600)

    def fails(*arguments: object, **options: object) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("redisson_dq.web.deeds.choosing.select_waiting", fails)
        found = act(pages, "orders", action="cancel", all="1")
    assert (found["status"], found["goes_on"]) == ("failed", False)
    assert text in found["error"]
    found = act(pages, "orders", action="cancel", all="1")
    with monkeypatch.context() as broken:
        broken.setattr("redisson_dq.web.deeds.acting.mend_waiting", fails)
        found = step(pages, found, "do")
    assert (found["status"], found["done"]) == ("failed", 0)
    assert text in found["error"]


def test_actions_that_fail_are_forgotten_in_the_end(
    pages: TestClient, client: redisson_dq.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redisson_dq.web.deeds.ledger.MOST_DEEDS", 5)
    client.delayed_queue("orders", transfer=False).offer("a", 3600, id="a")
    for _ in range(8):
        found = step(pages, act(pages, "orders", action="offer", state="queue", value='"b"', item_id="a"), "do")
        assert found["status"] == "failed"
    assert len(pages.get("/actions?format=json").json()["rows"]) <= 6


def test_one_user_who_leaves_actions_behind_does_not_stop_another(browse: Open, client: redisson_dq.Client) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    pages = browse(auth=Basic({"ada": "secret-of-ada", "bob": "secret-of-bob"}), allow_writes=True)

    def asked(user: str) -> int:
        fields = {"token": token_of(pages, user), "action": "pause", "state": "queue"}
        answer = pages.post(LINKS.act("orders"), data=fields, headers=logged_in(user, f"secret-of-{user}"))
        return int(answer.status_code)

    assert [asked("ada") for _ in range(21)] == [303] * 20 + [400]
    assert asked("bob") == 303


def test_a_stuck_lease_is_ended_for_good_by_its_page_and_by_a_filter(
    pages: TestClient, client: redisson_dq.Client
) -> None:
    ready = client.blocking_queue("orders", transfer=False)
    ready.add_all([{"n": 1}, {"n": 2}, {"n": 3}])
    held = ready.receive(3, timeout=1, visibility_timeout=600)
    page = pages.get(LINKS.item("orders", "in-flight", held[0].id))
    assert 'value="ack"' in page.text
    for fields in ({"id": held[0].id}, {"filter": "n = 2 and attempts = 1"}):
        found = act(pages, "orders", action="ack", state="in-flight", **fields)
        assert (found["status"], found["wanted"], found["is_final"]) == ("ready", 1, True)
        text = pages.get(LINKS.action(found["id"])).text
        assert "gone for good" in text
        assert "cannot be undone" in text
        found = step(pages, found, "do")
        assert (found["status"], found["done"], found["can_undo"]) == ("done", 1, False)
    # The holders are told, and the third one goes on.
    assert [bool(each.ack()) for each in held] == [False, False, True]
    assert client.stats("orders")["orders"].ready == 0


def test_whoever_may_mend_gives_back_and_does_not_acknowledge(browse: Open, client: redisson_dq.Client) -> None:
    ready = client.blocking_queue("orders", transfer=False)
    ready.add("a")
    ready.receive(timeout=1, visibility_timeout=600)
    pages = browse(
        auth=Basic({"ada": ("secret-of-ada", "mend", "*")}),
        allow_writes=True,
        headers=logged_in("ada", "secret-of-ada"),
    )
    fields = {"token": token_of(pages), "state": "in-flight", "all": "1"}
    assert pages.post(LINKS.act("orders"), data={**fields, "action": "ack"}).status_code == 403
    assert pages.post(LINKS.act("orders"), data={**fields, "action": "release"}).status_code == 303
    assert client.stats("orders")["orders"].in_flight == 1


def test_the_codec_of_an_offer_is_a_field_where_the_items_do_not_tell_it(pages: TestClient, redis_url: str) -> None:
    for codec in (JsonJacksonCodec(), StringCodec()):
        with redisson_dq.connect(redis_url, codec=codec) as client:
            client.delayed_queue("orders", transfer=False).offer("text", 3600)
    assert '<select name="codec">' in pages.get(LINKS.queue("orders")).text
    found = act(pages, "orders", action="offer", state="queue", value='"new"')
    assert (found["status"], found["can_do"]) == ("failed", False)
    assert "choose a codec in the form" in found["error"]
    assert "--codec" not in found["error"]
    found = step(pages, act(pages, "orders", action="offer", state="queue", value='"new"', codec="StringCodec"), "do")
    assert (found["status"], found["done"]) == ("done", 1)
    with redisson_dq.connect(redis_url, codec=StringCodec()) as client:
        assert "new" in [each.value for each in client.delayed_queue("orders", transfer=False).items()]
    fields = {"token": token_of(pages), "action": "offer", "value": "1", "codec": "LZ4Codec"}
    assert pages.post(LINKS.act("orders"), data=fields).status_code == 400


def test_a_name_begins_no_line_of_the_log(
    browse: Open, client: redisson_dq.Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a hook's user, nor an address, nor a queue, nor a filter."""
    name = "or\nders\u202e"
    client.delayed_queue(name, transfer=False).offer("a", 3600)
    pages = browse(auth=lambda request, action, queue: "eve\nada: purged 9 of 9\x1b[2J\u202e", allow_writes=True)

    def posted(address: str, **fields: str) -> str:
        answer = pages.post(address, data={"token": token_of(pages, ""), **fields})
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    with caplog.at_level(logging.INFO, "redisson_dq.web.audit"):
        address = posted(LINKS.act(name), action="cancel", filter='id != "\u202e"')
        posted(f"{address}/do")
        posted(f"{address}/undo")
    assert len(caplog.messages) == 4
    for line in caplog.messages:
        assert line.isprintable(), line
        assert line.startswith("eve\\nada: purged 9 of 9\\x1b[2J\\u202e")
