"""Handlers that end in unexpected ways: no value is acked unhandled, and none remains stuck in the worker."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.java import java_class
from redisson_dq.worker import DeadLettered, Failed, Reject, Retried, Retry, Succeeded, fixed
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.whereabouts import whereabouts
from tests.workers.handlers import Ledger, Log, at_rest, forever, running

ONCE = Retry(limit=1)
_marked: contextvars.ContextVar[str] = contextvars.ContextVar("marked", default="")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("there is no text")

    __repr__ = __str__


class LeavesForText(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class Leave(BaseException):
    pass


def generator(value: Any, event: Any = None, error: Any = None) -> Any:
    yield value


def raises(error: BaseException) -> Callable[[Any], None]:
    def handle(value: Any) -> None:
        raise error

    return handle


@pytest.mark.parametrize(
    ("handle", "reason"),
    [
        (lambda value: generator(value), "ArgumentError: the call returned a generator"),
        (raises(Unprintable()), "Unprintable, whose text cannot be had (RuntimeError)"),
        (raises(LeavesForText()), "LeavesForText, whose text cannot be had (SystemExit)"),
        (raises(SystemExit(3)), "SystemExit: 3"),
        (raises(Leave("now")), "Leave: now"),
        (raises(GeneratorExit("closed")), "closed"),
    ],
    ids=["generator", "unprintable", "text", "SystemExit", "BaseException", "GeneratorExit"],
)
def test_what_was_not_handled_is_a_failure(
    worker: Any, queue: Any, admin: Any, handle: Callable[[Any], Any], reason: str
) -> None:
    log = Log(worker)
    worker.handler("orders", retry=[Retry(limit=2, backoff=fixed(0))])(handle)
    queue.add("a")
    with running(worker):
        log.until(DeadLettered)
        at_rest(admin)
    assert len(log.of(Retried)) == 1
    (letter,) = queue.dead_letters()
    assert letter.reason.startswith("failed 2 times: ")
    assert reason in letter.reason


@pytest.mark.parametrize("layered", [False, True])
def test_a_plain_function_that_gives_a_coroutine(
    flavour: Flavour, client: Any, queue: Any, admin: Any, layered: bool
) -> None:
    """A decorator that knows nothing of coroutines. Threads have no loop for it, and asyncio awaits what it gives."""
    steps: list[Any] = []

    async def handle(value: str) -> None:
        steps.append((value, _marked.get()))
        try:
            await (forever() if value == "slow" else asyncio.sleep(0))
        except asyncio.CancelledError:
            steps.append("cancelled")
            raise
        if value == "bad":
            raise ValueError("no such order")

    def session(event: Any) -> Iterator[None]:
        steps.append("begin")
        _marked.set("in a session")
        try:
            yield
        finally:
            steps.append("end")

    @functools.wraps(handle)
    def decorated(value: str) -> Any:
        return handle(value)

    worker = flavour.worker(client)
    log = Log(worker)
    if layered:
        worker.middleware(session)
    worker.handler("orders", timeout=0.3, retry=ONCE)(decorated)
    queue.add_all(["good", "bad", "slow"])
    with running(worker):
        at_rest(admin)
        eventually(lambda: steps.count("begin") == steps.count("end"))
    reasons = [letter.reason for letter in queue.dead_letters()]
    if flavour.name == "sync":
        assert all("ArgumentError: the call returned a coroutine" in reason for reason in reasons)
        assert [len(reasons), len(log.of(DeadLettered))] == [3, 3]
        return
    assert [len(reasons), len(log.of(Succeeded))] == [2, 1]
    assert "ValueError: no such order" in reasons[0]
    assert "has not returned within" in reasons[1]
    marked = "in a session" if layered else ""
    ways: list[list[Any]] = [[(value, marked)] for value in ("good", "bad", "slow")]
    ways[2].append("cancelled")
    assert steps == [step for way in ways for step in (["begin", *way, "end"] if layered else way)]


def leave(*_: Any) -> Any:
    raise SystemExit(3)


def test_a_hook_or_a_backoff_that_wants_to_end_the_program_ends_nothing(worker: Any, queue: Any, admin: Any) -> None:
    log = Log(worker)
    worker.on()(leave)
    worker.handler("orders", retry=Retry(backoff=leave))(raises(ValueError()))
    queue.add("a")
    with running(worker):
        # What has no delay of its own comes again after a minute.
        assert log.until(Retried)[0].delay.total_seconds() == 60
        queue.add("b")
        log.until(Retried, 2)
    assert whereabouts(admin).waiting.total() == 2


_leaving: dict[int, int] = {}


@java_class("com.acme.Leaving")
@attrs.define
class Leaving:
    id: int

    def __attrs_post_init__(self) -> None:
        if _leaving.get(self.id):
            _leaving[self.id] -= 1
            raise SystemExit(3)


def test_a_class_that_wants_to_end_the_program_ends_no_receiving(flavour: Flavour, client: Any, admin: Any) -> None:
    worker, ledger, codec = flavour.worker(client, visibility_timeout=0.5), Ledger(), Kryo5Codec()
    log = Log(worker)
    worker.queue("orders", codec=codec)
    worker.handler("orders", Leaving)(ledger.handle)
    queue = client.blocking_queue("orders", codec=codec)
    queue.add_all([Leaving(1), Leaving(2), Leaving(3)])
    # What is raised once may have been a signal, which the thread of an event loop gets.
    _leaving.update({1: flavour.name == "sync", 3: 1 << 30})
    with running(worker):
        assert {ledger.next().id, ledger.next().id} == {1, 2}
        at_rest(admin)
        log.until(Succeeded, 2)
    # One that does so each time is kept, and told of once.
    _leaving.clear()
    assert [letter.value for letter in queue.dead_letters()] == [Leaving(3)]
    (dead,) = log.of(DeadLettered)
    assert "the value cannot be made: SystemExit: 3" in dead.reason
    assert len(ledger.values) == 2


# A signal handler raises while the loop's thread receives. Here the class of a value does, once.
INTERRUPTED = """
import asyncio, sys
import redisson_dq.aio.worker
from redisson_dq.codecs import StringCodec

