"""Redis refuses to move a queue, or to return its values: health is red, says why, and turns green by itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisReplyError, WrongTypeError
from redisson_dq.scheduling.hints import Hints
from redisson_dq.scheduling.pace import Pace
from tests.conftest import ONE_FLAVOUR_BY_DAY, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.workers.handlers import Ledger, running


class NoNumber(float):
    """A value with which the script cannot calculate."""

    def __format__(self, spec: str) -> str:
        return "much"


class WrongPace(Pace):
    """A pace that makes each transfer of many items fail in Redis."""

    def __init__(self) -> None:
        super().__init__()
        self.slowness = NoNumber()


class WrongHints(Hints):
    """Hints that make each transfer fail in Redis."""

    def words(self) -> tuple[bytes, bytes | int]:
        return b"no step", b""


class BrokenHints(Hints):
    """Hints with which no transfer is even sent."""

    def words(self) -> tuple[bytes, bytes | int]:
        raise KeyError("no place")


@contextmanager
def working(flavour: Flavour, url: str) -> Iterator[tuple[Any, Any, Ledger]]:
    """A client and its worker, which receives from the queue and moves its due items."""
    ledger = Ledger()
    with flavour.connect(url, codec=StringCodec(), probe_interval=0.2) as client:
        worker = flavour.worker(client, visibility_timeout=2)
        worker.handler("orders")(ledger.note)
        with running(worker):
            eventually(lambda: worker.is_consuming)
            yield client, worker, ledger


def that(of: Any, text: str) -> Any:
    """The problem with this text, as soon as it is there."""
    return eventually(lambda: next((each for each in of.problems if text in str(each)), None))


def limited(admin: redis.Redis, url: str, *rules: str) -> str:
    """The URL of a user with all rights but some."""
    admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", *rules)
    return url.replace("redis://", "redis://limited:secret@")


def test_a_key_of_another_type_makes_health_red_until_it_is_gone(
    flavour: Flavour, url: str, admin: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    with working(flavour, url) as (client, worker, ledger), caplog.at_level(logging.WARNING, "redisson_dq"):
        admin.set(KEYS.timeout, "taken")
        problem = that(client, "due items are not moved")
        assert problem.queue == "orders"
        assert isinstance(problem.error, WrongTypeError)
        for part in ("'orders'", KEYS.timeout, "holds a string", "rename", "troubleshooting"):
            assert part in str(problem)
        assert problem in worker.problems
        assert not worker.is_consuming
        (told,) = eventually(lambda: [each for each in caplog.messages if "uses the defaults" in each])
        for part in ("'orders'", KEYS.timeout, "holds a string"):
            assert part in told
        admin.delete(KEYS.timeout)
        eventually(lambda: worker.is_consuming)
        assert client.problems == worker.problems == ()
        client.delayed_queue("orders").offer("late", 0.05)
        assert ledger.next() == "late"


@ONE_FLAVOUR_BY_DAY
def test_the_log_says_once_what_keeps_a_queue_from_being_moved_and_once_that_it_is_over(
    flavour: Flavour, url: str, admin: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    def told(text: str) -> list[str]:
        return [each.getMessage() for each in caplog.records if each.levelno >= level and text in each.getMessage()]

    with flavour.connect(url, codec=StringCodec()) as client, caplog.at_level(logging.DEBUG, "redisson_dq"):
        admin.set(KEYS.timeout, "taken")
        moving(client.delayed_queue("orders"))
        level = logging.DEBUG
        eventually(lambda: len(told("a transfer failed")) >= 4)
        level = logging.WARNING
        assert len(told("a transfer failed")) == 2
        admin.delete(KEYS.timeout)
        admin.set(KEYS.ready, "taken")
        admin.zadd(KEYS.timeout, {b"junk": 5})
        eventually(lambda: len(told("a transfer failed")) == 3)
        assert KEYS.timeout in told("a transfer failed")[1]
        assert f"key {KEYS.ready!r}" in told("a transfer failed")[2]
        assert not told("moved again")
        admin.delete(KEYS.ready)
        eventually(lambda: told("moved again"))
        assert client.problems == ()


@pytest.mark.parametrize("command", ["zrange", "zcount", "lrem"])
def test_a_right_that_is_taken_away_makes_health_red_until_it_is_given(
    flavour: Flavour, url: str, admin: redis.Redis, command: str
) -> None:
    with working(flavour, limited(admin, url)) as (_client, worker, ledger):
        admin.execute_command("ACL", "SETUSER", "limited", f"-{command}")
        with flavour.connect(url, codec=StringCodec()) as producer:
            producer.delayed_queue("orders", transfer=False).offer_all([(str(each), 0) for each in range(3)])
        problem = that(worker, "due items are not moved")
        assert isinstance(problem.error, RedisReplyError)
        assert command in str(problem).lower()
        assert not worker.is_consuming
        admin.execute_command("ACL", "SETUSER", "limited", f"+{command}")
        assert ledger.some(3) == ["0", "1", "2"]
        eventually(lambda: worker.is_consuming)
        assert worker.problems == ()


def test_values_that_redis_refuses_to_give_are_a_problem(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    with working(flavour, limited(admin, url)) as (_client, worker, ledger):
        admin.execute_command("ACL", "SETUSER", "limited", "-zadd")
        admin.rpush(KEYS.ready, "value")
        that(worker, "values are not received")
        assert not worker.is_consuming
        admin.execute_command("ACL", "SETUSER", "limited", "+zadd")
        assert ledger.next() == "value"
        eventually(lambda: worker.is_consuming)


def test_acks_that_redis_refuses_are_a_problem(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    with working(flavour, limited(admin, url)) as (_client, worker, ledger):
        admin.execute_command("ACL", "SETUSER", "limited", "-zrem")
        admin.rpush(KEYS.ready, "value")
        assert ledger.next() == "value"
        that(worker, "delivered again")
        assert not worker.is_consuming
        admin.execute_command("ACL", "SETUSER", "limited", "+zrem")
        eventually(lambda: worker.is_consuming)
        eventually(lambda: admin.zcard(KEYS.timeout) == 0)


def test_leases_that_redis_refuses_to_renew_are_a_problem(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    with flavour.connect(limited(admin, url), codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        queue.offer("value")
        delivery = queue.receive(visibility_timeout=3, renew=True)
        admin.execute_command("ACL", "SETUSER", "limited", "-zadd")
        that(client, "leases are not renewed")
        admin.execute_command("ACL", "SETUSER", "limited", "+zadd")
        eventually(lambda: not client.problems)
        assert delivery.ack()


def test_a_listener_that_cannot_take_is_a_problem_that_is_logged_once(
    flavour: Flavour, url: str, admin: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger()
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        number = queue.subscribe_on_elements(ledger.note)
        admin.set(KEYS.ready, "taken")
        # The wait that goes on is ended by nothing. The next one is refused, unless it takes over the last one's place.
        queue.unsubscribe(number)
        eventually(lambda: not admin.info("clients")["blocked_clients"])
        admin.config_resetstat()
        number = queue.subscribe_on_elements(ledger.note)
        that(client, "a listener cannot take")
        eventually(lambda: admin.info("commandstats").get("cmdstat_blpop", {"failed_calls": 0})["failed_calls"] >= 3)
        assert caplog.text.count("a listener cannot take") == 1
        admin.delete(KEYS.ready)
        eventually(lambda: not client.problems)
        admin.rpush(KEYS.ready, "value")
        assert ledger.next() == "value"
        queue.unsubscribe(number)


def test_the_problem_of_another_queue_is_none_of_the_workers(flavour: Flavour, url: str, admin: redis.Redis) -> None:
    with working(flavour, url) as (client, worker, _ledger):
        other = moving(client.blocking_queue("bills"))
        admin.set(other.keys.timeout, "taken")
        assert that(client, "due items are not moved").queue == "bills"
        assert worker.problems == ()
        assert worker.is_consuming
        other.destroy()
        eventually(lambda: client.problems == ())


@pytest.mark.parametrize("learnt", [(WrongPace, Hints), (Pace, WrongHints), (Pace, BrokenHints)])
def test_what_was_learnt_wrongly_is_unlearnt(
    flavour: Flavour,
    url: str,
    admin: redis.Redis,
    learnt: tuple[type[Pace], type[Hints]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with working(flavour, url) as (client, worker, ledger), caplog.at_level(logging.WARNING, "redisson_dq"):
        driver = client.runtime.transfer_driver
        (task,) = eventually(lambda: list(driver.tasks.values()))
        task.pace, task.hints = learnt[0](), learnt[1]()
        client.delayed_queue("orders").offer_all([(str(each), 0.01) for each in range(200)])
        assert ledger.some(200) == [str(each) for each in range(200)]
        eventually(lambda: worker.is_consuming)
        assert [each for each in caplog.messages if "uses the defaults" in each]
        assert type(task.pace) is Pace
        assert type(task.hints) is Hints
