"""The list of a client's observers: in which order they are called, and that their errors end there."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import attrs
import pytest

from redisson_dq import observing
from redisson_dq.errors import ArgumentError, DecodeError
from redisson_dq.observing import Answered, Away, Happening, Moved, Observers, Sent
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.working import happenings
from redisson_dq.working.hooks import Hooks

MOVED = Moved(queue="orders", count=1, late_by=None)


def test_all_are_called_in_the_order_in_which_they_came() -> None:
    heard: list[str] = []
    observers = Observers(lambda _: heard.append("first"))
    observers.add(lambda _: heard.append("second"))
    observers.tell(MOVED)
    assert heard == ["first", "second"]


def test_it_is_true_when_somebody_watches() -> None:
    observers = Observers()
    heard: list[Happening] = []
    assert not observers
    observers.add(heard.append)
    assert observers
    observers.discard(heard.append)
    assert not observers
    observers.tell(MOVED)
    assert heard == []


def test_an_observer_may_leave_while_it_is_called() -> None:
    observers = Observers()
    heard: list[str] = []

    def once(happening: Happening) -> None:
        observers.discard(once)
        heard.append("once")

    observers.add(once)
    observers.add(lambda _: heard.append("always"))
    observers.tell(MOVED)
    observers.tell(MOVED)
    assert heard == ["once", "always", "always"]


def test_the_first_error_of_each_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def first(happening: Happening) -> None:
        raise ValueError("first")

    def second(happening: Happening) -> None:
        raise ValueError("second")

    observers = Observers(first)
    observers.add(second)
    for _ in range(3):
        observers.tell(MOVED)
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["first", "second"]
    assert len(caplog.records) == 2


def test_an_error_of_the_programs_logging_comes_out_of_no_call(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def unwilling(record: logging.LogRecord) -> bool:
        raise ValueError("unwilling")

    def failing(happening: Happening) -> None:
        heard.append(happening)
        raise ValueError("failing")

    heard: list[Happening] = []
    caplog.set_level(logging.DEBUG, "redisson_dq")
    for name in ("redisson_dq", "redisson_dq.transfers"):
        logging.getLogger(name).addFilter(unwilling)
    try:
        Observers(failing).tell(MOVED)
    finally:
        for name in ("redisson_dq", "redisson_dq.transfers"):
            logging.getLogger(name).removeFilter(unwilling)
    assert heard == [MOVED]
    # It is shown as logging shows the errors of its own handlers: of the happening's line, and of the observer's.
    assert capsys.readouterr().err.count("ValueError: unwilling") == 2


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_error_of_an_observer(interruption: type[BaseException]) -> None:
    """A signal may strike while an observer runs."""

    def interrupted(happening: Happening) -> None:
        raise interruption

    observers = Observers(interrupted)
    for _ in range(2):
        with pytest.raises(interruption):
            observers.tell(MOVED)
    # No signal strikes in another thread, so there it is the observer's own.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(observers.tell, MOVED).result()


def test_happenings_of_other_threads_are_told_meanwhile() -> None:
    observers = Observers()
    heard: list[int] = []

    def watch(happening: Moved) -> None:
        heard.append(happening.count)
        if happening.count == 1:
            observers.tell(attrs.evolve(happening, count=3))
            other = threading.Thread(target=lambda: observers.tell(attrs.evolve(happening, count=2)))
            other.start()
            other.join()

    observers.add(watch)  # type: ignore[arg-type]
    observers.tell(MOVED)
    assert heard == [1, 2]


def test_an_answer_has_the_number_of_its_request() -> None:
    heard: list[Any] = []
    observers = Observers(heard.append)
    error = ValueError()
    with observers.exchange([("LLEN", ("orders",)), ("LPOP", ("orders",))], SYSTEM) as errors:
        errors[1] = error
    assert [type(each) for each in heard] == [Sent, Sent, Answered, Answered]
    assert [each.request for each in heard] == ["LLEN", "LPOP", "LLEN", "LPOP"]
    assert heard[0].number == heard[2].number != heard[1].number == heard[3].number
    assert (heard[2].error, heard[3].error) == (None, error)


def test_an_error_that_ends_an_exchange_is_that_of_each_request() -> None:
    heard: list[Any] = []
    error = ValueError("broken")
    with (
        pytest.raises(ValueError, match="broken"),
        Observers(heard.append).exchange([("LLEN", ()), ("BLPOP", ())], SYSTEM),
    ):
        raise error
    assert [each.error for each in heard[2:]] == [error, error]


OF_VALUE: dict[str, Any] = {"queue": "orders", "id": "ab12", "attempt": 2, "handler": "charge"}
OF_LEASE: dict[str, Any] = {"queue": "orders", "id": "ab12", "offer_id": "71", "attempt": 2}
UNREAD = DecodeError("no such class", codec="Kryo5Codec", data=b"a")


@pytest.mark.parametrize(
    ("happening", "level", "text"),
    [
        (Away(error=ConnectionError("gone")), logging.WARNING, "Redis cannot be reached: gone"),
        (
            observing.TookLong(queue="orders", call="delete()", duration=timedelta(seconds=0.25)),
            logging.WARNING,
            "queue 'orders': delete() took 0.2 s, with everything that was sent along. Redis does it in one step, "
            "whatever its size, and serves no other client meanwhile; docs/limits.md names calls that do less at a "
            "time",
        ),
        (
            observing.Buried(queue="orders", count=3, limit=10, kept_in="dead"),
            logging.WARNING,
            "queue 'orders': 3 values were delivered 10 times and are in the list 'dead' now; dead_letters() of the "
            "queue shows them, and redrive() brings them back",
        ),
        (
            observing.AckedTooLate(**OF_LEASE),
            logging.WARNING,
            "queue 'orders': the lease of ab12 (offered as '71') had ended before its ack; a longer "
            "visibility_timeout= gives more time",
        ),
        (
            happenings.Failed(**OF_VALUE, error=KeyError("a"), duration=timedelta(0), delay=timedelta(seconds=5)),
            logging.WARNING,
            "queue 'orders': charge failed, and ab12 comes again in 5.0 s: KeyError: 'a'",
        ),
        (
            happenings.Failed(**OF_VALUE, error=KeyError("a"), duration=timedelta(0), why="2 attempts"),
            logging.ERROR,
            "queue 'orders': ab12 is given up: 2 attempts: KeyError: 'a'",
        ),
        (
            happenings.Unhandled(**OF_VALUE, reason="no handler takes a builtins.str"),
            logging.ERROR,
            "queue 'orders': ab12 is moved to the dead letters: no handler takes a builtins.str",
        ),
        (
            happenings.Unreadable(queue="orders", count=1, error=UNREAD),
            logging.ERROR,
            f"queue 'orders': 1 value cannot be read: {UNREAD}",
        ),
    ],
    ids=lambda given: type(given).__name__,
)
def test_the_log_is_told_where_nobody_watches(
    happening: Happening, level: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    Observers().tell(happening)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(level, text)]
    is_given_up = isinstance(happening, happenings.Failed) and happening.delay is None
    assert [bool(record.exc_info) for record in caplog.records] == [is_given_up]


@pytest.mark.parametrize("module", [observing, happenings])
def test_each_happening_is_frozen_small_and_documented(module: Any) -> None:
    kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Happening)]
    assert len(kinds) > 10
    for kind in kinds:
        assert attrs.has(kind)
        assert "__slots__" in vars(kind), kind
        assert kind.__setattr__ is not object.__setattr__, kind
        assert kind.__doc__


def test_what_is_added_can_be_called() -> None:
    with pytest.raises(ArgumentError, match="an observer must be a function of one argument, not 5"):
        Observers(5)  # type: ignore[arg-type]


def test_a_class_with_a_line_in_the_log_is_told_without_hooks_and_observers() -> None:
    hooks = Hooks()
    assert hooks.hears(happenings.TimedOut)
    assert not hooks.hears(happenings.Received, happenings.Succeeded)
    hooks.add((happenings.OfValue,), print)
    assert hooks.hears(happenings.Received)
    watched = Hooks()
    watched.observers = Observers(print)
    assert watched.hears(happenings.Received)
