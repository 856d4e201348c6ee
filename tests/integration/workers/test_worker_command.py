"""``redisson-dq worker``: real processes that are started, killed, replaced and stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import textwrap
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.lease_source import mark_of
from tests.conftest import PATIENCE, PROGRAMS, by_night, eventually
from tests.flavours import Flavour
from tests.integration.commands import (
    THREADS,
    WORKERS,
    Command,
    asked,
    checked,
    children,
    command,
    done,
    ended,
    free_port,
    in_hand,
    starting,
)
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import worked_off

# Every case starts processes: the second server has its turn at night.
pytestmark = [
    pytest.mark.usefixtures("server"),
    pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True),
]
# What the supervisor does is the same for both flavours: most cases have one.
in_threads = pytest.mark.parametrize("flavour", ["sync"], indirect=True)


@pytest.fixture
def target(flavour: Flavour) -> str:
    return f"tests.workers.of_the_command:{WORKERS[flavour.name]}"


def went_on(admin: Any, before: int) -> bool:
    """Whether more was handled, or nothing is left."""
    return admin.llen("done") > before or not whereabouts(admin).total


# -- its life --------------------------------------------------------------------------------------------------------


def test_it_consumes_in_several_processes_and_stops(url: str, target: str, admin: Any, queue: Any) -> None:
    added: list[str] = []

    def both_have_handled() -> bool:
        added.append(str(len(added)))
        queue.add(added[-1])
        return len({pid for *_, pid in done(admin)}) == 2

    with command(url, target, "--processes", "2", seconds=0.01) as made:
        eventually(both_have_handled)
        eventually(lambda: len(done(admin)) == len(added))
        # All users of the machine can read the arguments of a process, and the URL may have a password.
        told = subprocess.run(["ps", "-A", "-o", "ppid=,args="], capture_output=True, check=True, text=True).stdout
        lines = [line for line in told.splitlines() if line.split()[0] == str(made.process.pid)]
        assert [line.endswith("redisson_dq.cli.worker.child") for line in lines] == [True, True]
        made.send(signal.SIGTERM)
        assert made.ends() == 0
    assert Counter(value for value, *_ in done(admin)) == Counter(added)
    assert not whereabouts(admin).total


@in_threads
@pytest.mark.parametrize("number", [signal.SIGTERM, by_night(signal.SIGINT)])
def test_a_signal_under_load_loses_and_counts_nothing(url: str, admin: Any, queue: Any, number: signal.Signals) -> None:
    # Two processes handle them in 12 s at least. However busy the machine is, some are left at the signal.
    count = 10_000
    queue.add_all([str(value) for value in range(count)])
    with command(url, THREADS, "--processes", "2", seconds=0.01, handler={"concurrency": 4}) as made:
        eventually(lambda: admin.llen("done") > 20)
        made.send(number)
        assert made.ends() == 0
    handled, left = done(admin), whereabouts(admin)
    assert left.total == left.ready
    handled_values = Counter(value.encode() for value, *_ in handled)
    assert handled_values + left.ready == Counter(b"%d" % value for value in range(count))
    assert {attempt for _, attempt, *_ in handled} == {"1"}
    assert 20 < len(handled) < count


@pytest.mark.nightly
@in_threads
def test_a_second_signal_is_immediate(url: str, admin: Any, queue: Any) -> None:
    queue.add("a")
    with command(url, THREADS, "--grace", "1000", seconds=1000) as made:
        # A value whose handler has not begun goes back at the first signal.
        eventually(lambda: admin.get("begun") == b"a")
        made.send(signal.SIGTERM)
        made.until("supervisor: stops")
        # The process has stopped receiving, and waits for its handler.
        queue.add("b")
        assert in_hand(admin) == 1
        made.send(signal.SIGINT)
        assert made.ends() == 0
    assert whereabouts(admin).ready == {b"a": 1, b"b": 1}
    assert queue.receive(timeout=0).attempt == 1


@pytest.mark.nightly
@in_threads
def test_what_outlasts_the_grace_goes_back(url: str, admin: Any, queue: Any) -> None:
    queue.add("a")
    with command(url, THREADS, "--grace", "0.2", seconds=1000) as made:
        eventually(lambda: in_hand(admin) == 1)
        made.send(signal.SIGTERM)
        assert made.ends() == 0
    assert whereabouts(admin).ready == {b"a": 1}
    delivery = queue.receive(timeout=0)
    assert (delivery.attempt, delivery.crashes) == (1, 0)


@pytest.mark.nightly
def test_a_signal_while_it_starts(url: str) -> None:
    with starting(url, THREADS, "--processes", "2") as made:
        made.until(" starts", 2)
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@in_threads
def test_processes_end_when_the_supervisor_is_killed(url: str, admin: Any, queue: Any) -> None:
    with command(url, THREADS, "--processes", "2") as made:
        pids = children(made)
        assert len(pids) == 2
        made.send(signal.SIGKILL)
        made.ends()
        # The pipe of their log is closed when the last one has ended.
    queue.add("a")
    assert queue.receive(timeout=0).value == "a"


# -- processes that die ----------------------------------------------------------------------------------------------


def test_killed_with_fifty_in_hand(url: str, target: str, admin: Any, queue: Any) -> None:
    """Their leases run for 1,000 s more, so nothing but the supervisor brings them back."""
    values = [f"once {number}".replace(" ", "-") for number in range(50)]
    queue.add_all(values)
    with command(url, target, seconds=1000, handler={"concurrency": 50}) as made:
        eventually(lambda: in_hand(admin) == 50)
        (pid,) = children(made)
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: len(done(admin)) == 50)
        made.until("a process died, and its values are ready again: 50")
        made.until("died of signal 9")
        made.send(signal.SIGTERM)
        assert made.ends() == 0
    assert Counter(value for value, *_ in done(admin)) == Counter(values)
    # A crash, and no failure of the handler's.
    assert {(attempt, crashes) for _, attempt, crashes, _ in done(admin)} == {("2", "1")}
    assert str(pid) not in {each for *_, each in done(admin)}


@pytest.mark.nightly
@in_threads
def test_the_leases_of_others_stay(url: str, admin: Any, queue: Any) -> None:
    queue.add("mine")
    held = queue.receive(timeout=0, visibility_timeout=1000)
    queue.add_all(["once-1", "once-2"])
    with command(url, THREADS, "--processes", "2", seconds=1000) as made:
        eventually(lambda: in_hand(admin) == 3)
        marks = {name[:4] for name in admin.zrange(KEYS.leases, 0, -1)}
        assert len(marks) == 3
        os.kill(children(made)[0], signal.SIGKILL)
        made.until("a process died, and its values are ready again: 1")
        eventually(lambda: len(done(admin)) == 1)
        # Of the process that lives, and of the receiver beside it.
        eventually(lambda: in_hand(admin) == 2)
        assert held.ack()
        # Two of one number may come as one.
        made.send(signal.SIGTERM)
        made.send(signal.SIGINT)
        assert made.ends() == 0


@pytest.mark.nightly
@in_threads
@pytest.mark.parametrize(("rounds", "kills"), [(1, 3), pytest.param(50, 4, marks=pytest.mark.timeout(1500))])
def test_killed_at_random_under_load(url: str, admin: Any, queue: Any, rounds: int, kills: int) -> None:
    """Leases run for 1,000 s, so each value that is not handled soon was forgotten by a supervisor.

    After some deaths a supervisor waits for half a minute, so there is another one for each round.
    """
    values: set[str] = set()
    for each in range(rounds):
        added = [f"{each}-{number}" for number in range(200 * kills)]
        queue.add_all(added)
        values.update(added)
        with command(url, THREADS, "--processes", "3", seconds=0.01, handler={"concurrency": 4}) as made:
            for number in range(kills):
                eventually(partial(went_on, admin, admin.llen("done")))
                pids = children(made)
                if pids:
                    os.kill(pids[number % len(pids)], signal.SIGKILL)
            if each == rounds - 1:
                worked_off(admin)
            made.send(signal.SIGTERM)
            assert made.ends() == 0
        assert not whereabouts(admin).leased, "a process that is gone has it"
    assert {value for value, *_ in done(admin)} == values


def test_leases_of_an_owner(flavour: Flavour, url: str, client: Any, admin: Any, queue: Any) -> None:
    """What a supervisor does; what was acked, and what another one has by now, is left alone."""
    worker = flavour.worker(client, visibility_timeout=1000)
    getattr(worker, "inner", worker)._owner = owner = b"\x01\x02\x03\x04"
    seen: list[Any] = []

    def handle(value: Any, event: Any) -> None:
        seen.append(event)
        _held(value)

    worker.handler("orders", concurrency=2)(handle)
    queue.add_all(["done", "hold-1", "hold-2"])
    _gate.clear()
    worker.start()
    try:
        eventually(lambda: in_hand(admin) == 2 and len(seen) == 3)
        assert {name[:4] for name in admin.zrange(KEYS.leases, 0, -1)} == {owner}
        other = flavour.worker(client)
        other.handler("orders")(print)
        assert other._return_leases(b"\x09\x02\x03\x04") == 0
        assert other._return_leases(owner) == 2
        assert other._return_leases(owner) == 0
        # This worker lives, and receives them again when it has room.
        _gate.set()
        eventually(lambda: len(seen) == 5)
        assert [(event.attempt, event.crashes, event.failures) for event in seen[3:]] == [(2, 1, 0)] * 2
    finally:
        _gate.set()
        worker.stop(grace=PATIENCE)


def test_a_legacy_queue_has_marks_too(flavour: Flavour, url: str, admin: Any) -> None:
    owner = b"\x01\x02\x03\x04"
    with flavour.connect(url, codec=StringCodec(), envelope="legacy") as client:
        worker = flavour.worker(client, visibility_timeout=1000)
        getattr(worker, "inner", worker)._owner = owner
        _gate.clear()
        worker.handler("orders", concurrency=2)(_held)
        client.blocking_queue("orders").add_all(["hold-1", "hold-2"])
        worker.start()
        try:
            eventually(lambda: in_hand(admin) == 2)
            assert {name[:3] for name in admin.zrange(KEYS.leases, 0, -1)} == {mark_of(owner, Envelope.LEGACY)}
            worker.stop(grace=0)
        finally:
            _gate.set()


_gate = threading.Event()


def _held(value: Any) -> None:
    if value.startswith("hold"):
        assert _gate.wait(PATIENCE)


# -- processes that are replaced -------------------------------------------------------------------------------------


def until_replaced(made: Command, why: str, count: int = 1) -> None:
    told = re.compile(rf"supervisor: replacing process \d+: {why}")
    eventually(lambda: len(told.findall(made.log)) >= count, told=lambda: made.log)


@pytest.mark.nightly
@in_threads
def test_replaced_by_count(url: str, admin: Any, queue: Any) -> None:
    with command(url, THREADS, "--max-jobs", "10") as made:
        for number in range(3):
            queue.add_all([f"{number}-{each}" for each in range(20)])
            until_replaced(made, "it has handled", number + 1)
        made.until("has ended", 3)
        eventually(lambda: len(done(admin)) == 60)
        made.send(signal.SIGTERM)
        assert made.ends() == 0
    assert len({pid for *_, pid in done(admin)}) >= 3
    assert {attempt for _, attempt, *_ in done(admin)} == {"1"}


@pytest.mark.nightly
@in_threads
def test_replaced_by_memory(url: str, admin: Any, queue: Any) -> None:
    with command(url, THREADS, "--max-memory", "1M") as made:
        made.until("MB of memory")
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@in_threads
def test_a_thread_that_does_not_return_costs_its_process(url: str, admin: Any, queue: Any) -> None:
    queue.add("once-stuck")
    options = {"timeout": 0.1, "retry": []}
    with command(url, THREADS, "--grace", "0.5", seconds=1000, handler={**options, "concurrency": 2}) as made:
        until_replaced(made, "a handler has not returned after its timeout")
        made.until("has ended")
        queue.add("once-later")
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@pytest.mark.nightly
def test_one_that_never_begins_is_killed(url: str, tmp_path: Path, admin: Any) -> None:
    """Its import does not end. It has ten times as long as one that runs."""
    program = """
        import os, redis, sys, time
        from redisson_dq.worker import Worker
        if "redisson_dq.cli.worker.child" in sys.orig_argv:
            redis.Redis.from_url(URL).incr("began")
            time.sleep(1000)
        worker = Worker.connect("redis://localhost:1")
        worker.handler("orders")(print)
    """
    (tmp_path / "hangs.py").write_text(textwrap.dedent(program).replace("URL", repr(url)))
    with starting(url, "hangs", "--silence", "0.3", cwd=tmp_path) as made:
        made.until("which hangs")
        made.until("died of signal 9")
        eventually(lambda: admin.get("began") == b"2")
        made.send(signal.SIGTERM)
        made.send(signal.SIGINT)
        made.ends()


@pytest.mark.nightly
@in_threads
def test_one_that_stands_still_is_killed(url: str, admin: Any, queue: Any) -> None:
    queue.add("once-a")
    with command(url, THREADS, "--silence", "2.5", seconds=1000) as made:
        eventually(lambda: in_hand(admin) == 1)
        (pid,) = children(made)
        os.kill(pid, signal.SIGSTOP)
        made.until("which hangs")
        eventually(lambda: len(done(admin)) == 1)
        made.send(signal.SIGTERM)
        assert made.ends() == 0


class Shop:
    """The user's program, in versions that note different words."""

    def __init__(self, folder: Path, url: str) -> None:
        self.path = folder / "shop.py"
        self._url = url

    def write(self, word: str) -> None:
        program = f"""
            import redis
            from redisson_dq.worker import Worker
            from redisson_dq.codecs import StringCodec
            worker = Worker.connect("redis://localhost:1", codec=StringCodec())
            @worker.handler("orders")
            def handle(value, event):
                redis.Redis.from_url({self._url!r}).rpush("done", f"{word} {{event.attempt}}")
        """
        # As editors do: whoever looks meanwhile sees one of the two.
        new = self.path.with_name("new")
        new.write_text(textwrap.dedent(program))
        new.replace(self.path)


