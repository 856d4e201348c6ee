"""A masked field shows nowhere, and no filter and no codec finds it out."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import JsonJacksonCodec, StringCodec
from redisson_dq.web import Basic
from redisson_dq.web.masks import HIDDEN, Masks
from redisson_dq.web.paths import Links
from tests.web.conftest import Open, TestClient, logged_in, token_of

LINKS = Links("")
SECRET = "4111-secret"
# The secret stands in fields, deeper, in JSON inside JSON, and in the text of an error.
VALUE = {
    "n": 1,
    "Card": SECRET,
    "deep": [{"card": {"number": SECRET, "year": 2031}}],
    "inside": json.dumps({"card": SECRET}),
    "text": f"card={SECRET}",
}


@pytest.fixture
def pages(redis_url: str, browse: Open) -> TestClient:
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer(VALUE, 3600, id="a")
        # A row shows the beginning of this one.
        client.delayed_queue("orders", transfer=False).offer({**VALUE, "more": "x" * 3000}, 3600, id="long")
        ready = client.blocking_queue("orders", transfer=False)
        ready.add(VALUE)
        held = ready.receive(timeout=1, visibility_timeout=600)
        assert held is not None
        held.reject(f"cannot pay\nValueError: number {SECRET} is wrong")
        ready.add(VALUE)
    with redisson_dq.connect(redis_url, codec=StringCodec()) as client:
        client.blocking_queue("orders", transfer=False).add(json.dumps(VALUE))
    return browse(
        masks=["card"],
        auth=Basic({"ada": "secret-of-ada"}),
        allow_writes=True,
        headers=logged_in("ada", "secret-of-ada"),
    )


def test_no_page_shows_it(pages: TestClient) -> None:
    seen = 0
    for state in ("waiting", "ready", "dead"):
        found = pages.get(LINKS.items("orders", state=state, format="json")).json()
        assert found["is_masked"]
        for row in found["rows"]:
            for format in ("json", ""):
                for address in (
                    LINKS.items("orders", state=state, format=format),
                    LINKS.item("orders", state, row["id"], format=format),
                    LINKS.queue("orders", format=format),
                ):
                    answer = pages.get(address)
                    assert answer.status_code == 200
                    assert SECRET not in answer.text
                    assert SECRET.encode().hex() not in answer.text.replace(" ", "")
                    assert "2031" not in answer.text
                    seen += 1
            answer = pages.get(LINKS.item("orders", state, row["id"], codec="StringCodec"))
            assert answer.status_code == 400
    assert seen == 5 * 6
    assert pages.get(LINKS.items("orders", codec="StringCodec")).status_code == 400


@pytest.mark.parametrize("state", ["waiting", "ready", "dead"])
def test_a_filter_finds_nothing_out(pages: TestClient, state: str) -> None:
    def found(filter: str) -> object:
        view = pages.get(LINKS.items("orders", state=state, filter=filter, format="json")).json()
        assert view["filter_error"] == ""
        return [row["id"] for row in view["rows"]]

    def counted(filter: str) -> object:
        fields = {"token": token_of(pages), "action": "cancel", "state": state, "filter": filter}
        if state != "waiting":
            fields["action"] = "redrive"
        answer = pages.post(LINKS.act("orders"), data=fields)
        return pages.get(answer.headers["location"] + "?format=json").json()["wanted"]

    for filter in (
        'card = "{}"',
        'not Card = "{}"',
        'Card ~ "{}"',
        'Card >= "{}"',
        'deep[0].card.number = "{}"',
        'inside ~ "{}"',
        'text ~ "{}"',
        'value ~ "{}"',
        'reason ~ "{}"',
        'Card in ("{}")',
    ):
        right, wrong = filter.format(SECRET[:6]), filter.format("5999-s")
        assert found(right) == found(wrong)
        if state != "ready":
            assert counted(right) == counted(wrong)
    assert found("n = 1") != found("n = 2")


def test_reasons_and_contexts_show_no_hidden_value(redis_url: str, pages: TestClient) -> None:
    """Values that are too long to be read whole, values that an error quotes, and contexts that repeat one."""
    odd = f'say "{SECRET}"\nä'
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        ready = client.blocking_queue("failed", transfer=False)
        for value, reason in (
            ({"card": SECRET, "more": "x" * 3000}, f"cannot charge {SECRET}"),
            ({"card": SECRET, "more": "x" * 1_100_000}, f"cannot charge {SECRET}"),
            ({"card": odd}, f"ValueError: {odd!r}"),
            ({"card": odd}, json.dumps({"why": odd})),
        ):
            ready.add(value)
            held = ready.receive(timeout=1, visibility_timeout=600)
            assert held is not None
            held.reject(reason)
        client.delayed_queue("failed").offer({"card": SECRET}, 0, context={"trace": f"of {SECRET}", "tenant": "blue"})
        assert ready.receive(timeout=10, visibility_timeout=600) is not None

    def view(state: str, **query: str) -> dict[str, Any]:
        found: dict[str, Any] = pages.get(LINKS.items("failed", state=state, format="json", **query)).json()
        return found

    dead = view("dead")["rows"]
    assert len(dead) == 4
    assert sum(HIDDEN in row["reason"] for row in dead) == 4
    [held] = view("in-flight")["rows"]
    for row in (*dead, held):
        for format in ("json", ""):
            assert SECRET not in pages.get(LINKS.items("failed", state=row["state"], format=format)).text
            assert SECRET not in pages.get(LINKS.item("failed", row["state"], row["id"], format=format)).text
    item = pages.get(LINKS.item("failed", "in-flight", held["id"], format="json")).json()
    assert dict(item["context"]) == {"trace": f"of {HIDDEN}", "tenant": "blue"}
    for word in ("cannot", SECRET):
        assert view("dead", filter=f'reason ~ "{word}" and size > 2000')["rows"] == []


@pytest.mark.parametrize("before", [0, 170, 195])
@pytest.mark.parametrize("is_replaced", [False, True])
def test_the_events_of_an_item_show_no_hidden_value(
    redis_url: str, pages: TestClient, before: int, is_replaced: bool
) -> None:
    """A reason is noted in part: a value may be cut where it ends. A later value has other fields to hide."""
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        delayed = client.delayed_queue("noted")
        delayed.set_history(10)
        delayed.offer({"card": SECRET}, 0, id="a")
        held = client.blocking_queue("noted").receive(timeout=10)
        assert held is not None
        held.nack(delay=3600, reason="x" * before + SECRET)
        if is_replaced:
            delayed.offer({"card": "another"}, 3600, id="a", on_duplicate="replace")
    for format in ("json", ""):
        text = pages.get(LINKS.item("noted", "waiting", "a", format=format)).text
        assert SECRET[:5] not in text
    events = pages.get(LINKS.item("noted", "waiting", "a", format="json")).json()["events"]
    what = ["offered", "moved", "delivered", "failed", *(["replaced", "offered"] if is_replaced else [])]
    assert [event["what"] for event in events] == what
    assert HIDDEN in events[3]["reason"]
    with redisson_dq.connect(redis_url) as client:
        client.delayed_queue("noted", transfer=False).cancel("a")
    for format in ("json", ""):
        text = pages.get(LINKS.item("noted", "waiting", "a", format=format)).text
        assert "cancelled" in text.lower()
        assert SECRET[:5] not in text


def test_the_log_of_actions_has_no_filter_about_it(pages: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    fields = {"token": token_of(pages), "action": "cancel", "filter": f'n = 1 and not card = "{SECRET}"'}
    answer = pages.post(LINKS.act("orders"), data=fields)
    with caplog.at_level(logging.INFO, "redisson_dq.web.audit"):
        pages.post(answer.headers["location"] + "/do", data={"token": token_of(pages)})
    assert caplog.messages[-1].startswith("ada: cancelled")
    assert SECRET not in caplog.text
    assert SECRET not in pages.get("/actions").text


def test_the_doctor_shows_no_bytes_and_no_hidden_class_of_values(
    pages: TestClient, browse: Open, redis_url: str
) -> None:
    """Its evidence for entries in no known format, for several codecs, and for classes that are not declared."""
    of_class = '{"@class": "com.acme.Secret", "n": 1}'
    with redis.Redis.from_url(redis_url) as admin, redisson_dq.connect(redis_url, codec=StringCodec()) as client:
        admin.zadd("redisson_delay_queue_timeout:{orders}", {f"an entry of {SECRET}".encode(): 1})
        client.delayed_queue("classes", transfer=False).offer(of_class, 3600)
    open_pages, without_classes = browse(), browse(masks=["@class"])
    bytes_of_it = (SECRET, SECRET.encode().hex(), b"an entry".hex())
    for address in (LINKS.doctor(), LINKS.doctor(format="json"), LINKS.queue("orders"), LINKS.queue("classes")):
        text, shown = pages.get(address).text, open_pages.get(address).text
        assert [each for each in bytes_of_it if each in text] == [], address
        assert "com.acme.Secret" not in without_classes.get(address).text, address
        if "doctor" in address:
            assert [each for each in bytes_of_it if each not in shown] == []
            assert "com.acme.Secret" in shown
            for check in ("quarantine", "codec", "unknown-classes"):
                assert check in text


def test_without_masks_nothing_is_hidden() -> None:
    assert not Masks([" ", ""])
    assert Masks(["a , b"]).fields == ("a , b",)


def test_a_list_tells_no_size_up_to_16_kb(pages: TestClient, redis_url: str) -> None:
    with redisson_dq.connect(redis_url, codec=JsonJacksonCodec()) as client:
        for size in (1, 900, 960, 1024, 5000, 15_000):
            client.delayed_queue("sizes", transfer=False).offer({"card": "x" * size, "n": 1}, 60, id=str(size))
    rows = pages.get(LINKS.items("sizes", state="waiting", format="json")).json()["rows"]
    assert len({(row["preview"], row["error"], row["is_cut"]) for row in rows}) == 1
    assert len(rows) == 6
