"""Findings about a server soon after the first call: each told once, with the command that helps."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.doctor import diagnose
from redisson_dq.observing import Answered, Noticed
from redisson_dq.scheduling.clock import SystemClock
from redisson_dq.scheduling.timer import Timer
from redisson_dq.wire.rights import acl_words
from tests.conftest import ONE_FLAVOUR_BY_DAY, eventually
from tests.flavours import Flavour

PAGE = Path(__file__).resolve().parents[3] / "docs/health.md"


class Looks:
    """An observer of what a client asks for, and of what it notices when it looks at its server."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.noticed: list[Noticed] = []

    def __call__(self, happening: Any) -> None:
        if isinstance(happening, Answered):
            self.asked.append(happening.request)
        elif isinstance(happening, Noticed):
            self.noticed.append(happening)

    def until_looked(self, client: Any) -> list[str]:
        """The findings of a look that is over. The client tells of them behind the last answer."""
        eventually(lambda: "missing_rights" in self.asked)
        client.close()
        return sorted(each.check for each in self.noticed)


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
def well(admin: redis.Redis) -> Iterator[redis.Redis]:
    """A server that has nothing to notice."""
    before: dict[str, Any] = {name: admin.config_get(name)[name] for name in ("appendonly", "maxmemory-policy")}
    admin.config_set("appendonly", "yes")
    yield admin
    for name, value in before.items():
        admin.config_set(name, value)


def test_nothing_is_noticed_where_all_is_well(flavour: Flavour, url: str, looks: Looks, well: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), observer=looks) as client:
        client.delayed_queue("orders").offer("a", delay=60)
        assert looks.until_looked(client) == []
        # In one pipeline, behind the first call.
        first, *others = [each for each in looks.asked if each in ("offer", "INFO", "missing_rights")]
        assert (first, others) == ("offer", ["INFO", "INFO", "INFO", "missing_rights"])


def test_nothing_is_asked_before_the_first_call(flavour: Flavour, url: str, looks: Looks, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), observer=looks) as client:
        client.blocking_queue("orders").size()
        assert looks.asked == ["PING", "LLEN"]


@ONE_FLAVOUR_BY_DAY
def test_what_may_lose_items_is_told_with_the_command_that_helps(
    flavour: Flavour, url: str, looks: Looks, well: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "redisson_dq")
    well.config_set("appendonly", "no")
    well.config_set("maxmemory-policy", "allkeys-lru")
    with flavour.connect(url, codec=StringCodec(), observer=looks) as client:
        for name in ("orders", "bills"):
            client.delayed_queue(name).offer("a", delay=60)
        assert looks.until_looked(client) == ["append-only file", "eviction"]
        lines = {record.levelname: record for record in caplog.records if "check" in vars(record)}
        assert lines["WARNING"].getMessage().endswith(": CONFIG SET maxmemory-policy noeviction")
        assert lines["INFO"].getMessage().endswith(": CONFIG SET appendonly yes")
        assert vars(lines["WARNING"])["server"] in url
        shown = re.search(r"```text\nWARNING redisson_dq: (Redis at .*)\n```", PAGE.read_text("utf-8"))
        assert shown
        address = vars(lines["WARNING"])["server"]
        assert lines["WARNING"].getMessage() == shown[1].replace("127.0.0.1:6379", address)
        # The commands of the advice help.
        for line in lines.values():
            well.execute_command(*line.getMessage().rpartition(": ")[2].split())
    with flavour.connect(url, codec=StringCodec(), observer=(again := Looks())) as client:
        client.delayed_queue("orders").offer("a", delay=60)
        assert again.until_looked(client) == []


@pytest.mark.parametrize("check", ["eviction", "rights"])
def test_a_program_that_sets_up_no_logging_sees_the_warnings(
    flavour: Flavour, url: str, looks: Looks, well: redis.Redis, caplog: pytest.LogCaptureFixture, check: str
) -> None:
    """Python shows warnings then, and nothing below them."""
    assert logging.getLogger("redisson_dq").getEffectiveLevel() == logging.WARNING
    well.config_set("appendonly", "no")
    rules = ("-subscribe",) if check == "rights" else ()
    well.config_set("maxmemory-policy", "volatile-ttl" if check == "eviction" else "noeviction")
    well.execute_command("ACL", "SETUSER", "some", "reset", "on", ">pw", "~*", "&*", "+@all", *rules)
    with flavour.connect(url.replace("//", "//some:pw@"), codec=StringCodec(), observer=looks) as client:
        client.blocking_queue("orders").poll(timeout=0.01)
        looks.until_looked(client)
    shown = [vars(record)["check"] for record in caplog.records if "check" in vars(record)]
    assert shown == [check]
    well.execute_command("ACL", "DELUSER", "some")


