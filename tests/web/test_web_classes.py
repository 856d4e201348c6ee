"""The bars of the timeline have the classes of their values, as far as a sample tells, and no masked class."""

from __future__ import annotations

from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import ByteArrayCodec
from redisson_dq.web.masks import Masks
from redisson_dq.web.paths import Links
from redisson_dq.web.timeline import MOST_SHOWN, TimelineView, timeline
from tests.illnesses import UNDECLARED
from tests.web.conftest import Open

LINKS = Links("")
ORDER, BILL = "com.acme.Order", "com.acme.billing.Bill"


def of(name: str, size: int = 0) -> bytes:
    """A value of JSON of this class, with so many more bytes."""
    return f'{{"@class":"{name}","note":"{"x" * size}"}}'.encode()


SERIALIZED = b"\xac\xed\x00\x05sr\x00\x0ecom.acme.Order" + b"AAAAAAAA" + b"\x02\x00\x00xp"


@pytest.fixture
def offer(client: redisson_dq.Client) -> Any:
    """Offers values with delays in seconds."""
    queue = client.delayed_queue("orders", codec=ByteArrayCodec(), transfer=False)
    return lambda *pairs: queue.offer_all(pairs)


def marks(view: TimelineView) -> dict[int, str]:
    return {each.number: each.label for each in view.classes}


def parts(view: TimelineView) -> list[dict[str, int]]:
    """Of each bar with items how many values of the sample have which class."""
    return [{part.label: part.count for part in span.parts} for span in view.spans if span.count]


def test_each_bar_has_the_classes_of_its_values(client: redisson_dq.Client, offer: Any) -> None:
    offer(
        *[(of(ORDER), 60)] * 2,
        *[(of(BILL), 60), (b"plain", 60)],
        *[(of(BILL, 5000), 3600), (SERIALIZED, 3600), (UNDECLARED, 3600), (of("java.util.HashMap"), 3600)],
    )
    view = timeline(client, "orders", None, Masks(), "now", "+2h")
    assert marks(view) == {1: "Order", 2: "Bill", 3: "Unseen"}
    assert parts(view) == [{"Order": 2, "Bill": 1, "": 1}, {"Order": 1, "Bill": 1, "Unseen": 1, "": 1}]
    assert [part.share for part in next(each for each in view.spans if each.count).parts] == [0.25, 0.5, 0.25]
    assert (view.sampled, view.has_unknown) == (8, True)


def test_two_classes_of_one_name_are_told_apart(client: redisson_dq.Client, offer: Any) -> None:
    offer((of("com.acme.Order"), 60), (of("com.shop.Order"), 60))
    view = timeline(client, "orders", None, Masks())
    assert marks(view) == {1: "com.acme.Order", 2: "com.shop.Order"}
    assert not view.has_unknown


def test_many_classes_share_a_mark(client: redisson_dq.Client, offer: Any) -> None:
    offer(*[(of(f"com.acme.C{i}"), 60 + 60 * k) for i in range(9) for k in range(9 - i)])
    view = timeline(client, "orders", None, Masks())
    assert marks(view) == {1: "C0", 2: "C1", 3: "C2", 4: "C3", 5: "C4", 6: "other classes"}
    assert parts(view)[0] == {**{f"C{i}": 1 for i in range(5)}, "other classes": 4}


def test_a_sample_is_spread_over_the_entries_of_a_bar(client: redisson_dq.Client, offer: Any) -> None:
    now = timeline(client, "orders", None, Masks()).now_ms / 1000
    # In the middle of two minutes.
    begin = (now // 120 + 1) * 120 + 60 - now
    offer(*[(of(ORDER), begin + i / 1000) for i in range(300)], *[(of(BILL), begin + 1 + i / 1000) for i in range(300)])
    view = timeline(client, "orders", None, Masks(), "now", "+1h")
    assert view.step_ms == 120_000
    assert parts(view) == [{"Order": 6, "Bill": 6}]


def test_values_of_no_class_leave_the_bars_as_they_are(browse: Open, client: redisson_dq.Client, offer: Any) -> None:
    offer((b"text", 60), (b"text", 120))
    view = timeline(client, "orders", None, Masks())
    assert (view.classes, view.sampled, parts(view)) == ((), 0, [{}, {}])
    page = browse().get(LINKS.queue("orders")).text
    assert "pattern" not in page
    assert "<i></i>Ahead" in page


def test_values_that_receivers_hold_are_not_looked_at(client: redisson_dq.Client, offer: Any) -> None:
    offer((of(ORDER), 60))
    ready = client.blocking_queue("orders", codec=ByteArrayCodec(), transfer=False)
    ready.add(of(BILL))
    assert ready.receive(timeout=1, visibility_timeout=60) is not None
    assert marks(timeline(client, "orders", None, Masks())) == {1: "Order"}


def test_partitions_are_looked_at_in_turn(client: redisson_dq.Client) -> None:
    whole = client.delayed_queue("orders", codec=ByteArrayCodec(), transfer=False, partitions=16)
    for i in range(320):
        whole.offer(of(ORDER if i % 2 else BILL), 60 * (1 + i % 50))
    view = timeline(client, "orders", 16, Masks(), "now", "+55m")
    assert marks(view) == {1: "Order", 2: "Bill"}
    # Each of them looks at every n-th bar, and all of them at as many values as one queue alone.
    assert 100 <= view.sampled <= MOST_SHOWN
    assert sum(bool(each) for each in parts(view)) > 30


def test_a_class_that_is_masked_is_shown_nowhere(browse: Open, offer: Any) -> None:
    offer((of(ORDER), 60), (of(BILL, 5000), 90), (UNDECLARED, 120), (SERIALIZED, 150))
    pages = browse(masks=["@class", "note"])
    for address in (
        LINKS.queue("orders"),
        LINKS.queue("orders", format="json"),
        LINKS.timeline("orders"),
        LINKS.items("orders"),
        LINKS.items("orders", format="json"),
    ):
        answer = pages.get(address)
        assert answer.status_code == 200
        assert [name for name in ("Order", "Bill", "Unseen") if name in answer.text] == []
    [row, *_] = pages.get(LINKS.items("orders", format="json")).json()["rows"]
    assert "Order" not in pages.get(LINKS.item("orders", "waiting", row["id"])).text
    # A filter finds nothing out about it.
    for name in (ORDER, "com.acme.Nothing"):
        found = pages.get(LINKS.items("orders", filter=f'class = "{name}"', format="json")).json()
        assert (found["rows"], found["filter_error"]) == ([], "")
    # Other masks leave classes as they are, and no value beside them.
    text = browse(masks=["note"]).get(LINKS.timeline("orders")).text
    assert "1 Order" in text
    assert "xxx" not in text


def test_a_row_of_the_list_names_the_class_once(browse: Open, offer: Any) -> None:
    name = "com.acme.UndeclaredOrder"  # A declared one would be shown with all of its fields.
    offer((of(name), 60))
    [row] = browse().get(LINKS.items("orders", format="json")).json()["rows"]
    assert (row["java_class"], row["preview"]) == (name, '{"note": ""}')


def test_a_name_full_of_markup_is_text(browse: Open, offer: Any) -> None:
    offer((b'{"@class":"<script>alert(1)</script>","id":1}', 60), (of("com.a$\\u003cb"), 60))
    page = browse().get(LINKS.timeline("orders")).text
    assert "<script" not in page
