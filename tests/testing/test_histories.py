"""Random histories, each played with a test's clock and in real time: what is seen, and the end, are equal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DuplicateItemError
from redisson_dq.worker import Retry, fixed
from tests.flavours import Flavour
from tests.testing.times import RealTime, Time, in_time

#: A history has so many steps, a tick apart. All that it offers has come so many ticks later.
STEPS, LAST = 8, 12
#: The shortest tick in real time. A machine that other tests keep busy needs a longer one.
SHORTEST = timedelta(milliseconds=60)
#: A step has to be done so soon after its time, in ticks: moments are further apart than that.
IN_TIME = 0.05

CALLS: tuple[str, ...] = ("offer", "named", "window", "many", "work", "expiring", "every", "receive", "poll")
CALLS += ("offer", "receive", "ack", "nack", "reject", "extend", "cancel", "move", "run now")
SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)

steps = st.lists(
    st.tuples(
        st.sampled_from(CALLS),
        st.integers(0, 4),
        st.integers(0, 2),
    ),
    min_size=3,
    max_size=STEPS,
)


class Late(Exception):
    """The machine was too busy to keep the times of a history."""


@attrs.define
class Play:
    """One history in one of both times."""

    time: Time
    client: Any
    history: list[tuple[str, int, int]]
    seen: list[Any] = attrs.field(factory=list)
    handled: list[tuple[str, int]] = attrs.field(factory=list)
    held: list[Any] = attrs.field(factory=list)

    def run(self, worker: Any) -> tuple[Any, ...]:
        began = self.time.now + self.time.tick
        delayed, queue = self.client.delayed_queue("orders"), self.client.blocking_queue("orders")
        worker.handler("work", retry=Retry(limit=3, backoff=fixed(1.3 * self.time.tick.total_seconds())))(self.handle)
        with worker:
            for number, (what, ticks, which) in enumerate(self.history):
                self.go_to(began + number * self.time.tick, queue)
                # Each due time has a place of its own between two steps. A span begins some time after its step.
                at = began + (number + ticks + 0.06 + 0.025 * (number + 1)) * self.time.tick
                span = (ticks + 0.3 + 0.06 * number) * self.time.tick
                self.seen.append((what, self.step(what, str(number), at, span, which, delayed, queue)))
                self.check(began + number * self.time.tick)
            for offer in delayed.recurring():
                delayed.cancel_recurring(offer.id)
            self.go_to(began + (len(self.history) + LAST) * self.time.tick, queue)
            self.time.is_so(lambda: self.is_over(queue) and self.is_over(self.client.blocking_queue("work")))
        return self.seen, sorted(self.handled), [self.end(name) for name in ("orders", "work")]

    def handle(self, value: str, event: Any) -> None:
        self.handled.append((value, event.attempt))
        if int(value) % 3 >= event.attempt or int(value) % 3 == 2:
            raise ValueError(value)

    def go_to(self, moment: Any, queue: Any) -> None:
        self.time.pass_by(max(0.0, (moment - self.time.now) / self.time.tick))
        if isinstance(self.time, RealTime):
            self.time.is_so(lambda: queue.stats().overdue == 0)

    def check(self, moment: Any) -> None:
        if isinstance(self.time, RealTime) and self.time.now - moment > IN_TIME * self.time.tick:
            raise Late

    def is_over(self, queue: Any) -> bool:
        stats = queue.stats()
        return bool(stats.waiting == stats.in_flight == 0)

    def end(self, name: str) -> Any:
        queue, delayed = self.client.blocking_queue(name), self.client.delayed_queue(name, transfer=False)
        letters = [(letter.value, letter.reason, letter.attempts) for letter in queue.dead_letters()]
        return queue.read_all(), sorted(letters), delayed.expired_count()

    def step(self, what: str, name: str, at: Any, span: timedelta, which: int, delayed: Any, queue: Any) -> Any:
        held = self.held[which] if which < len(self.held) else None
        match what:
            case "offer":
                delayed.offer(name, at=at)
            case "many":
                delayed.offer_all([(f"{name}.{each}", span) for each in range(3)])
            case "named" | "window":
                options: Any = {"id": f"id-{which}"} if what == "named" else {"deduplicate_for": span}
                try:
                    delayed.offer(name if what == "named" else f"equal {which}", at=at, **options)
                except DuplicateItemError:
                    return "a duplicate"
            case "work":
                self.client.delayed_queue("work").offer(name, at=at)
            case "expiring":
                delayed.offer(name, at=at, expires=self.time.tick * 9)
            case "every":
                delayed.offer_recurring(name, f"every-{which}", every=(1 + which) * self.time.tick, start=at)
            case "poll":
                return queue.poll()
            case "receive":
                delivery = queue.receive(timeout=0, visibility_timeout=span)
                if delivery is not None:
                    self.held.append(delivery)
                    return delivery.value, delivery.attempt
            case "ack":
                return held and held.ack()
            case "nack":
                return held and held.nack(delay=span)
            case "reject":
                return held and held.reject("no")
            case "extend":
                return held and held.extend(span)
            case "cancel":
                return delayed.cancel(f"id-{which}")
            case "move":
                return delayed.reschedule(f"id-{which}", at=at)
            case "run now":
                return delayed.run_now(f"id-{which}")
        return None


def played(flavour: Flavour, url: str, kind: str, history: list[tuple[str, int, int]], tick: timedelta) -> Any:
    with ExitStack() as stack:
        the_time = stack.enter_context(in_time(kind, url, tick=tick))
        # Ten minutes are a small part of a test's tick, and many real ones.
        remember = (29 * the_time.tick).total_seconds()
        client = stack.enter_context(flavour.connect(url, codec=StringCodec(), remember=remember))
        return Play(the_time, client, history).run(flavour.worker(client))


@attrs.define
class Pace:
    """The tick in real time, as short as the machine can keep it at present."""

    tick: timedelta = SHORTEST

    def slow_down(self) -> None:
        self.tick *= 2
        assert self.tick < timedelta(seconds=5), "this machine is too busy for any history"

    def speed_up(self) -> None:
        self.tick = max(SHORTEST, self.tick / 2)


def check(
    flavour: Flavour, url: str, empty: Callable[[], Any], pace: Pace, history: list[tuple[str, int, int]]
) -> None:
    empty()
    # The fate of an item is known for two days. So a whole history has to be shorter.
    tested = played(flavour, url, "test", history, timedelta(hours=1))
    while True:
        empty()
        try:
            real = played(flavour, url, "real", history, pace.tick)
        except Late:
            pace.slow_down()
            continue
        note(f"a tick of {pace.tick}")
        # A history that begins too fast is played in vain, and a busy machine would play most of them so.
        pace.speed_up()
        assert tested == real
        return


@pytest.fixture
def empty(admin: Any) -> Callable[[], Any]:
    return admin.flushall  # type: ignore[no-any-return]


@pytest.fixture
def pace() -> Pace:
    return Pace()


@settings(max_examples=2, suppress_health_check=SLOW)
@given(history=steps)
def test_histories(
    flavour: Flavour, url: str, empty: Callable[[], Any], pace: Pace, history: list[tuple[str, int, int]]
) -> None:
    check(flavour, url, empty, pace, history)


# Each takes a second or two of real time, and ten on a busy machine.
@pytest.mark.timeout(1200)
@pytest.mark.nightly
@settings(max_examples=40, suppress_health_check=SLOW)
@given(history=steps)
def test_many_histories(
    flavour: Flavour, url: str, empty: Callable[[], Any], pace: Pace, history: list[tuple[str, int, int]]
) -> None:
    check(flavour, url, empty, pace, history)