@in_threads
@pytest.mark.parametrize("processes", [1, by_night(2)])
def test_replaced_by_sighup_without_a_pause(url: str, tmp_path: Path, admin: Any, queue: Any, processes: int) -> None:
    shop, count = Shop(tmp_path, url), 0

    def handled(word: str) -> bool:
        nonlocal count
        count += 1
        queue.add(str(count))
        return word.encode() in b" ".join(admin.lrange("done", -2, -1))

    shop.write("first")
    with starting(url, "shop", "--processes", str(processes), cwd=tmp_path) as made:
        made.until("all processes are running")
        eventually(lambda: handled("first"))
        before = children(made)
        shop.path.write_text("this is no Python")
        made.send(signal.SIGHUP)
        made.until("ended with exit code 1")
        assert all(Path(f"/proc/{pid}").exists() for pid in before)
        eventually(lambda: handled("first"))
        shop.write("second")
        until_replaced(made, "SIGHUP", processes)
        made.until("has ended", processes)
        eventually(lambda: handled("second"))
        eventually(lambda: admin.llen("done") == count)
        assert not set(before) & set(children(made))
        made.send(signal.SIGTERM)
        assert made.ends() == 0
    words = [line.decode().split() for line in admin.lrange("done", 0, -1)]
    assert {attempt for _, attempt in words} == {"1"}
    assert not whereabouts(admin).total