class Interrupting(StringCodec):
    is_interrupted = False

    def decode(self, data):
        if not Interrupting.is_interrupted:
            Interrupting.is_interrupted = True
            raise SystemExit(7)
        return super().decode(data)

async def main():
    async with redisson_dq.aio.connect(sys.argv[1]) as client:
        worker = redisson_dq.aio.worker.Worker(client)
        worker.queue("orders", codec=Interrupting())
        worker.handler("orders")(print)
        async with worker:
            await client.blocking_queue("orders", StringCodec()).add("a")
            await asyncio.sleep(60)

asyncio.run(main())
"""


def test_a_signal_handler_that_ends_the_program_does_so_while_a_loop_receives(url: str) -> None:
    words = [sys.executable, "-c", INTERRUPTED, url]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 7, ran.stderr


async def cancels_another() -> None:
    other = asyncio.ensure_future(forever())
    other.cancel()
    await other


async def cancels_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await forever()


@pytest.mark.parametrize("cancels", [cancels_another, cancels_itself])
@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_cancellation_that_is_the_handler_s_own_is_a_failure(
    flavour: Flavour, client: Any, queue: Any, admin: Any, cancels: Callable[[], Awaitable[None]]
) -> None:
    async def handle(value: Any, event: Any, error: BaseException | None = None) -> None:
        if event.crashes == 0:
            await cancels()

    worker = flavour.worker(client, visibility_timeout=0.5)
    log = Log(worker)
    worker.handler("orders", retry=Retry(limit=2, backoff=fixed(0)))(handle)
    worker.handler("others", retry=ONCE, on_failed=handle)(lambda value: 1 / 0)
    client.blocking_queue("others").add("b")
    queue.add("a")
    with running(worker):
        log.until(DeadLettered, 2)
        at_rest(admin)
        at_rest(admin, "others")
    (letter,) = queue.dead_letters()
    assert (letter.reason, letter.crashes) == ("failed 2 times: CancelledError: ", 0)
    # What on_failed did not save stayed leased.
    (letter,) = client.blocking_queue("others").dead_letters()
    assert letter.crashes == 1


@pytest.mark.parametrize("flavour", ["asyncio"], indirect=True)
def test_a_handler_in_the_task_that_received_its_value(flavour: Flavour, client: Any, queue: Any, admin: Any) -> None:
    """That task receives no more. Its end, its cancellation and its context variables are the handler's alone."""
    tasks: set[Any] = set()
    seen: list[tuple[str, str]] = []
    cancelled: list[str] = []

    async def handle(value: str) -> None:
        tasks.add(asyncio.current_task())
        seen.append((value, _marked.get()))
        _marked.set(value)
        try:
            await (forever() if value in "abc" else asyncio.sleep(0))
        except asyncio.CancelledError:
            cancelled.append(value)
            raise

    def begun(value: str) -> bool:
        return seen[-1:] == [(value, "")]

    worker = flavour.worker(client)
    log = Log(worker)
    worker.handler("orders", concurrency=3, timeout=1, retry=ONCE)(handle)
    with running(worker):
        for value in "ab":
            queue.add(value)
            eventually(partial(begun, value))
        log.until(DeadLettered, 2)
        for value in "def":
            queue.add(value)
            at_rest(admin)
        # It is gone while it runs, and the client may be closed.
        queue.add("c")
        eventually(partial(begun, "c"))
        assert worker.remove_handler(handle)
        queue.add("g")
        log.until(DeadLettered, 3)
        assert worker.running == 0
    assert seen == [(value, "") for value in "abdefc"]
    assert (sorted(cancelled), len(tasks)) == (["a", "b", "c"], 6)
    assert whereabouts(admin).ready == {b"g": 1}


