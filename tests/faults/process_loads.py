"""Loads whose work is done by separate processes, which are killed, forked, interrupted or end; and one in Java.

Items that a process had in hand when it died are gone, as ``docs/guarantees.md`` says. The load reports to the ledger
how many these can be: none for values received under a lease.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import redis

from redisson_dq import partition_names
from tests.conftest import environment
from tests.faults.loads import LOADS, Load
from tests.faults.rules import BESIDE_JAVA, LEASED
from tests.peer import JavaPeer, PeerDied, PeerError
from tests.proof.history import Call

__all__ = ["Processes"]

# The time that a process may take to end on a busy machine.
_LAST_STEPS = 30.0
#: For queues that processes fill themselves.
PARTITIONS = 3
# Each process numbers its items from another start.
_NUMBERS = 1_000_000


class _Worker:
    """One process at a time, restarted when it has ended."""

    def __init__(self, load: Processes, mode: str, place: int) -> None:
        self._load, self.mode, self._place = load, mode, place
        self._rng = random.Random(f"{load.seed}-{mode}-{place}")
        self._generation = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.is_killed = False

    def run(self) -> None:
        while not self._load.is_over and not (self.mode == "offer" and not self._load.is_offering):
            self._generation += 1
            # Read after the process has ended, for its errors.
            with tempfile.TemporaryFile() as errors:
                self.is_killed = False
                self.process = subprocess.Popen(
                    self._command(), stdout=subprocess.PIPE, stderr=errors, env=environment()
                )
                self._listen(self.process)
                code = self.process.wait()
                self._load.ledger.killed(self._load.in_hand.get(self.mode, 0))
                if code and not self.is_killed:
                    errors.seek(0)
                    said = errors.read().decode(errors="replace").strip().splitlines()[-1:]
                    self._load.ledger.found("raised", f"a process ({self.mode}) ended with {code}: {said}")
                    return

    def end(self, by: int) -> None:
        """Ends the process. If it does not end when asked, that is a finding."""
        process = self.process
        if process is None:
            return
        self.is_killed = True
        with suppress(ProcessLookupError):
            process.send_signal(by)
        if by != signal.SIGKILL:
            try:
                process.wait(_LAST_STEPS)
            except subprocess.TimeoutExpired:
                self._load.ledger.found("held", f"a process ({self.mode}) does not end")
                process.kill()

    def _command(self) -> list[str]:
        arguments = {
            "way": self._load.way,
            "mode": self.mode,
            "name": self._load.queue_name,
            "seed": self._rng.randrange(1 << 30),
            "partitions": PARTITIONS,
            "stop": self._load.stop_file,
            "first": (self._place * 1000 + self._generation) * _NUMBERS,
        }
        return [sys.executable, "-m", "tests.workers.under_faults", json.dumps(arguments)]

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        ledger, load = self._load.ledger, self._load
        began = time.monotonic_ns()
        offers: dict[str, Call] = {}
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                kind, _, rest = line.decode().strip().partition(" ")
                if kind == "took":
                    load._took([rest], began)
                elif kind == "asked":
                    name, delay, at = rest.split()
                    since = time.monotonic_ns() - round(1e9 * (time.time() - float(at)))
                    offers[name] = load._begun("offer", [[name, 1000 * float(delay)]], at=since)
                    ledger.told(name, float(delay), float(at))
                elif kind == "acked":
                    self._load.acked(rest)
                elif kind == "wrong":
                    ledger.found("raised", rest)
                else:
                    if kind == "in":
                        offers[rest].ok([["offered", None]])
                    else:
                        offers[rest].fail(kind)
                    ledger.answered([rest], kind)


class Processes(Load):
    """Consumers and producers in processes, which a fault kills."""

    consumers = ()
    # Processes start slowly on a busy machine.
    warm = 5
    modes: ClassVar[tuple[str, ...]] = ("take", "take", "offer")
    others = 3
    #: The number of items that a process may have in hand when it dies.
    in_hand: ClassVar[dict[str, int]] = {"take": 1}
    #: What asks a process to end at the end of the run.
    last_signal: ClassVar[int] = signal.SIGKILL

    def __init__(self, name: str, world: Any, ledger: Any, seed: int) -> None:
        super().__init__(name, world, ledger, seed)
        self.seed = seed
        self.is_over = False
        self._directory = tempfile.TemporaryDirectory()
        #: When this file exists, the processes stop offering.
        self.stop_file = os.path.join(self._directory.name, "stop")
        self._workers = [_Worker(self, mode, place) for place, mode in enumerate(self.modes, 1)]

    @property
    def way(self) -> dict[str, Any]:
        """The way in which its processes connect."""
        way: dict[str, Any] = self._world.way
        return way

    @property
    def is_offering(self) -> bool:
        return self._offering.is_set()

    def start(self) -> None:
        super().start()
        for worker in self._workers:
            self._thread(worker.run)

    def kill_one(self, rng: random.Random) -> None:
        """Kills a process, whatever it is doing."""
        rng.choice([worker for worker in self._workers if worker.mode != "signals"]).end(signal.SIGKILL)

    def acked(self, name: str) -> None:
        """A process got the answer that its ack ended the item."""

    def stop_offering(self) -> None:
        super().stop_offering()
        Path(self.stop_file).touch()
        for worker in self._workers:
            if worker.mode == "offer":
                worker.end(signal.SIGKILL)
        if self.rules is not LEASED:
            # Processes that constantly end and start may be too slow for the backlog.
            self._thread(self._take_all_the_time, self._poll_many, random.Random(self.seed))

    def close(self) -> None:
        self.is_over = True
        for worker in self._workers:
            worker.end(self.last_signal)
        super().close()
        self._directory.cleanup()


class LeaseProcesses(Processes):
    """Receivers in processes. The transaction that acks an item also notes it, so both are done or neither.

    An item with a note is done, and has exactly one note. Only one process may be told that its ack ended the item.
    """

    rules = LEASED
    modes = ("lease", "lease", "offer")
    in_hand: ClassVar[dict[str, int]] = {}
    queue_options: ClassVar[dict[str, Any]] = {"delivery_limit": None}

    def start(self) -> None:
        self._began = time.monotonic_ns()
        self._noted: set[str] = set()
        self._acked: set[str] = set()
        super().start()
        self._thread(self._look_all_the_time)

    def close(self) -> None:
        super().close()
        self._look()

    def _look_all_the_time(self) -> None:
        while not self.is_over:
            with suppress(redis.RedisError):
                self._look()
            time.sleep(0.1)

    def _look(self) -> None:
        # In the queue's own slot.
        notes = Counter(note.decode() for note in self._world.elements(f"{{{self.queue_name}}}-done"))
        for name, count in notes.items():
            if count > 1:
                self.ledger.found("twice", f"{name} was done {count} times")
        new = notes.keys() - self._noted
        self._noted |= new
        self._took(list(new), self._began)

    def acked(self, name: str) -> None:
        if name in self._acked:
            self.ledger.found("twice", f"{name} was acked by two")
        self._acked.add(name)


class InEveryWay(Processes):
    """Processes that wait on partitions too, hear of values as listeners, and offer in pipelines and recurrently."""

    @property
    def queues(self) -> list[str]:
        return [self.queue_name, *partition_names(f"{self.queue_name}-parts", PARTITIONS)]


class Signals(InEveryWay):
    """A process whose main thread is interrupted at random instants of its calls, by real signals.

    In another one they cancel the main task of a loop.
    """

    modes = ("signals", "signals", "asyncio_signals")
    in_hand: ClassVar[dict[str, int]] = {}
    last_signal = signal.SIGTERM


class Forks(InEveryWay):
    """A process that forks while it waits."""

    modes = ("fork", "offer")
    # Its own threads, its listener, and a child that it may have at that moment.
    in_hand: ClassVar[dict[str, int]] = {"fork": 4}


class Leaving(InEveryWay):
    """Processes that end while their threads wait."""

    modes = ("leave", "leave")
    in_hand: ClassVar[dict[str, int]] = {"leave": 4}


class BesideJava(Load):
    """A real Redisson that offers, moves and takes on the same queue."""

    rules = BESIDE_JAVA
    others = 1
    consumers = ("take", "poll", "poll_many")

    def start(self) -> None:
        self._peer = JavaPeer()
        self._peer.call("open", **self._world.java, codec="StringCodec")
        self._peer.call("open_delayed", queue=self.queue_name)
        self._leaves = threading.Event()
        super().start()
        self._thread(self._offer_in_java)
        self._thread(self._take_in_java)

    def close(self) -> None:
        self._leaves.set()
        super().close()
        self._peer.close()

    def _offer_in_java(self) -> None:
        rng = random.Random(self._rng.random())
        while self._offering.is_set() and not self._leaves.is_set():
            delay = self._delay()
            # Redisson computes due times by its own clock. On a server whose clock is ahead they come as much earlier.
            shown = delay - max(0.0, self._world.clock() - time.time())
            name = self.ledger.next(shown)
            call = self._begun("offer", [[name, 1000 * shown]])
            # An offer that failed may still have been carried out.
            with suppress(PeerError, FutureTimeoutError):
                self._peer.call("offer", queue=self.queue_name, value=name, delayMs=round(delay * 1000))
                call.ok([["offered", None]])
                self.ledger.answered([name], "in")
            time.sleep(rng.uniform(0, 0.05))

    def _take_in_java(self) -> None:
        while not self._leaves.is_set():
            began = time.monotonic_ns()
            try:
                value = self._peer.call("poll", queue=self.queue_name, side="ready", timeoutMs=300)
                self._took([] if value is None else [value], began)
            except (PeerError, FutureTimeoutError):
                self.ledger.killed(1)
                time.sleep(0.05)
            except PeerDied as error:
                self.ledger.found("raised", f"Redisson has died: {error}")
                return


LOADS["processes"] = Processes
LOADS["leaseprocesses"] = LeaseProcesses
LOADS["signals"] = Signals
LOADS["forks"] = Forks
LOADS["leaving"] = Leaving
LOADS["java"] = BesideJava
