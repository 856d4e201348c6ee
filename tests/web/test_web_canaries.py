"""A canary in each place of each value of each state: no route, no line of the log and no quiet command shows it."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import codecs
from redisson_dq.cli import main
from redisson_dq.java import java_class
from redisson_dq.web import Basic
from redisson_dq.web.deeds import KINDS
from redisson_dq.web.live import LiveStream
from redisson_dq.web.paths import Links
from redisson_dq.web.views import PAGES
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.integration.looking.test_json_output import LINES
from tests.web.conftest import Open, TestClient, logged_in, token_of

LINKS = Links("")
CANARY = "canary-4111"
STATES = ("waiting", "parked", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring")
#: Commands that show values, as that is their work, and the doctor, whose remedies are to be copied.
SHOW = {"list", "show", "peek", "take", "doctor", "export"} | {
    f"{kind} {verb}" for kind in ("dead", "quarantine", "undecodable") for verb in ("list", "show")
}
# In fields by both of its names, deeper, as keys, in texts, and in texts of JSON.
VALUE: dict[str, Any] = {
    "id": 7,
    "cardNumber": CANARY,
    "card_number": CANARY,
    "deep": [{"CardNumber": {"digits": CANARY, "list": [CANARY]}}],
    "counts": {f"Card[cardNumber={CANARY}]": 3, f"Card[cardNumber=x{CANARY}]": 4, f'{{"cardNumber":"{CANARY}"}}': 5},
    "text": f"card_number: {CANARY}",
    "json": json.dumps({"cardNumber": CANARY, "inner": json.dumps([{"cardNumber": CANARY}])}),
}


@java_class("com.acme.canaries.Card", serial_version_uid=1)
@dataclass(frozen=True)
class Card:
    card_number: str


FORMS = (CANARY, CANARY.encode().hex(), "\\x2d".join(CANARY.split("-")))


def leaks(text: str) -> list[str]:
    """The forms of the canary in a text, however it was escaped."""
    flat = unescape(text)
    return [each for each in FORMS if each in flat or each in flat.replace(" ", "") or each in flat.replace("\\", "")]


@pytest.fixture
def planted(redis_url: str) -> str:
    """Queues with the canary in each state, written by several codecs."""
    # A codec that reads no object, with an error that quotes some of it.
    with redisson_dq.connect(redis_url, codec=codecs.JsonJacksonCodec()) as client:
        waiting = client.delayed_queue("orders", transfer=False)
        waiting.offer(VALUE, 3600, id="a", context={"cardNumber": CANARY, "trace": f"of {CANARY}"})
        waiting.offer({**VALUE, "more": "x" * 3000}, 3600, id="long")
        waiting.offer_recurring(VALUE, every=3600, id="again")
        keyed = client.delayed_queue("orders", codecs.SerializationCodec(), transfer=False)
        keyed.offer({"of": {Card(CANARY): 3}}, 3600, id="keyed")
        ready = client.blocking_queue("orders", transfer=False)
        for reason in (None, f"cannot pay\nValueError: number {CANARY} is wrong"):
            ready.add(VALUE)
            held = ready.receive(timeout=1, visibility_timeout=600)
            assert held is not None
            if reason is not None:
                held.reject(reason)
        for codec in (codecs.StringCodec(), codecs.Kryo5Codec()):
            client.blocking_queue("orders", codec, transfer=False).add(json.dumps(VALUE))
    data = json.dumps(VALUE).encode()
    torn = b"\x08" + b"12345678" + b"\x04" + len(data).to_bytes(4, "little") + data
    with redis.Redis.from_url(redis_url) as admin:
        admin.rpush("orders", data)
        admin.rpush("redisson_dq_quarantine:{orders}", b"1 an entry of " + data, b"2 " + torn)
        admin.rpush("redisson_dq_undecodable:{orders}", b"\xac\xed\x00\x05" + data)
        admin.rpush("redisson_dq_expired:{orders}", b"1 " + data)
        # One that waits for the limit of a key, which is the value of a masked field.
        keys = QueueKeys.of("orders")
        entries: Any = admin.zrange(keys.timeout, 0, -1, withscores=True)
        # The record of a lease, with the time of no delivery, stops no page.
        leased, _ = entries[0]
        admin.hset(keys.deliveries, unwrap(leased)[0], b"0 0 0 0 0 0 0 0 %s: 0 " % (b"0" * 32))
        member, due = entries[-1]
        entry, since = unwrap(member)[0], int(due) - 3_600_000
        admin.hset(keys.deliveries, entry, b"0 0 0 0 0 0 0 %d %s: 0 " % (int(due), b"0" * 32))
        admin.zadd(keys.lines, {b"p" + since.to_bytes(8, "big") + entry: 0})
        admin.hset(keys.turns, b"p" + entry, f"{since} limit cardNumber={CANARY}".encode())
        # What the doctor finds: entries of the list alone, of the zset alone, and in no known format.
        admin.rpush("redisson_delay_queue:{in-list}", torn)
        admin.zadd("redisson_delay_queue_timeout:{in-zset}", {torn: 4e12})
        admin.zadd("redisson_delay_queue_timeout:{no-format}", {b"an entry of " + data: 1})
        admin.rpush("codecs", *([data] * 3), b"\x01\x00" + data)
    return redis_url


@pytest.fixture
def pages(planted: str, browse: Open, caplog: pytest.LogCaptureFixture) -> Iterator[TestClient]:
    caplog.set_level(logging.DEBUG)
    users = Basic({"ada": "secret-of-ada"})
    headers = logged_in("ada", "secret-of-ada")
    yield browse(masks=["card-number"], auth=users, allow_writes=True, headers=headers)
    assert leaks(caplog.text) == []


def rows(pages: TestClient, state: str, **query: str) -> list[dict[str, Any]]:
    found = pages.get(LINKS.items("orders", state=state, format="json", **query)).json()
    assert found["filter_error"] == ""
    listed: list[dict[str, Any]] = found["rows"]
    return listed


def addresses(pages: TestClient, path: str) -> Iterator[str]:
    """Every address of a route, with every queue and every item that there is."""
    if "{state}" in path:
        for state in STATES:
            found = rows(pages, state)
            assert found, state
            for row in found:
                yield LINKS.item("orders", state, row["id"])
    elif "{queue}" in path:
        for name in ("orders", "in-list", "in-zset", "no-format", "codecs"):
            address = path.replace("{queue}", name)
            yield address
            if path.endswith("items"):
                yield from (f"{address}?state={state}" for state in STATES)
    elif path == "/actions/{id}":
        yield from (LINKS.action(each["id"]) for each in pages.get("/actions?format=json").json()["rows"])
    else:
        yield path


@pytest.mark.parametrize("path", [each.path for each in PAGES if "GET" in each.methods and each.path != "/live"])
def test_no_route_shows_it(pages: TestClient, path: str) -> None:
    if "actions" in path:
        for kind in KINDS.values():
            fields = {"token": token_of(pages), "action": kind.name, "state": kind.states[0], "all": "1", "when": "+1m"}
            fields |= {"value": json.dumps(VALUE), "codec": "JsonJacksonCodec", "item_id": kind.name}
            address = pages.post(LINKS.act("orders"), data=fields).headers["location"]
            for step in ("do", "undo"):
                pages.post(f"{address}/{step}", data={"token": token_of(pages)})
    seen = 0
    for address in addresses(pages, path):
        for format in ("", "json"):
            query = f"{'&' if '?' in address else '?'}format={format}"
            answer = pages.get(f"{address}{query}")
            assert answer.status_code in (200, 303), (address, answer.text)
            assert leaks(answer.text) == [], address
            seen += 1
    assert seen >= (2 * len(KINDS) if path == "/actions/{id}" else 2)


def test_the_stream_of_findings_does_not_show_it(pages: TestClient) -> None:
    dashboard = pages.app.state.dashboard  # type: ignore[attr-defined]
    pages.get("/doctor")

    async def everything(names: list[str]) -> list[str]:
        return names

    assert pages.portal is not None
    for queue in (None, "in-list", "no-format"):
        told = pages.portal.call(LiveStream(dashboard.live, queue, everything).told_by_doctor)
        assert leaks(json.dumps(told)) == []


def test_no_size_tells_the_length_of_a_masked_field(pages: TestClient) -> None:
    for state in STATES:
        assert {row["size"] for row in rows(pages, state)} == {None}
        [first, *_] = rows(pages, state)
        item = LINKS.item("orders", state, first["id"], format="json")
        assert pages.get(item).json()["size"] is None
    view = pages.get(LINKS.items("orders", filter="id = a and not size = 71", format="json")).json()
    assert view["rows"] == []
    assert "size cannot be searched, because fields are masked" in view["filter_error"]
    assert "size" not in view["fields"]
    fields = {"token": token_of(pages), "action": "cancel", "filter": "size > 71"}
    assert pages.post(LINKS.act("orders"), data=fields).status_code == 400


def test_what_is_told_of_a_yes_or_no_is_hidden_whatever_it_was(browse: Open, planted: str) -> None:
    told = []
    with redisson_dq.connect(planted, codec=codecs.JsonJacksonCodec()) as client:
        ready = client.blocking_queue("answers", transfer=False)
        for answer in (True, False, None, 0, 17, 0.5):
            ready.add({"n": 1, "isIll": answer})
            held = ready.receive(timeout=1, visibility_timeout=600)
            assert held is not None
            held.reject(f"is_ill was {answer}, or {str(answer).lower()}")
    masked = browse(masks=["isIll"])
    for row in masked.get(LINKS.items("answers", state="dead", format="json")).json()["rows"]:
        told.append({name: each for name, each in row.items() if name not in ("id", "at", "due", "due_in_words")})
    assert len(told) == 6
    assert told == told[:1] * 6
    assert told[0]["preview"] == '{"n": 1, "isIll": "•••"}'


def test_keys_that_are_no_names_of_fields_are_hidden_and_stay_apart(pages: TestClient) -> None:
    row = next(each for each in rows(pages, "waiting") if each["id"] == "a")
    item = pages.get(LINKS.item("orders", "waiting", row["id"], format="json")).json()
    counts = [node["key"] for node in item["nodes"] if node["path"].startswith("counts.")]
    assert counts == ["•••", "••• 2", '{"cardNumber": "•••"}']
    assert [row["id"] for row in rows(pages, "waiting", filter=f'counts ~ "Card[cardNumber={CANARY}]"')] == []


@pytest.mark.parametrize("command", LINES)
def test_no_command_tells_it_beside_its_work(
    command: str, planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, caplog: Any
) -> None:
    """Commands that look at figures, or change items, show no value of them. None has one in its errors or its log."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("REDISSON_DQ_URL", planted)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMMAND_WORKER", json.dumps({"url": planted, "handler": {"timeout": 5}}))
    for line in ("export orders --to EXPORTED", "pause orders --yes --undo-file FILE"):
        assert main(shlex.split(line)) == 0
    capsys.readouterr()
    for case in LINES[command]:
        wanted, _, line = case.partition(" ")
        line = line.replace("SERVER", planted).replace(" ID", " dead@0")
        # Some that fail with --json go on forever without.
        for words in (["--json"],) if wanted.endswith("!") else ([], ["--json"]):
            main([*shlex.split(line), *words])
            told = capsys.readouterr()
            # That one shows the values before it asks.
            assert command == "undecodable add" or leaks(told.err) == [], line
            assert command in SHOW or leaks(told.out) == [], line
    assert leaks(caplog.text) == []
