"""The slots that a wave needs, and how late it is with workers that are scaled by its depth or by what is due."""

from __future__ import annotations

import heapq
import random
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from itertools import repeat

import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.prometheus.demand import Demand, HandlingTimes, slots_for
from redisson_dq.stats import QueueStats

#: The interval of a scaler's requests and the start time of a pod, in seconds; the slots of a pod.
ASKS, STARTS, SLOTS = 15, 40, 8
#: A wave is due at this second, after a time with nothing to do.
AT, ITEMS, DRAIN = 600, 10_000, 60


@pytest.mark.parametrize(
    ("items", "handling", "slots"), [(0, 5, 0), (1, 0.001, 1), (60, 1, 1), (61, 1, 2), (10_000, 2.5, 417)]
)
def test_the_slots_of_some_items(items: int, handling: float, slots: int) -> None:
    assert slots_for(items, handling, 60) == slots


@pytest.mark.parametrize(("due", "slots"), [(0, 0), (5, None)])
def test_no_items_need_no_slots_however_long_a_handling_takes(due: int, slots: int | None) -> None:
    """An autoscaler takes unknown slots for an error, and would keep the pods that it has."""
    stats = QueueStats(name="q", server_time=datetime.now(timezone.utc))
    assert Demand.of(stats, due, None, 60).slots == slots


def test_a_paused_queue_needs_slots_only_for_what_can_be_handled() -> None:
    stats = QueueStats(
        name="q", server_time=datetime.now(timezone.utc), ready=2, in_flight=1, overdue=500, is_paused=True
    )
    found = Demand.of(stats, 10_000, 60, 60)
    assert (found.items, found.overdue, found.due, found.slots) == (3, 0, 0, 3)


def test_handling_times_that_no_worker_tells() -> None:
    assert HandlingTimes([], None).of("q") is None
    assert HandlingTimes(["http://127.0.0.1:1/metrics"], 2.5).of("q") == 2.5


FOUND = b"HTTP/1.0 200 OK\r\n\r\n"
SAMPLES = b"# TYPE redisson_dq_handling_seconds summary\nredisson_dq_handling_seconds_%s %s\n"
ONE = b'redisson_dq_handling_seconds_count{queue="q"} 1\n'
ANSWERS: dict[str, Callable[[], Iterator[bytes]]] = {
    "no HTTP": lambda: iter([b"SSH-2.0-OpenSSH\r\n"]),
    "nothing": lambda: iter([]),
    "no text": lambda: iter([FOUND, b"\xff\xfe"]),
    "less than was promised": lambda: iter([b"HTTP/1.0 200 OK\r\nContent-Length: 9999\r\n\r\n", b"# a"]),
    "no end, fast": lambda: repeat(FOUND + b"#" * 65536),
    "no end, slow": lambda: repeat(FOUND + b"# \n"),
    "no queue": lambda: iter([FOUND, SAMPLES % (b"sum", b"1"), b"redisson_dq_handling_seconds_count 1\n"]),
    **{
        number: lambda number=number: iter(  # type: ignore[misc]
            [FOUND, SAMPLES % (b'sum{queue="q"}', number.encode()), ONE]
        )
        for number in ("NaN", "+Inf", "-Inf", "-1", "1e308")
    },
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_whatever_a_worker_answers_the_exporter_goes_on(answer: str) -> None:
    is_over = threading.Event()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            for piece in ANSWERS[answer]():
                try:
                    connection.sendall(piece)
                except OSError:
                    break
                if "slow" in answer and is_over.wait(0.05):
                    break

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        times = HandlingTimes([f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"], 2.5, timeout=0.5)
        found = times.of("q")
        is_over.set()
        thread.join()
    assert found in ((1e308,) if answer == "1e308" else (0.0, 2.5))
    assert found is not None
    assert slots_for(1000, found, 60) >= 0


def test_no_password_is_in_the_address_of_a_worker() -> None:
    with pytest.raises(ArgumentError, match="no user and no password") as raised:
        HandlingTimes(["http://ada:secret@127.0.0.1/metrics"], None)
    assert "secret" not in str(raised.value)


def lateness(handlings: list[float], within: float) -> list[float]:
    """When each item of the wave begins, after its due time. The scaler knows items ``within`` seconds before they are
    due, and the handling times by their mean so far, as an exporter does.
    """
    mean = sum(handlings) / len(handlings)
    # When each slot is free. One pod always runs.
    free = [0.0] * SLOTS
    late: list[float] = []
    left = list(handlings)
    for now in range(0, AT + 3600, ASKS):
        seen = len(left) if now >= AT - within else 0
        pods = -(-slots_for(seen, mean, DRAIN) // SLOTS)
        for _ in range(max(0, pods * SLOTS - len(free))):
            heapq.heappush(free, now + STARTS)
        while left and max(free[0], AT) < now + ASKS:
            begins = max(heapq.heappop(free), AT)
            late.append(begins - AT)
            heapq.heappush(free, begins + left.pop())
    assert not left
    return sorted(late)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_a_wave_is_in_time_where_what_is_due_decides(seed: int) -> None:
    """Handling times are those of calls to other services: half a second, some of them ten."""
    chance = random.Random(seed)
    handlings = [min(10, chance.lognormvariate(-0.7, 0.8)) for _ in range(ITEMS)]
    by_depth, by_due = lateness(handlings, 0), lateness(handlings, STARTS + 2 * ASKS)
    half = ITEMS // 2
    print(f"begun by depth: half after {by_depth[half]:.0f} s, all after {by_depth[-1]:.0f} s")
    print(f"begun by what is due: half after {by_due[half]:.0f} s, all after {by_due[-1]:.0f} s")
    # All begins within the time that was asked for, and only so.
    assert by_due[-1] <= DRAIN
    assert by_depth[-1] >= DRAIN + STARTS / 2
    assert by_depth[half] > by_due[half] + STARTS / 2
