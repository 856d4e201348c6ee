"""The pages show a real queue as it is."""

from __future__ import annotations

import pytest

import redisson_dq
from redisson_dq.web.paths import Links
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
