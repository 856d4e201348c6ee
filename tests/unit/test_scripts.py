"""The scripts' headers and their typed functions agree."""

from __future__ import annotations

import inspect
from typing import Any

import attrs
import pytest

from redisson_dq.scripts import calls
from redisson_dq.scripts.script import load, names
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

KEYS = QueueKeys.of("orders")
REQUESTS: dict[str, Request[Any]] = {
    "offer": calls.offer(KEYS, Envelope.LEGACY, ("5", b"value")),
    "poll": calls.poll(KEYS, 3),
    "transfer": calls.transfer(KEYS, 100),
}


def test_every_script_has_one_function() -> None:
    assert names() == sorted(REQUESTS)
    assert {name for name in calls.__all__ if inspect.isfunction(getattr(calls, name))} == set(REQUESTS)


@pytest.mark.parametrize("name", names())
def test_a_header_is_complete(name: str) -> None:
    header = load(name).header
    assert {"KEYS", "ARGV", "RETURN", "Answers to", "COST"} <= header.keys()
    assert all(header.values())


@pytest.mark.parametrize("name", names())
def test_the_keys_of_the_header_are_those_of_a_queue(name: str) -> None:
    assert set(load(name).keys) <= {field.name for field in attrs.fields(QueueKeys)}


@pytest.mark.parametrize("name", names())
def test_a_function_sends_the_keys_its_header_names(name: str) -> None:
    request = REQUESTS[name]
    script = load(name)
    assert request.script is script
    count, *rest = request.words
    assert count == len(script.keys)
    assert rest[: len(script.keys)] == [getattr(KEYS, key) for key in script.keys]


@pytest.mark.parametrize("name", names())
def test_a_script_uses_each_key_it_is_given(name: str) -> None:
    source = load(name).source
    for number in range(1, len(load(name).keys) + 1):
        assert f"KEYS[{number}]" in source
    assert f"KEYS[{len(load(name).keys) + 1}]" not in source


def test_the_channel_is_not_taken_for_a_key() -> None:
    assert KEYS.channel not in REQUESTS["offer"].types