@pytest.mark.parametrize(("ahead", "way"), [(3, "behind"), (-3, "ahead of")])
def test_a_clock_that_differs(
    flavour: Flavour, url: str, looks: Looks, well: Any, ahead: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calendar_us = SystemClock.calendar_us
    monkeypatch.setattr(SystemClock, "calendar_us", staticmethod(lambda: calendar_us() + ahead * 1_000_000))
    with flavour.connect(url, codec=StringCodec(), observer=looks) as client:
        client.delayed_queue("orders").offer("a", delay=60)
        assert looks.until_looked(client) == ["clock"]
    assert f"3.0 s {way} that of this machine" in looks.noticed[0].found
    assert not looks.noticed[0].needs_a_hand


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        (("-subscribe",), "SUBSCRIBE redisson_delay_queue_channel:{orders}"),
        (
            ("resetchannels",),
            "PUBLISH redisson_delay_queue_channel:{orders}, SUBSCRIBE redisson_delay_queue_channel:{orders}",
        ),
        (("-lrem", "-zrem"), "LREM, ZREM"),
    ],
)
def test_a_missing_right_is_named(
    flavour: Flavour, url: str, looks: Looks, well: redis.Redis, rules: tuple[str, ...], missing: str
) -> None:
    well.execute_command("ACL", "SETUSER", "some", "reset", "on", ">pw", "~*", "&*", "+@all", *rules)
    with flavour.connect(url.replace("//", "//some:pw@"), codec=StringCodec(), observer=looks) as client:
        client.blocking_queue("orders").poll(timeout=0.01)
        assert looks.until_looked(client) == ["rights"]
    assert looks.noticed[0].found == f"queue 'orders': the user may not run {missing}"
    well.execute_command("ACL", "DELUSER", "some")


@pytest.mark.parametrize("role", ["mover", "worker", "consumer"])
def test_the_rights_of_a_role_are_enough(
    flavour: Flavour, url: str, looks: Looks, well: redis.Redis, role: str
) -> None:
    version = tuple(map(int, well.info()["redis_version"].split(".")))
    well.execute_command("ACL", "SETUSER", "some", "reset", "on", ">pw", *acl_words(role, ["orders"], version=version))
    with flavour.connect(url.replace("//", "//some:pw@"), codec=StringCodec(), observer=looks) as client:
        client.delayed_queue("orders").start_moving()
        assert looks.until_looked(client) == []
        with redisson_dq.connect(url.replace("//", "//some:pw@"), codec=StringCodec()) as another:
            assert diagnose(another, ["orders"], only=["rights"]).findings == ()
    well.execute_command("ACL", "DELUSER", "some")


def test_a_client_that_only_offers_looks_from_a_call(
    flavour: Flavour, url: str, looks: Looks, well: redis.Redis, admin: redis.Redis
) -> None:
    well.config_set("maxmemory-policy", "allkeys-lru")
    well.config_set("appendonly", "no")
    with flavour.connect(url, codec=StringCodec(), observer=looks) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.offer("a", delay=60)
        assert looks.noticed == []
        eventually(lambda: delayed.offer("a", delay=60) and looks.noticed)
        assert [each.check for each in looks.noticed] == ["eviction", "append-only file"]
        admin.config_resetstat()
        for name in ("orders", "bills"):
            client.delayed_queue(name, transfer=False).offer("a", delay=60)
        asked = admin.info("commandstats")
        assert "cmdstat_info" not in asked
        # It sends as many commands as before, and has no background task.
        assert not [each for each in threading.enumerate() if each.name.startswith("redisson_dq-")]
        # Once it moves too, it tells nothing twice.
        client.blocking_queue("orders").poll()
        looks.until_looked(client)
        assert [each.check for each in looks.noticed] == ["eviction", "append-only file"]


def test_no_call_that_takes_looks_for_one_that_offers(
    flavour: Flavour, url: str, well: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that is cancelled while it looks would lose the value that it has taken."""
    for room in ("_async", "_sync"):
        monkeypatch.setattr(f"redisson_dq.{room}.runtime._LOOK_AT_SERVERS_US", 0)
    with flavour.connect(url, codec=StringCodec()) as client:
        ready = client.blocking_queue("orders", transfer=False)
        ready.add("a")
        delayed = client.delayed_queue("orders", transfer=False)
        with client.pipeline() as pipeline:
            pipeline.add(delayed.requests.offer("b", delay=60))
        well.config_resetstat()
        assert ready.poll() == "a"
        assert "cmdstat_info" not in well.info("commandstats")
        well.config_resetstat()
        client.delayed_queue("bills", transfer=False).offer("c", delay=60)
        assert well.info("commandstats")["cmdstat_info"]["calls"] == 1


def test_a_user_who_may_not_ask_learns_nothing(
    flavour: Flavour, url: str, looks: Looks, well: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    well.config_set("maxmemory-policy", "allkeys-lru")
    well.execute_command("ACL", "SETUSER", "some", "reset", "on", ">pw", "~*", "&*", "+@all", "-info", "-config")
    with flavour.connect(url.replace("//", "//some:pw@"), codec=StringCodec(), observer=looks) as client:
        client.delayed_queue("orders").offer("a", delay=60)
        assert looks.until_looked(client) == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    well.execute_command("ACL", "DELUSER", "some")


def test_no_caller_takes_the_lock_of_the_timer(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler that closes the client takes that lock too, in the thread of the caller that it interrupts."""
    by: list[str] = []
    arm = Timer.arm

    def noted(timer: Timer, name: str, delay_us: int, signal: Callable[[], None]) -> None:
        by.append(threading.current_thread().name)
        arm(timer, name, delay_us, signal)

    monkeypatch.setattr(Timer, "arm", noted)
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", delay=0.01)
        assert queue.take() == "a"
    assert len(by) >= 2
    assert set(by) == {"redisson_dq-mover"}
