"""What the methods of a worker that take a handler show of its options."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from redisson_dq import worker
from redisson_dq.aio import worker as aio_worker
from redisson_dq.working.handlers import declared

OPTIONS = [each for each in inspect.signature(declared).parameters.values() if each.kind is each.KEYWORD_ONLY]


@pytest.mark.parametrize("kind", [worker.Worker, aio_worker.Worker])
@pytest.mark.parametrize("method", ["handler", "batch_handler", "add_handler"])
def test_help_lists_the_options_with_their_defaults(kind: Any, method: str) -> None:
    shown = inspect.signature(getattr(kind, method)).parameters
    assert list(shown.values())[-len(OPTIONS) :] == OPTIONS
    assert shown["crash_limit"].default == 10
    assert not [each for each in shown.values() if each.kind is each.VAR_KEYWORD]


@pytest.mark.parametrize("options", [{"concurency": 8}, {"batch": 5}])
def test_an_option_that_there_is_not_is_refused(options: Any) -> None:
    made: Any = worker.Worker.connect("redis://localhost:6379/0")
    with pytest.raises(TypeError, match=next(iter(options))):
        made.handler("orders", **options)(print)
    assert made.handlers == []
