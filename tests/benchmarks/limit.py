"""The lateness of the machine itself in the same minute: a timer and a blocked pop, without this library."""

from __future__ import annotations

import threading
import time

import redis

from tests.benchmarks.measures import percentile

__all__ = ["limit_us"]

_KEY = "benchmark-limit"
_TRIES = 150
_PAUSE = 0.004


def limit_us(url: str) -> float:
    """The sum of two medians: ``Event.wait`` beyond its timeout, and RPUSH until a blocked BLPOP returns."""
    return percentile(_waits_us(), 50) + percentile(_pops_us(url), 50)


def _waits_us() -> list[float]:
    never, late = threading.Event(), []
    for _ in range(_TRIES):
        began = time.perf_counter_ns()
        never.wait(_PAUSE)
        late.append((time.perf_counter_ns() - began) / 1000 - _PAUSE * 1e6)
    return late


def _pops_us(url: str) -> list[float]:
    took: list[float] = []

    def pop() -> None:
        with redis.Redis.from_url(url) as consumer:
            for _ in range(_TRIES):
                found = consumer.blpop([_KEY], timeout=10)
                came = time.perf_counter_ns()
                if found is None:
                    return
                took.append((came - int(found[1])) / 1000)

    popping = threading.Thread(target=pop)
    popping.start()
    with redis.Redis.from_url(url) as producer:
        for _ in range(_TRIES):
            time.sleep(_PAUSE)
            producer.rpush(_KEY, time.perf_counter_ns())
    popping.join()
    if len(took) < _TRIES:
        raise RuntimeError("a plain BLPOP did not get what a plain RPUSH had given")
    return took
