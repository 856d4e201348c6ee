"""The examples of the docstrings give what they show, against a real server.

Beside redisson_dq itself an example finds ``client``, and of one fresh queue ``queue`` (a blocking_deque) and
``delayed`` (its delayed side), the names of redisson_dq.worker and a ``worker``.
Those of the asyncio flavour are the same with ``await``, so they are not run again.
"""

from __future__ import annotations

import copy
import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import redisson_dq
from redisson_dq import worker as workers
from redisson_dq.embedded import EmbeddedServer


def modules() -> Iterator[ModuleType]:
    yield redisson_dq
    for found in pkgutil.walk_packages(redisson_dq.__path__, "redisson_dq."):
        if not found.name.startswith("redisson_dq._async") and not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def examples(module: ModuleType) -> list[doctest.DocTest]:
    """One for each docstring of the module that has any."""
    path = getattr(module, "__file__", None)
    if path is not None and ">>>" not in Path(path).read_text("utf-8"):
        return []  # looking for docstrings takes longer than looking into the file
    return [found for found in doctest.DocTestFinder().find(module, module.__name__) if found.examples]


def report_of(example: doctest.DocTest, server: EmbeddedServer) -> str:
    """Runs a docstring's examples one after the other; empty when all gave what they show."""
    report: list[str] = []
    with redisson_dq.connect(server.url) as client:
        queue = client.blocking_deque("orders")
        names = {"redisson_dq": redisson_dq, "client": client, "queue": queue, "delayed": client.delayed_queue(queue)}
        names |= {name: getattr(workers, name) for name in workers.__all__}
        names["worker"] = workers.Worker(client)
        # A run empties the names that it was given, and an example runs on each server.
        example = copy.copy(example)
        example.globs = {**example.globs, **names}
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    return "".join(report)


@pytest.mark.parametrize(
    "example", [pytest.param(example, id=example.name) for module in modules() for example in examples(module)]
)
def test_example_gives_what_it_shows(server: EmbeddedServer, example: doctest.DocTest) -> None:
    assert report_of(example, server) == ""


def test_examples_are_found_and_run(server: EmbeddedServer) -> None:
    module = ModuleType("shown")
    exec(_SHOWN, module.__dict__)
    good, wrong = examples(module)
    assert report_of(good, server) == ""
    assert "Expected:\n    'order-44'\nGot:\n    'order-43'\n" in report_of(wrong, server)


_SHOWN = '''
def good():
    """
    >>> queue.is_empty(), delayed.is_empty()
    (True, True)
    >>> item = delayed.offer("order-42", delay=0)
    >>> queue.poll(timeout=5)
    'order-42'
    >>> client.blocking_queue("orders").poll(limit=-1)
    Traceback (most recent call last):
    redisson_dq.errors.ArgumentError: queue 'orders': a limit must be a positive int, not -1
    """

def none():
    """No example."""

def wrong():
    """
    >>> delayed.offer("order-43", delay=0)
    >>> queue.poll(timeout=5)
    'order-44'
    """
'''
