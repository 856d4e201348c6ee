"""The scripts' headers and their typed functions agree."""

from __future__ import annotations

import inspect
import re
from typing import Any

import attrs
import pytest

from redisson_dq.scripts import calls
from redisson_dq.scripts.script import load, names
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

KEYS = QueueKeys.of("orders")
ONE = {"orders": "list"}
TWO = {"orders": "list", "bills": "list"}
TARGET = calls.Target(given_id="42")
REQUESTS: dict[str, Request[Any]] = {
    "advance": calls.advance(KEYS, Envelope.CURRENT, "daily", "{}", 5, 6),
    "cancel": calls.cancel(KEYS, TARGET, 1000),
    "cancel_recurring": calls.cancel_recurring(KEYS, "daily"),
    "contains": calls.contains(KEYS, [b"value"]),
    "contains_ready": calls.contains_ready(KEYS, [b"value"]),
    "copy": calls.copy(TWO, "replace", ""),
    "dump": calls.dump(ONE),
    "expire": calls.expire(ONE, "in", 5, "always"),
    "find_item": calls.find_item(KEYS, TARGET),
    "hand_over": calls.hand_over(KEYS, "client"),
    "items": calls.items(KEYS, "due", 0, 9),
    "memory": calls.memory(ONE),
    "move_bounded": calls.move_bounded(KEYS, "bills", "last", "first"),
    "offer": calls.offer(KEYS, Envelope.LEGACY, ("5", b"value")),
    "offer_bounded": calls.offer_bounded(KEYS, [b"value"]),
    "offer_item": calls.offer_item(
        KEYS,
        Envelope.CURRENT,
        "5",
        b"value",
        key="i42",
        on_duplicate="keep",
        lateness_ms=None,
        duplicate_ms=0,
        remember_ms=1000,
    ),
    "overdue": calls.overdue(KEYS),
    "persist": calls.persist(ONE),
    "poll": calls.poll(KEYS, 3),
    "poll_last_to": calls.poll_last_to(KEYS, "bills"),
    "read_waiting": calls.read_waiting(KEYS, 0, -1),
    "recur": calls.recur(KEYS, Envelope.CURRENT, "daily", "{}", b"value", 5),
    "recurring": calls.recurring(KEYS, 0, 9),
    "release": calls.release(KEYS, 1),
    "remove": calls.remove(KEYS, "first", [b"value"], 1000),
    "remove_ready": calls.remove_ready(KEYS, "all", [b"value"]),
    "rename": calls.rename(TWO, "always", ""),
    "reschedule": calls.reschedule(KEYS, TARGET, "5", 1000),
    "restore": calls.restore(TWO, "replace", 0, "", [b"dump"]),
    "resume": calls.resume(KEYS),
    "set_capacity": calls.set_capacity(KEYS, 5),
    "take_bounded": calls.take_bounded(KEYS, "poll", (5,), list),
    "time_to_live": calls.time_to_live(ONE),
    "transfer": calls.transfer(KEYS, 100, 1000, "client", cluster=False),
}

# A script may also take the key of another queue.
OTHERS = {"destination": "bills"}


def test_every_script_has_one_function() -> None:
    assert names() == sorted(REQUESTS)
    assert {name for name in calls.__all__ if inspect.isfunction(getattr(calls, name))} == set(REQUESTS)


def test_the_public_names_are_sorted() -> None:
    assert calls.__all__ == sorted(calls.__all__)


@pytest.mark.parametrize("name", names())
def test_a_header_is_complete(name: str) -> None:
    header = load(name).header
    assert {"KEYS", "ARGV", "RETURN", "Answers to", "COST"} <= header.keys()
    assert all(header.values())


@pytest.mark.parametrize("name", names())
def test_the_keys_of_the_header_are_those_of_a_queue(name: str) -> None:
    assert set(load(name).keys) <= {field.name for field in attrs.fields(QueueKeys)} | OTHERS.keys()


@pytest.mark.parametrize("name", names())
def test_a_function_sends_the_keys_its_header_names(name: str) -> None:
    request = REQUESTS[name]
    script = load(name)
    assert request.script is script
    count, *rest = request.words
    named = [OTHERS.get(key) or getattr(KEYS, key) for key in script.keys] or list(request.types)
    assert count == len(named)
    assert rest[: len(named)] == named


@pytest.mark.parametrize("name", names())
def test_a_script_and_what_it_includes_use_each_key_it_is_given(name: str) -> None:
    script = load(name)
    used = set(re.findall(r"\bkeys\.(\w+)", script.source))
    if script.header["KEYS"] == "any":
        assert not used
        assert "KEYS" in script.source
    else:
        assert set(script.keys) <= used


def test_the_channel_is_not_taken_for_a_key() -> None:
    assert KEYS.channel not in REQUESTS["offer"].types
