"""Options that several calls share: each call shows them all, takes no others, and has the defaults of one function."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import redis
import redis.asyncio

import redisson_dq
from redisson_dq import aio, worker
from redisson_dq._async.queues.leaser import Receiving
from redisson_dq._common.signatures import with_options_of
from redisson_dq.aio import worker as aio_worker
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.offers import OfferOptions
from redisson_dq.calls.open_queue import LeaseTerms, OpenQueue
from redisson_dq.calls.partitioned import PartitionedDelayedRequests
from redisson_dq.working.settings import WorkerOptionNames, WorkerOptions


def options(function: Callable[..., Any]) -> dict[str, Any]:
    """The names of its options, in order, and their defaults."""
    shown = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in shown if each.kind is each.KEYWORD_ONLY}


@pytest.mark.parametrize(
    ("typed", "function"), [(OfferOptions, DelayedRequests.offer), (LeaseTerms, OpenQueue)], ids=["offer", "terms"]
)
def test_what_type_checkers_know_is_what_is_taken(typed: Any, function: Callable[..., Any]) -> None:
    assert list(typed.__annotations__) == list(options(function))


@pytest.mark.parametrize("kind", [worker.Worker, aio_worker.Worker])
def test_a_worker_with_a_client_of_its_own_has_the_defaults_of_every_worker(kind: Any) -> None:
    assert options(kind) == options(kind.connect) == options(WorkerOptions)
    assert list(WorkerOptionNames.__annotations__) == list(options(WorkerOptions))


@pytest.mark.parametrize("flavour", [redisson_dq, aio])
def test_every_call_shows_the_options_with_their_defaults(flavour: Any) -> None:
    offer, terms, receive = options(DelayedRequests.offer), options(OpenQueue), options(Receiving)
    assert options(flavour.DelayedQueue.offer) == offer
    assert options(flavour.PartitionedDelayedQueue.offer) == {"key": None, **offer}
    assert options(PartitionedDelayedRequests.offer) == {"key": None, **offer}
    assert options(flavour.Client.blocking_queue) == {"type": None, "transfer": True, "partitions": None, **terms}
    for call in (flavour.Client.blocking_deque, flavour.Client.bounded_blocking_queue):
        assert options(call) == {"type": None, "transfer": True, **terms}
    for handle in (flavour.BlockingQueue, flavour.PartitionedBlockingQueue):
        assert options(handle.receive) == {"timeout": None, **receive}


def test_an_option_that_does_not_exist_is_a_type_error_that_names_it() -> None:
    client: Any = redisson_dq.Client(redis.Redis())
    calls: list[Callable[[], object]] = [
        lambda: client.blocking_queue("orders", transfer=False, delivery_limits=10),
        lambda: client.bounded_blocking_queue("orders", transfer=False, delivery_limits=10),
        lambda: client.blocking_queue("orders", transfer=False).receive(timeout=0, delivery_limits=10),
        lambda: client.delayed_queue("orders", transfer=False).offer("42", 5, delivery_limits=10),
        lambda: client.delayed_queue("orders", transfer=False, partitions=2).offer("42", 5, delivery_limits=10),
        lambda: client.delayed_queue("orders", transfer=False).requests.offer("42", 5, delivery_limits=10),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="unexpected keyword argument 'delivery_limits'"):
            call()
    client.close()


def test_an_option_that_does_not_exist_is_the_same_error_with_asyncio() -> None:
    async def scene() -> None:
        client: Any = aio.Client(redis.asyncio.Redis())
        with pytest.raises(TypeError, match="unexpected keyword argument 'delivery_limits'"):
            await client.delayed_queue("orders", transfer=False).offer("42", 5, delivery_limits=10)
        await client.close()

    asyncio.run(scene())


def test_a_function_keeps_its_own_arguments_and_shows_the_options_of_the_other() -> None:
    def taking(first: int, /, *, second: int = 2, **rest: int) -> int:
        return first + second + sum(rest.values())

    @with_options_of(taking)
    def passing(first: int, third: int = 3, *, own: bool = True, **more: Any) -> int:
        """Adds."""
        return taking(first, **more)

    assert str(inspect.signature(passing)) == (
        "(first: 'int', third: 'int' = 3, *, own: 'bool' = True, second: 'int' = 2) -> 'int'"
    )
    assert (passing(1, second=5), passing.__doc__) == (6, "Adds.")