@pytest.mark.nightly
def test_sighup_from_a_terminal_that_is_gone(url: str) -> None:
    ours, theirs = os.openpty()
    try:
        with starting(url, THREADS, stdin=theirs) as made:
            made.until("all processes are running")
            made.send(signal.SIGHUP)
            assert made.ends() == -signal.SIGHUP
    finally:
        os.close(ours)
        os.close(theirs)


@in_threads
def test_reload(url: str, tmp_path: Path, admin: Any, queue: Any) -> None:
    shop = Shop(tmp_path, url)
    shop.write("first")
    with starting(url, "shop", "--reload", cwd=tmp_path) as made:
        made.until("all processes are running")
        queue.add("a")
        eventually(lambda: admin.lrange("done", 0, -1) == [b"first 1"])
        shop.path.write_text("this is no Python")
        made.until("waiting for a change")
        shop.write("second")
        made.until("all processes are running", 2)
        queue.add("b")
        eventually(lambda: admin.lrange("done", 0, -1) == [b"first 1", b"second 1"])
        made.send(signal.SIGTERM)
        assert made.ends() == 0


# -- the outside -----------------------------------------------------------------------------------------------------


def test_health() -> None:
    port = free_port()
    with EmbeddedServer(program=PROGRAMS["redis"]()) as own:
        options = ("--processes", "2", "--grace", "1", "--health-port", str(port), "--health-host", "127.0.0.1")
        with command(own.url, THREADS, *options) as made:
            both: Callable[[], list[int]] = lambda: [asked(port, path)[0] for path in ("/live", "/ready")]  # noqa: E731
            eventually(lambda: both() == [200, 200])
            assert asked(port, "/ready")[1] == {
                "wanted": 2,
                "running": 2,
                "consuming": 2,
                "stopping": False,
                "problems": [],
            }
            status, told = asked(port, "/health")
            assert (status, told["warnings"], list(told["queues"])) == (200, [], ["orders"])
            assert asked(port, "/other")[0] == 404
            with redis.Redis.from_url(own.url) as admin:
                admin.set(KEYS.timeout, "taken")
                admin.publish(KEYS.channel, 0)
                eventually(lambda: both() == [503, 503])
                eventually(
                    lambda: any("due items are not moved" in each for each in asked(port, "/ready")[1]["problems"])
                )
                admin.delete(KEYS.timeout)
                eventually(lambda: both() == [200, 200])
            own.stop()
            eventually(lambda: both() == [503, 503])
            made.send(signal.SIGTERM)
            assert made.ends() == 0


