"""What the methods of a worker that take a handler show of its options."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

import pytest

from redisson_dq import worker
from redisson_dq.aio import worker as aio_worker
from redisson_dq.errors import ArgumentError
from redisson_dq.working.handlers import declared
from redisson_dq.working.limits import Limit, Rate

OPTIONS = [each for each in inspect.signature(declared).parameters.values() if each.kind is each.KEYWORD_ONLY]


@pytest.mark.parametrize("kind", [worker.Worker, aio_worker.Worker])
@pytest.mark.parametrize("method", ["handler", "batch_handler", "add_handler"])
def test_help_lists_the_options_with_their_defaults(kind: Any, method: str) -> None:
    shown = inspect.signature(getattr(kind, method)).parameters
    assert list(shown.values())[-len(OPTIONS) :] == OPTIONS
    assert shown["crash_limit"].default == 5
    assert not [each for each in shown.values() if each.kind is each.VAR_KEYWORD]


@pytest.mark.parametrize("kind", [worker.Worker, aio_worker.Worker])
def test_connect_makes_a_worker_of_a_subclass_by_its_constructor(kind: Any) -> None:
    class Ours(kind):  # type: ignore[misc]
        def __init__(self, client: Any, **options: Any) -> None:
            super().__init__(client, **options)
            self.ready = True

    made = Ours.connect("redis://localhost:6379/0", grace=7)
    assert (made.ready, made.grace) == (True, 7)


@pytest.mark.parametrize("options", [{"concurency": 8}, {"batch": 5}])
def test_an_option_that_there_is_not_is_refused(options: Any) -> None:
    made: Any = worker.Worker.connect("redis://localhost:6379/0")
    with pytest.raises(TypeError, match=next(iter(options))):
        made.handler("orders", **options)(print)
    assert made.handlers == []


class Sender:
    def __call__(self, value: Any) -> None: ...

    def send(self, value: Any) -> None: ...


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda value: None, lambda value: value),
        (functools.partial(print, 1), functools.partial(print, 2)),
        (Sender(), Sender()),
        (Sender().send, Sender().send),
    ],
    ids=["lambda", "partial", "object", "method"],
)
def test_two_functions_of_one_name_share_no_limit_by_mistake(first: Any, second: Any) -> None:
    made = worker.Worker.connect("redis://localhost:6379/0")
    made.add_handler(first, "orders", int, rate=Rate(1))
    for queue in ("orders", "others"):
        with pytest.raises(ArgumentError, match=r'share rate=: give each .* rate=Rate\(\.\.\., name="partner"\)'):
            made.add_handler(second, queue, str, rate=Rate(1))
        with pytest.raises(ArgumentError, match=r"shares rate= with a handler of queue 'orders', which has Rate\("):
            made.add_handler(first, queue, str, rate=Rate(2))
        # One function with one rate is meant to share it. A name of its own keeps a handler apart.
        made.add_handler(first, queue, str, rate=Rate(1))
        made.add_handler(second, queue, list, rate=Rate(1, name="second"), limit=Limit(3))
    made.add_handler(second, "orders", bytes, key=len)
    made.remove_handler(first)
    made.add_handler(second, "orders", str, rate=Rate(2))


def test_handlers_that_share_a_name_give_it_one_limit() -> None:
    made = worker.Worker.connect("redis://localhost:6379/0")
    made.add_handler(print, "orders", rate=Rate(10, name="partner"), limit=Limit(2, name="partner"))
    made.add_handler(len, "bills", rate=Rate(10, name="partner"))
    with pytest.raises(ArgumentError, match=r"shares limit= with a handler of queue 'orders', which has Limit\("):
        made.add_handler(len, "mails", limit=Limit(3, name="partner"))
    with pytest.raises(ArgumentError, match=r'rate= name= is a text such as "partner", not'):
        Rate(10, name=5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r'limit= name= is a text such as "partner", not'):
        Limit(10, name="")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"on_failed": lambda value, event: None}, "on_failed= must be a function of the value, the event and the error"),
    ({"on_failed": lambda value, event, *, error: None}, "on_failed= must be a function of the value, the event"),
    ({"on_failed": lambda value, event, error, session: None}, "on_failed= must be a function of the value, the event"),
    ({"when": lambda: True}, "when= must be a function of the value, not the function"),
    ({"key": lambda value, event: 1}, "key= must be a function of the value, not the function"),
    ({"unique_by": lambda: 1, "unique_for": 5}, "unique_by= must be a function of the value, not the function"),
]


@pytest.mark.parametrize(("options", "text"), WRONG)
def test_a_function_that_cannot_be_called_is_refused_when_it_is_declared(options: Any, text: str) -> None:
    made = worker.Worker.connect("redis://localhost:6379/0")
    with pytest.raises(ArgumentError, match=f"^handler 'print' of queue 'orders': {re.escape(text)}"):
        made.add_handler(print, "orders", **options)
    with pytest.raises(ArgumentError, match="a hook must be a function of the happening, not the function"):
        made.on()(lambda: None)
    assert made.handlers == []


def saved(value: Any, event: Any, error: Exception, attempts: int = 3) -> None: ...


@pytest.mark.parametrize("function", [saved, print, lambda *given: None, functools.partial(saved, attempts=2)])
def test_a_function_that_can_be_called_is_taken(function: Any) -> None:
    made = worker.Worker.connect("redis://localhost:6379/0")
    made.add_handler(print, "orders", on_failed=function)
    assert [each.on_failed for each in made.handlers] == [function]
