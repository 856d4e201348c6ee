"""Time is read in one place: Redis's in one part of the scripts and one request, the client's by its clock."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import redisson_dq

PACKAGE = Path(redisson_dq.__file__).parent

#: Modules and folders that read the machine's time, or wait by it, with the reason.
EXCEPTIONS = {
    "scheduling/clock.py": "the clock itself",
    "scheduling/times.py": "the machine's calendar, which health() compares with the server's",
    "_concurrency/waiting.py": "lets others go first, for no time that decides anything",
    "_concurrency/tasks.py": "the end of a thread or a task, which takes real time",
    "_concurrency/handler_pools.py": "the end of cancelled tasks, which takes real time",
    "_concurrency/stacks.py": "an event loop that stands still, where no timer of a loop runs",
    "_redis/own_connection.py": "the reply of a server, which takes real time",
    "_redis/replies.py": "the reply of a server, which takes real time",
    "_redis/pools.py": "the age of connections, whose names a real DNS server may have led elsewhere since",
    "otel/": "the beginning of a span, which is a moment of the calendar",
    "prometheus/collector.py": "a scrape, which a monitor waits for in real time",
    "prometheus/demand.py": "the port of a worker, which is asked now and then, and answers in real time",
    "embedded/": "the start and the end of a server process",
    "testing/": "the clock of tests itself, and the patience with which it waits for the test's own threads and tasks",
    "web/": "the live stream and its tabs, which people look at in real time",
    "cli/": "the processes of a worker, the sessions of its pages, the figures of the demo",
}

#: Attributes of asyncio that wait by the time of the loop. ``wait`` does with ``timeout=``.
_OF_ASYNCIO = {"sleep", "wait_for", "timeout", "timeout_at"}
#: Attributes of a loop that do, and of a date that read the machine's calendar clock.
_OF_LOOPS, _OF_DATES = {"call_later", "call_at"}, {"now", "utcnow", "today"}


def time_of(tree: ast.AST) -> Iterator[str]:
    """Every place of a module that reads the machine's time, or waits by it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name == "time")
        elif isinstance(node, ast.ImportFrom) and node.module in ("time", "asyncio", "redis.asyncio.connection"):
            names = {alias.name for alias in node.names}
            wrong = names if node.module == "time" else names & {*_OF_ASYNCIO, "async_timeout"}
            yield from sorted(f"{node.module}.{name}" for name in wrong)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
            if (owner == "asyncio" and name in _OF_ASYNCIO) or (owner in ("datetime", "date") and name in _OF_DATES):
                yield f"{owner}.{name}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, ast.unparse(node.func.value)
            has_timeout = any(keyword.arg == "timeout" for keyword in node.keywords)
            # A client's clock has a method of that name.
            if (name in _OF_LOOPS and not owner.endswith("clock")) or (
                name == "wait" and owner == "asyncio" and has_timeout
            ):
                yield f"{owner}.{name}"


@functools.cache
def found() -> dict[str, list[str]]:
    """By module. Generated modules are left out."""
    modules = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    places = {
        name: list(time_of(ast.parse(path.read_text("utf-8"))))
        for name, path in modules.items()
        if not name.startswith("_sync/")
    }
    return {name: each for name, each in places.items() if each}


def test_the_clock_of_the_client_alone_tells_its_time() -> None:
    assert {name: places for name, places in found().items() if not name.startswith(tuple(EXCEPTIONS))} == {}


def test_each_exception_is_one() -> None:
    modules = found()
    stale = [place for place in EXCEPTIONS if not any(name.startswith(place) for name in modules)]
    assert stale == []


@pytest.mark.parametrize(
    "code",
    [
        "import time",
        "from time import monotonic",
        "import asyncio\nasyncio.sleep(1)",
        "from asyncio import wait_for",
        "asyncio.wait(tasks, timeout=1)",
        "self._loop.call_later(1, call)",
        "woken.get_loop().call_at(1, call)",
        "datetime.now(timezone.utc)",
    ],
)
def test_a_module_that_reads_the_time_by_itself_is_found(code: str) -> None:
    assert list(time_of(ast.parse(code)))


def test_a_module_that_asks_the_clock_is_not() -> None:
    code = "self._clock.call_later(loop, 1, call)\nclock.monotonic()\nawait asyncio.wait(tasks)\nswitch.wait(1)"
    assert list(time_of(ast.parse(code))) == []


def test_locks_are_waited_for_with_a_time_where_they_are_the_clocks() -> None:
    modules = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    assert sorted(name for name, text in modules.items() if ".acquire(timeout=" in text) == [
        "_concurrency/waiting.py",
        "scheduling/timer.py",
        "testing/_waits.py",
    ]
    assert "threading.Lock" not in modules["_concurrency/waiting.py"]


def test_the_time_of_the_server_is_read_in_one_script_and_in_one_request() -> None:
    asked = re.compile(r"""["']TIME["']""")
    scripts = [path.name for path in sorted(PACKAGE.rglob("*.lua")) if asked.search(path.read_text("utf-8"))]
    assert scripts == ["clock.lua"]
    # One module lists the commands that only read, and the doctor looks whether scripts may ask. The clock of tests
    # answers in the place of Redis.
    modules = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]
    assert [name for name in modules if asked.search((PACKAGE / name).read_text("utf-8"))] == [
        "doctor/commands.py",
        "scripts/script.py",
        "testing/_scripts.py",
        "wire/commands.py",
    ]