@in_threads
def test_the_health_port_tells_a_pause_and_the_figures_of_stats(
    url: str, client: Any, delayed: Any, admin: Any
) -> None:
    port = free_port()
    with command(url, THREADS, "--health-port", str(port), "--health-host", "127.0.0.1") as made:
        eventually(lambda: asked(port, "/ready")[0] == 200)
        assert "warnings" not in asked(port, "/ready")[1]
        delayed.pause()
        # A look at Redis serves the probes of one second.
        eventually(lambda: asked(port, "/ready")[1].get("warnings") == ["queue 'orders' is paused"])
        # The process is well, and a restart would change nothing.
        assert asked(port, "/ready")[0] == 200
        assert "warnings" not in asked(port, "/live")[1]

        delayed.offer_all([("a", 0), ("b", 60)])
        admin.rpush(KEYS.undecodable, "x")
        eventually(lambda: asked(port, "/health")[1]["queues"].get("orders", {}).get("undecodable") == 1)
        eventually(lambda: asked(port, "/health")[1]["queues"]["orders"]["subscribers"] == 2)
        status, told = asked(port, "/health")
        here, there = client.stats("orders")["orders"].to_dict(), told["queues"]["orders"]
        assert there.pop("error") is None
        assert there.keys() == here.keys() - {"keys"}
        passing = {"server_time", "late_by", "mover", "keys"}
        assert {name: there[name] for name in there.keys() - passing} == {
            name: here[name] for name in here.keys() - passing
        }
        assert (there["waiting"], there["overdue"], there["undecodable"], there["is_paused"]) == (2, 1, 1, True)
        assert (status, told["consuming"], told["warnings"]) == (200, 1, ["queue 'orders' is paused"])

        delayed.resume()
        eventually(lambda: "warnings" not in asked(port, "/ready")[1])
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@in_threads
@pytest.mark.parametrize("rounds", [1, by_night(3)])
def test_a_stopped_process_is_named_by_ready(url: str, admin: Any, queue: Any, rounds: int) -> None:
    port = free_port()
    options = ("--processes", "2", "--health-port", str(port), "--health-host", "127.0.0.1")
    with command(url, THREADS, *options) as made:
        eventually(lambda: asked(port, "/ready")[0] == 200)
        stopped = children(made)[0]
        for _ in range(rounds):
            os.kill(stopped, signal.SIGSTOP)
            told = eventually(lambda: (found := asked(port, "/ready"))[0] == 503 and found[1])
            assert told["problems"] == [f"process {stopped} is stopped by SIGSTOP, until SIGCONT"]
            assert (told["running"], told["consuming"]) == (2, 1)
            assert asked(port, "/live")[0] == 200
            os.kill(stopped, signal.SIGCONT)
            eventually(lambda: asked(port, "/ready")[0] == 200)
        os.kill(stopped, signal.SIGSTOP)
        eventually(lambda: asked(port, "/ready")[0] == 503)
        os.kill(stopped, signal.SIGKILL)
        eventually(lambda: asked(port, "/ready")[0] == 200)
        assert stopped not in children(made)
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@in_threads
@pytest.mark.parametrize("seconds", [0.5, by_night(3)])
def test_a_busy_process_is_ready_all_the_time(url: str, admin: Any, queue: Any, seconds: float) -> None:
    """Its handlers compute, and leave the interpreter to others as threads do."""
    port = free_port()
    queue.add_all([f"computes-{number}" for number in range(4)])
    options = ("--health-port", str(port), "--health-host", "127.0.0.1")
    with command(url, THREADS, *options, seconds=seconds, computes=True, handler={"concurrency": 4}) as made:
        eventually(lambda: asked(port, "/ready")[0] == 200)
        found = set()
        while len(done(admin)) < 4:
            found.add(asked(port, "/ready")[0])
        assert found == {200}
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@pytest.mark.nightly
@in_threads
def test_a_process_that_tells_nothing_is_named_by_ready(url: str, admin: Any, queue: Any) -> None:
    """It holds the interpreter, so that it is neither stopped nor well."""
    port = free_port()
    options = ("--health-port", str(port), "--health-host", "127.0.0.1")
    with command(url, THREADS, *options, seconds=15, holds=True) as made:
        eventually(lambda: asked(port, "/ready")[0] == 200)
        queue.add("a")
        told = eventually(lambda: (found := asked(port, "/ready"))[0] == 503 and found)[1]
        assert told["problems"][0].startswith(f"process {children(made)[0]} has reported nothing for 1")
        eventually(lambda: asked(port, "/ready")[0] == 200)
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@pytest.mark.nightly
def test_the_service_manager_is_told(url: str, tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(PATIENCE)
        env = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "400000"}
        with starting(url, THREADS, env=env) as made:
            told: list[bytes] = []
            while b"READY=1" not in told or told.count(b"WATCHDOG=1") < 3:
                told.append(manager.recv(4096))
            made.send(signal.SIGTERM)
            while b"STOPPING=1" not in told:
                told.append(manager.recv(4096))
            assert made.ends() == 0
    assert set(told) == {b"READY=1", b"WATCHDOG=1", b"STOPPING=1"}
    assert told.count(b"READY=1") == 1


