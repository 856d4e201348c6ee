"""How a worker runs, and how it opens a queue."""

from __future__ import annotations

import contextvars
import random
from typing import Any, TypedDict, Union, get_args, get_origin

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, check_codec
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import Delay, seconds_of
from redisson_dq.wire.partitions import MOST_PARTITIONS
from redisson_dq.working.handlers import positive
from redisson_dq.working.order import AnyOrder, Order, order_of

__all__ = ["QueueSettings", "WorkerOptionNames", "WorkerOptions", "is_importing"]

#: Whether a module is imported for its worker. ``redisson-dq worker`` sets it: a worker that ran would hold up the end
#: of the import.
is_importing: contextvars.ContextVar[bool] = contextvars.ContextVar("redisson_dq_importing", default=False)

#: The types that JSON itself has.
_OF_JSON = frozenset((dict, list, str, int, float, bool, type(None)))


@attrs.frozen(kw_only=True)
class QueueSettings:
    """The settings of a queue. None: the setting of the worker or the client."""

    codec: Codec[Any] | None = None
    #: The type of its values, and the types of its handlers: the second where the codec wants a type and has none.
    type: Any = None
    handled: Any = None
    partitions: int | None = None
    dead_letter: str | None = None
    visibility_timeout: Delay | None = None
    transfer: bool | None = None
    bounded: bool | None = None
    #: Whether a handler takes values of any type.
    catches_all: bool = False

    def checked(self, what: str) -> QueueSettings:
        """Raises ArgumentError for options that would fail when the queue is opened, or later. ``what`` begins its
        message.
        """
        if self.visibility_timeout is not None and not seconds_of(
            self.visibility_timeout, f"{what}: visibility_timeout="
        ):
            raise ArgumentError(f"{what}: visibility_timeout= is above zero")
        if self.codec is not None:
            check_codec(self.codec, f"{what}: codec=")
        for name, flag in {"transfer=": self.transfer, "bounded=": self.bounded}.items():
            if flag is not None and not isinstance(flag, bool):
                raise ArgumentError(f"{what}: {name} must be True or False, not {shown(flag)}")
        parts = self.partitions
        if parts is not None and (type(parts) is not int or not 1 <= parts <= MOST_PARTITIONS):
            raise ArgumentError(f"{what}: partitions= is an int from 1 to {MOST_PARTITIONS}, not {shown(parts)}")
        if self.bounded and self.partitions is not None:
            raise ArgumentError(f"{what}: a bounded queue has no partitions")
        return self

    def codec_of(self, usual: Codec[Any]) -> Codec[Any]:
        """The codec of its values, where ``usual`` is the client's. Raises ArgumentError for a type it cannot have."""
        codec = self.codec or usual
        if self.type is not None:
            return codec.typed(self.type)
        if self.handled is None or not codec.wants_type:
            return codec
        if not self.catches_all:
            return codec.typed(self.handled)
        kinds = get_args(self.handled) if get_origin(self.handled) is Union else (self.handled,)
        if any((get_origin(kind) or kind) not in _OF_JSON for kind in kinds):
            raise ArgumentError(
                f"{codec!r} reads dicts where a handler takes values of any type, so the one of {shown(self.handled)} "
                "would get none: give each handler of the queue its class, or worker.queue(name, type=...)"
            )
        return codec

    def with_defaults(self, defaults: QueueSettings) -> QueueSettings:
        """These settings, with those of ``defaults`` where this one has None."""
        given = attrs.asdict(self, recurse=False)
        return attrs.evolve(defaults, **{name: value for name, value in given.items() if value is not None})


class WorkerOptionNames(TypedDict, total=False):
    """The options of a worker, for type checkers. Their defaults are in :class:`WorkerOptions`."""

    concurrency: int | None
    order: AnyOrder | None
    visibility_timeout: Delay
    transfer: bool
    grace: Delay
    stalled_after: Delay
    chance: random.Random | None


@attrs.frozen(kw_only=True)
class WorkerOptions:
    """The options of a worker. Raises ArgumentError for a value that no worker can have."""

    concurrency: int | None = None
    order: AnyOrder | None = None
    visibility_timeout: Delay = 30
    transfer: bool = True
    grace: Delay = 30
    stalled_after: Delay = 300
    chance: random.Random | None = None

    def __attrs_post_init__(self) -> None:
        if self.concurrency is not None:
            positive(self.concurrency, "worker: concurrency=")
        elif self.order is not None:
            raise ArgumentError("worker: order= says who comes first when slots are few: give concurrency= too")
        # They raise for options that they cannot be made of.
        self.asking_order()
        self.of_queues()
        self.grace_seconds()
        self.stalled_seconds()

    def asking_order(self) -> Order:
        """Which queue comes first when slots are few."""
        return order_of(self.order)

    def of_queues(self) -> QueueSettings:
        """The settings of a queue that says nothing else."""
        return QueueSettings(visibility_timeout=self.visibility_timeout, transfer=self.transfer).checked("worker")

    def grace_seconds(self) -> float:
        """How many seconds handlers have at a stop that says nothing else."""
        return seconds_of(self.grace, "worker: grace=")

    def stalled_seconds(self) -> float:
        """After how many seconds a handler that has not ended before is reported as one that makes no progress."""
        seconds = seconds_of(self.stalled_after, "worker: stalled_after=")
        if not seconds:
            raise ArgumentError("worker: stalled_after= is above zero")
        return seconds
