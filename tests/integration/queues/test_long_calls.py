"""Long calls that Redis carries out in one step: a warning reports them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

import redisson_dq
from redisson_dq.calls import open_queue
from redisson_dq.codecs import StringCodec


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[Any, Any]]:
    """The queues and calls that were warned of since this was asked last."""
    found = [record.args[:2] for record in caplog.records if "Redis does it in one step" in str(record.msg)]  # type: ignore[index]
    caplog.clear()
    return found  # type: ignore[return-value]


def waiting(client: Any, name: str) -> dict[str, Callable[[], Any]]:
    delayed = client.delayed_queue(name, transfer=False)
    delayed.offer("a", delay=3600)
    state = delayed.dump()
    return {
        "read_all() or range()": delayed.read_all,
        "take_due()": delayed.take_due,
        "items()": lambda: delayed.items(by="offer"),
        "poll_last_and_offer_first_to()": lambda: delayed.poll_last_and_offer_first_to(f"{uuid.uuid4()}"),
        "copy()": lambda: delayed.copy(f"{uuid.uuid4()}"),
        "dump()": delayed.dump,
        "restore()": lambda: delayed.restore_and_replace(state),
        "contains or remove in a pipeline": lambda: client.runtime.connections.run(delayed.requests.contains("a")),
        "delete()": delayed.delete,
    }


def leased(client: Any, name: str) -> dict[str, Callable[[], Any]]:
    delayed = client.delayed_queue(name, transfer=False)
    return {"take_due()": lambda: delayed.take_due(visibility_timeout=60)}


def ready(client: Any, name: str) -> dict[str, Callable[[], Any]]:
    queue = client.blocking_queue(name, transfer=False)
    return {
        "read_all() or range()": queue.read_all,
        "remove_all() or remove_if()": lambda: queue.remove_if(lambda value: False),
        "contains_all()": lambda: queue.contains_all(["a"]),
        "retain_all()": lambda: queue.retain_all(["a"]),
        "drain_to() or poll()": queue.drain_to,
    }


def bounded(client: Any, name: str) -> dict[str, Callable[[], Any]]:
    queue = client.bounded_blocking_queue(name, transfer=False)
    assert queue.try_set_capacity(5)
    return {
        "retain_all()": lambda: queue.retain_all(["a"]),
        "remove_all() or remove_if()": lambda: queue.remove_all(["a"]),
        "drain_to() or poll()": queue.drain_to,
    }


@pytest.mark.parametrize("opened", [waiting, leased, ready, bounded])
def test_a_call_that_took_long_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    caplog: pytest.LogCaptureFixture,
    opened: Callable[[Any, str], dict[str, Callable[[], Any]]],
) -> None:
    name = f"orders {uuid.uuid4()}"
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        for what, call in opened(client, name).items():
            # However busy this machine is, it takes no minute.
            monkeypatch.setattr(open_queue, "LONG_US", 60_000_000)
            call()
            assert told(caplog) == []
            monkeypatch.setattr(open_queue, "LONG_US", 0)
            call()
            call()
            assert told(caplog) == [(name, what)], "once"