# -- without running -------------------------------------------------------------------------------------------------


def test_check(url: str, target: str, admin: Any, queue: Any, delayed: Any) -> None:
    queue.add_all(["a", "b"])
    delayed.offer("c", 1000)
    queue.receive(timeout=0)
    code, out, _ = checked(url, target)
    assert code == 0
    assert out.splitlines()[0] == "orders: 1 ready, 1 waiting, 1 in flight"
    assert out.splitlines()[1].endswith("(any value), 1 at a time, timeout 5 s")
    code, told, _ = checked(url, target, "--json")
    (found,) = json.loads(told)["queues"]
    assert (code, found["name"], found["ready"], found["error"], found["warnings"]) == (0, "orders", 1, None, [])
    assert out.splitlines()[1].strip() == found["handlers"][0]
    # Nothing was received.
    assert whereabouts(admin).ready == {b"b": 1}


def test_check_finds_what_is_wrong(url: str, admin: Any) -> None:
    admin.set(KEYS.timeout, "no zset")
    code, out, _ = checked(url, THREADS)
    assert code == 65
    assert f"key {KEYS.timeout!r} holds a string, but this queue keeps a zset there" in out
    code, _, err = checked("redis://127.0.0.1:1", THREADS)
    assert code == 69
    assert "redisson-dq: error: " in err
    assert "127.0.0.1:1" in err