# Neither the worker nor the client is closed.
LEAVES = """
import asyncio, sys
import redisson_dq.aio.worker

async def main():
    begun = asyncio.Event()
    worker = redisson_dq.aio.worker.Worker(redisson_dq.aio.connect(sys.argv[1]))

    async def save(value, event, error):
        print("saved")

    @worker.handler("orders", retry=None, on_failed=save)
    async def handle(value):
        begun.set()
        await asyncio.sleep(60)

    await redisson_dq.aio.connect(sys.argv[1]).blocking_queue("orders", transfer=False).add("a")
    await worker.start()
    await begun.wait()

asyncio.run(main())
"""


def test_the_end_of_the_loop_is_no_failure_of_a_handler(admin: Any, url: str) -> None:
    ended = subprocess.run([sys.executable, "-c", LEAVES, url], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    assert ended.stdout == b""
    found = whereabouts(admin)
    assert (found.leased.total(), found.dead.total()) == (1, 0)


def test_any_reason_to_reject_is_a_text(worker: Any, queue: Any, admin: Any) -> None:
    reasons: dict[str, Any] = {"a": ValueError("no such customer"), "b": None, "c": Unprintable(), "d": "why"}

    def handle(value: str) -> None:
        raise Reject(reasons[value])

    worker.handler("orders", concurrency=2)(handle)
    queue.add_all(list(reasons))
    with running(worker):
        at_rest(admin)
    assert {letter.value: letter.reason for letter in queue.dead_letters()} == {
        "a": "ValueError: no such customer",
        "b": "rejected",
        "c": "Unprintable, whose text cannot be had (RuntimeError)",
        "d": "why",
    }


class Nothing:
    """Is neither true nor false, and has no text."""

    def __bool__(self) -> bool:
        raise SystemExit(3)

    def __repr__(self) -> str:
        raise SystemExit(3)


@pytest.mark.parametrize("option", ["when", "key"])
@pytest.mark.parametrize(
    "bad", [raises(SystemExit(3)), raises(Unprintable()), lambda value: Nothing()], ids=["exit", "unprintable", "given"]
)
def test_a_function_of_the_value_that_fails_holds_up_no_other(
    worker: Any, queue: Any, admin: Any, option: str, bad: Callable[[str], object]
) -> None:
    def choose(value: str) -> object:
        return bad(value) if value == "bad" else value

    log, ledger = Log(worker), Ledger()
    worker.handler("orders", retry=ONCE, **{option: choose})(ledger.handle)
    with running(worker):
        queue.add_all(["bad", "good"])
        ledger.some(1)
        log.until(DeadLettered)
        at_rest(admin)
    assert ledger.values == ["good"]
    assert [letter.value for letter in queue.dead_letters()] == ["bad"]


def test_an_on_failed_that_does_not_run_gives_nothing_up(worker: Any, queue: Any, admin: Any) -> None:
    log = Log(worker)
    worker.handler("orders", retry=ONCE, on_failed=lambda value, event, error: generator(value))(lambda value: 1 / 0)
    queue.add("a")
    with running(worker):
        log.until(Failed)
        eventually(lambda: queue.in_flight_size() == 1)
    assert queue.dead_letters() == []


@pytest.mark.parametrize("option", ["handler", "on_failed"])
def test_a_function_with_yield_is_refused(worker: Any, option: str) -> None:
    functions: dict[str, Any] = {"handler": print, "on_failed": None, option: generator}
    with pytest.raises(ArgumentError, match="contains a yield"):
        worker.add_handler(functions["handler"], "orders", on_failed=functions["on_failed"])


def test_the_text_of_an_exception_ends_no_block_badly(queue: Any) -> None:
    queue.add("a")
    with pytest.raises(Unprintable), queue.receive(timeout=5):
        raise Unprintable
    again = queue.receive(timeout=5)
    assert again.reason == "Unprintable, whose text cannot be had (RuntimeError)"
    assert again.ack()


@pytest.mark.parametrize("returns", [False, True], ids=["exits", "returns"])
def test_a_handler_that_forks(worker: Any, queue: Any, admin: Any, returns: bool) -> None:
    ledger = Ledger()

    def handle(value: Any, event: Any) -> None:
        child = os.fork()
        if child == 0:
            if returns:
                return
            os._exit(0 if "redisson_dq" in sys.modules else 1)
        assert os.waitpid(child, 0)[1] == 0
        ledger.note(value)

    worker.handler("orders")(handle)
    queue.add_all(["a", "b"])
    with running(worker):
        ledger.some(2)
        at_rest(admin)
    assert sorted(ledger.values) == ["a", "b"]
