"""Several requests in one round trip."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Generic, TypeVar

from redisson_dq._async.connecting.asking import without_subscribers
from redisson_dq._async.connecting.connections import Connections
from redisson_dq._common.bound import Bound
from redisson_dq._common.texts import shown
from redisson_dq._concurrency.blocks import AsyncWrongWith
from redisson_dq.calls.values import warn_of_other_types
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError, RedissonDQError
from redisson_dq.wire.request import OtherTypes, Request

__all__ = ["Pipeline", "Reply"]

T = TypeVar("T")


class Reply(Bound, Generic[T]):
    """The result of one request of a pipeline, once that was executed."""

    def __init__(self, request: Request[T]) -> None:
        self.request = request
        self._outcome: T | RedissonDQError | None = None
        self._is_there = False

    @property
    def result(self) -> T:
        """The result. Raises the error of this request; ArgumentError before the execution."""
        if not self._is_there:
            raise ArgumentError("the pipeline has not been executed yet")
        if isinstance(self._outcome, RedissonDQError):
            raise self._outcome
        return self._outcome  # type: ignore[return-value]

    def _fill(self, outcome: T | RedissonDQError) -> None:
        self._outcome, self._is_there = outcome, True


class Pipeline(AsyncWrongWith):
    """Collects requests and sends them together. Made by ``client.pipeline()``.

    The requests are those of the handles' ``requests``: the same calls, except for those that wait. As a context
    manager it executes at the end of the block, unless that raised.

    >>> async with client.pipeline() as pipe:
    ...     added = pipe.add(queue.requests.add("order-42"))
    ...     size = pipe.add(queue.requests.size())
    >>> added.result, size.result
    (True, 1)
    """

    def __init__(self, connections: Connections, *, transaction: bool) -> None:
        self._connections = connections
        self._transaction = transaction
        self._replies: list[Reply[Any]] = []

    def __len__(self) -> int:
        return len(self._replies)

    def __bool__(self) -> bool:
        return True

    def add(self, request: Request[T]) -> Reply[T]:
        """Adds one request. Nothing is sent. Raises ArgumentError for anything but a request."""
        if not isinstance(request, Request):
            raise ArgumentError(f"a pipeline takes requests, such as queue.requests.size(), not {shown(request)}")
        reply = Reply(request)
        self._replies.append(reply)
        return reply

    async def execute(self) -> list[Any]:
        """Sends everything that was added, in its order, and gives the results in the same order.

        One round trip (on a cluster one to each node, all at the same time). Without a transaction other clients'
        commands may run in between, and one that fails does not stop the others. All are carried out before the first
        error is raised; each :class:`Reply` has its own. Nothing is sent twice: RedisConnectionError means that those
        without a reply may have been carried out. Empties the pipeline. Answers to ``RBatch.execute()``.
        """
        replies, self._replies = self._replies, []
        requests = [reply.request for reply in replies]
        refused = await self._refused(replies)
        sent = [request for at, request in enumerate(requests) if at not in refused]
        results = iter(
            await self._connections.run_many(sent, transaction=self._transaction, in_order=True)
            if sent or not refused
            else []
        )
        outcomes = [refused[at] if at in refused else next(results) for at in range(len(requests))]
        await self._name_other_types(requests, outcomes)
        for reply, outcome in zip(replies, outcomes, strict=True):
            if isinstance(outcome, DecodeError) and reply.request.aside is not None:
                # The reply raises the error, whether the bytes could be kept or not.
                with contextlib.suppress(DecodeError):
                    await self._connections.undecodable.set_aside(outcome, reply.request.aside)
            reply._fill(without_subscribers(outcome, self._connections))
        return [reply.result for reply in replies]

    async def _refused(self, replies: list[Reply[Any]]) -> dict[int, EncodeError]:
        """By their places: requests that are not sent, as they would do harm to an equal value of another type in Java,
        or be no duplicates of one that this pipeline offers before them.

        A transaction is all or nothing, so one such request makes it raise. One more round trip if there are any
        requests that might.
        """
        requests = [reply.request for reply in replies]
        found = await self._other_types(
            (at, request.others) for at, request in enumerate(requests) if request.others and request.others.before
        )
        refused = {at: errors[0] for at, errors in found.items()}
        offered: set[str] = set()
        for at, request in enumerate(requests):
            if at not in refused and request.others and request.others.offered:
                name, equal = request.others.offered()
                clashes = [error for other, error in equal.items() if other in offered]
                if clashes:
                    refused[at] = clashes[0]
                else:
                    offered.add(name)
        if refused and self._transaction:
            for at, error in refused.items():
                replies[at]._fill(error)
            raise next(iter(refused.values()))
        return refused

    async def _name_other_types(self, requests: list[Request[Any]], outcomes: list[Any]) -> None:
        """Replaces a False by an EncodeError where an equal value of another type in Java is there. Warns if only some
        of the values were removed.

        One more round trip if numbers, letters, times or collections were looked for and not found.
        """
        found = await self._other_types(
            (at, request.others)
            for at, (request, outcome) in enumerate(zip(requests, outcomes, strict=True))
            if request.others
            and not request.others.before
            and (outcome is False or outcome == -1 or (request.others.partly and outcome is True))
        )
        for at, errors in found.items():
            if outcomes[at] is True:
                warn_of_other_types(errors)
            else:
                outcomes[at] = errors[0]

    async def _other_types(self, asked: Iterable[tuple[int, OtherTypes]]) -> dict[int, list[EncodeError]]:
        """By the places of requests: the errors for values that are there, as far as the user may look."""
        lookups = [(at, lookup) for at, others in asked for lookup in others.lookups()]
        found: dict[int, list[EncodeError]] = {}
        if lookups:
            results = await self._connections.run_many([lookup for _, lookup in lookups])
            for (at, _), errors in zip(lookups, results, strict=True):
                if isinstance(errors, list) and errors:
                    found.setdefault(at, []).extend(errors)
        return found

    async def __aenter__(self) -> Pipeline:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._replies:
            await self.execute()
