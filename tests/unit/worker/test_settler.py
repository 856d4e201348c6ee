"""The settler ends leases in batches: in their order, each with its own error, and none without a word. No server."""

from __future__ import annotations

import queue
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._sync.leases.delivery import Delivery
from redisson_dq._sync.worker import settling as settling_module
from redisson_dq._sync.worker.settling import Settler
from redisson_dq.calls.endings import Ack, Nack
from redisson_dq.calls.lease import Lease
from redisson_dq.calls.settling import Settling
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing import Observers
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.wire.leases import Leased
from redisson_dq.working.hooks import Hooks
from tests.conftest import PATIENCE


class Server:
    """Takes the requests in the place of the connections. The test answers each round trip."""

    def __init__(self) -> None:
        self.clock = SYSTEM
        self.operations: list[Any] = []
        self.asked: queue.SimpleQueue[list[list[bytes]]] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self.away: list[RedissonDQError] = []
        self.is_back = False
        self.refused: list[str] = []
        self.outage = SimpleNamespace(
            began=lambda part, error, tried: self.away.append(error),
            ended=self.ended,
            gave_up=lambda part: None,
            is_going_on=False,
        )
        self.refusals = SimpleNamespace(began=lambda place, key, *rest: self.refused.append(key), ended=lambda place: 0)

    def ended(self, part: str) -> None:
        self.is_back = True

    def run(self, request: list[bytes]) -> Any:
        (answer,) = self.run_many([request])
        if isinstance(answer, RedissonDQError):
            raise answer
        return answer

    def run_many(self, requests: list[list[bytes]]) -> list[Any]:
        self.asked.put(requests)
        return self.answers.get(timeout=PATIENCE)


class Source(SimpleNamespace):
    """The list that the leases of one queue come from. It calls up no values, as it has no limits."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def call_up(self) -> None: ...


class Requests:
    """Those of one queue, each of which is the ids of its leases."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = Source(key=name, clock=SYSTEM, visible=30.0)

    def ack(self, ids: list[bytes]) -> list[bytes]:
        return ids

    def nack(self, ids: list[bytes], delay: float, counted: bool, reason: str | None) -> list[bytes]:
        return ids

    def durably(self, request: list[bytes], durable: object) -> list[bytes]:
        return request


def settling(name: str) -> Any:
    return Requests(name)


def delivery(number: int, of: Settling, *, lasts_ms: int = 600_000) -> Delivery[Any]:
    now_us = SYSTEM.now_us()
    leased = Leased(
        data=b"",
        key=of.source.key,
        id=bytes([number]),
        deadline_ms=now_us // 1000 + lasts_ms,
        now_us=now_us,
        read_us=now_us,
        text=b"",
    )
    return Delivery(None, Lease(of, leased, Observers()), number)  # type: ignore[arg-type]


def heard() -> Hooks:
    """Somebody asks about every end of a lease."""
    hooks = Hooks()
    hooks.add((), lambda happening: None)
    return hooks


def noted() -> tuple[queue.SimpleQueue[SettleOutcome], Callable[[SettleOutcome], None]]:
    outcomes: queue.SimpleQueue[SettleOutcome] = queue.SimpleQueue()
    return outcomes, outcomes.put


def test_values_that_go_to_the_head_keep_their_order_when_they_are_sent_again() -> None:
    server = Server()
    settler = Settler(server, heard())  # type: ignore[arg-type]
    outcomes, then = noted()
    orders = settling("orders")
    for number in (3, 2, 1):
        settler.put(delivery(number, orders), Nack(0, counted=False), then)
    sent: list[bytes] = []
    for _ in range(3):
        # How many go in one call is left to chance, the first time.
        (sent,) = server.asked.get(timeout=PATIENCE)
        server.answers.put([RedisConnectionError("away")])
        if len(sent) == 3:
            break
    (again,) = server.asked.get(timeout=PATIENCE)
    assert again == [b"\1", b"\2", b"\3"]
    server.answers.put([[SettleOutcome.RETURNED] * 3])
    assert [outcomes.get(timeout=PATIENCE) for _ in range(3)] == [SettleOutcome.RETURNED] * 3
    settler.close(PATIENCE, PATIENCE)


def test_each_batch_has_its_own_error(caplog: pytest.LogCaptureFixture) -> None:
    """One node of a cluster is away, and another one refuses."""
    server = Server()
    settler = Settler(server, heard())  # type: ignore[arg-type]
    first, then_first = noted()
    settler.put(delivery(1, settling("a")), Ack(), then_first)
    assert server.asked.get(timeout=PATIENCE) == [[b"\1"]]
    # Those that are put meanwhile go together.
    (lost, then_lost), (kept, then_kept) = noted(), noted()
    settler.put(delivery(2, settling("b"), lasts_ms=0), Ack(), then_lost)
    settler.put(delivery(3, settling("c")), Ack(), then_kept)
    server.answers.put([[SettleOutcome.ACKED]])
    assert first.get(timeout=PATIENCE) is SettleOutcome.ACKED
    server.is_back = False
    assert server.asked.get(timeout=PATIENCE) == [[b"\2"], [b"\3"]]
    away = RedisConnectionError("away")
    server.answers.put([away, RedisReplyError("no")])
    assert lost.get(timeout=PATIENCE) is SettleOutcome.LOST
    assert server.asked.get(timeout=PATIENCE) == [[b"\3"]]
    assert (server.away, server.is_back, server.refused) == ([away], False, ["c"])
    assert [line for line in caplog.messages if "was not recorded" in line] == [
        "queue 'b': the outcome of 02 was not recorded, and it is delivered again: away"
    ]
    server.answers.put([[SettleOutcome.ACKED]])
    assert kept.get(timeout=PATIENCE) is SettleOutcome.ACKED
    settler.close(PATIENCE, PATIENCE)


def test_a_settlement_that_comes_after_the_end_is_lost_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    settler = Settler(Client(redis.Redis()).runtime.connections, heard())
    settler.close(PATIENCE, PATIENCE)
    outcomes, then = noted()
    settler.put(delivery(1, settling("orders")), Ack(), then)
    assert outcomes.get(timeout=PATIENCE) is SettleOutcome.LOST
    text = "queue 'orders': the outcome of 01 was not recorded, and it is delivered again: the worker has stopped"
    assert text in caplog.text


def test_an_end_that_waits_no_longer_for_redis_names_the_leases(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling_module, "LAST_ANSWER", 0.01)
    server = Server()
    settler = Settler(server, heard())  # type: ignore[arg-type]
    outcomes, then = noted()
    settler.put(delivery(1, settling("orders")), Ack(), then)
    server.asked.get(timeout=PATIENCE)
    settler.put(delivery(2, settling("orders")), Ack(), then)
    settler.close(0, 0)
    assert caplog.messages[-1].endswith("so their values may be delivered again: 01, 02")
    # The answer comes all the same, and the rest is sent.
    for _ in range(2):
        server.answers.put([[SettleOutcome.ACKED]])
        assert outcomes.get(timeout=PATIENCE) is SettleOutcome.ACKED
