"""Key names, checked against what Redisson makes of the same names."""

from __future__ import annotations

import attrs
import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.wire.keys import QueueKeys, map_name


def test_a_plain_name_becomes_the_hash_tag() -> None:
    keys = QueueKeys.of("orders")
    assert keys.ready == "orders"
    assert keys.timeout == "redisson_delay_queue_timeout:{orders}"
    assert keys.envelopes == "redisson_delay_queue:{orders}"
    assert keys.channel == "redisson_delay_queue_channel:{orders}"
    assert keys.quarantine == "redisson_dq_quarantine:{orders}"
    assert keys.undecodable == "redisson_dq_undecodable:{orders}"
    assert keys.capacity == "redisson_bqs:{orders}"
    assert keys.capacity_channel == "redisson_sc:redisson_bqs:{orders}"


@pytest.mark.parametrize("name", ["{shop}:orders", "orders{", "a{b}c{d}"])
def test_a_name_with_a_brace_is_left_alone(name: str) -> None:
    assert QueueKeys.of(name).timeout == f"redisson_delay_queue_timeout:{name}"


def test_a_closing_brace_alone_is_no_hash_tag() -> None:
    assert QueueKeys.of("a}b").envelopes == "redisson_delay_queue:{a}b}"


def test_a_mapper_is_a_prefix_or_a_function() -> None:
    assert map_name("orders", None) == "orders"
    assert map_name("orders", "prod:") == "prod:orders"
    assert map_name("orders", lambda name: f"{{t1}}:{name}") == "{t1}:orders"


def test_a_name_that_utf8_cannot_hold_is_refused() -> None:
    with pytest.raises(ArgumentError, match="UTF-8"):
        map_name("bad\udc80", None)


@pytest.mark.parametrize("name", ["", None, b"orders", 5])
def test_a_name_that_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(ArgumentError, match="non-empty str"):
        map_name(name, None)  # type: ignore[arg-type]


def test_a_mapper_that_gives_no_text_is_refused() -> None:
    with pytest.raises(ArgumentError, match="non-empty str"):
        map_name("orders", lambda name: None)  # type: ignore[arg-type]


def test_every_key_has_its_type() -> None:
    keys = QueueKeys.of("orders")
    named = {field.name: getattr(keys, field.name) for field in attrs.fields(QueueKeys)}
    types = {name: keys.type_of(key) for name, key in named.items() if key not in keys.channels}
    assert types == {
        "ready": "list",
        "timeout": "zset",
        "envelopes": "list",
        "capacity": "string",
        "quarantine": "list",
        "newer": "zset",
        "undecodable": "list",
        "expired": "list",
        "records": "hash",
        "forget": "zset",
        "settings": "hash",
        "recurring": "hash",
        "recurring_due": "zset",
        "mover": "string",
        "arrivals": "list",
        "returned": "zset",
        "leases": "zset",
        "deliveries": "hash",
        "histories": "zset",
        "history_ends": "zset",
        "alarm": "hash",
        "lines": "zset",
        "turns": "hash",
        "handled": "zset",
        "events": "stream",
        "fence": "string",
        "migrating": "hash",
    }