def test_check_warns(url: str, target: str, admin: Any, queue: Any, delayed: Any) -> None:
    """The worker would run, so that a warning is no failure."""
    delayed.pause()
    queue.add_all([str(number) for number in range(3)])
    for delivery in queue.receive(3):
        delivery.reject("no")
    admin.rpush(KEYS.undecodable, "x", "y")
    admin.rpush(KEYS.quarantine, "z")
    code, out, err = checked(url, target)
    assert (code, err) == (0, "")
    assert [line.split(":")[1].split(",")[0] for line in out.splitlines() if line.startswith("  warning: ")] == [
        " delivery is paused",
        " 3 dead letters",
        " 2 values that no codec could read",
        " 1 entry in no known format",
    ]
    delayed.resume()
    code, out, _ = checked(url, target)
    assert (code, "paused" in out, "3 dead letters" in out) == (0, False, True)


@in_threads
def test_check_warns_of_a_paused_partition(url: str, client: Any, admin: Any) -> None:
    client.delayed_queue("orders", partitions=3).partitions[1].pause()
    code, out, _ = checked(url, "tests.workers.refused_by_check:partitioned")
    assert code == 0
    assert "  warning: delivery is paused" in out


@pytest.mark.parametrize("name", ["needs_more", by_night("needs_more_in_a_loop")])
def test_a_dependency_that_nobody_provides(url: str, admin: Any, name: str) -> None:
    """It is found before a process starts, which could only die of it."""
    code, out, err = checked(url, f"tests.workers.refused_by_check:{name}")
    assert code == 1
    assert "'database'" in err
    # The queues are looked at all the same.
    assert out.startswith("orders: 0 ready")
    code, _, err = ended(url, f"tests.workers.refused_by_check:{name}", "--url", url)
    assert code == 1
    assert "redisson-dq: error: 'tests.workers.refused_by_check" in err
    assert "'database'" in err
    assert " starts" not in err


def test_check_has_an_exit_code_for_each_cause(url: str, admin: Any) -> None:
    def code_of(server: str) -> tuple[int, str]:
        code, _, err = checked(server, THREADS)
        return code, err

    assert code_of("http://localhost")[0] == 64
    admin.acl_setuser("reader", enabled=True, passwords=["+right"], keys=["*"], commands=["+@connection", "+type"])
    try:
        place = url.removeprefix("redis://")
        code, err = code_of(f"redis://reader:right@{place}")
        assert code == 77
        assert "redisson-dq: error: " in err
        assert "no permissions to run the 'evalsha' command" in err
        assert code_of(f"redis://reader:wrong@{place}")[0] == 77
    finally:
        admin.acl_deluser("reader")


@pytest.mark.nightly
def test_a_function_that_makes_the_worker(url: str) -> None:
    code, out, _ = ended(url, "tests.workers.of_the_command:made", "--check", "--url", url)
    assert code == 0
    assert out.startswith("orders: 0 ready")
