"""A handler as it was declared: its function, which values it takes, and how it is run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from redisson_dq._common.signatures import answers, takes
from redisson_dq._common.texts import nearest, shown
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import Delay, seconds_of
from redisson_dq.working.keys import KeyOf
from redisson_dq.working.kinds import Kind
from redisson_dq.working.limits import Admission, Limit, Rate
from redisson_dq.working.naming import full_name
from redisson_dq.working.retries import Retry, policies

__all__ = [
    "CLIENT",
    "Handler",
    "Shape",
    "check_known",
    "check_limits",
    "check_reached",
    "check_queue_name",
    "declared",
    "is_async",
    "name_of",
    "positive",
]

#: The dependency that every worker has: its client.
CLIENT: Final = "client"


@attrs.frozen
class Shape:
    """How a function of the user's is called: with the event or without, and with which dependencies by name."""

    takes_event: bool
    needs: tuple[str, ...]
    #: The name of the argument that gets the event.
    event_name: str = attrs.field(default="", eq=False)

    @classmethod
    def of(cls, function: Callable[..., Any], what: str, positional: int) -> Shape:
        """``positional`` is how many positional arguments a handler gets. The last one, the event, is optional."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return cls(takes_event=True, needs=())
        placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        rest = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        if len(placed) < positional - 1 and not rest:
            raise ArgumentError(f"{what}: a handler takes the value, and the event if it wants it")
        # An argument with a default is the user's own, unless its name is "event" or "events".
        last = placed[positional - 1] if len(placed) >= positional else None
        takes_event = rest or (last is not None and (last.default is last.empty or last.name in ("event", "events")))
        if positional > 1 and placed:
            _check_placed(function, placed, last if takes_event else None, what)
        named = placed[positional:] + [each for each in parameters if each.kind is each.KEYWORD_ONLY]
        only_placed = [each.name for each in placed[positional:] if each.kind is each.POSITIONAL_ONLY]
        if only_placed:
            raise ArgumentError(f"{what}: a dependency is given by its name, so {only_placed} cannot come before a /")
        return cls(
            takes_event=takes_event,
            needs=tuple(each.name for each in named if each.default is each.empty),
            event_name=last.name if last is not None else "",
        )

    @classmethod
    def by_name(cls, function: Callable[..., Any], what: str) -> Shape:
        """The shape of a dependency: all its arguments are given by name. The one called ``event`` is the event."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{what}: Python cannot inspect its arguments") from error
        named = [each.name for each in parameters if each.default is each.empty]
        if any(each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in parameters):
            raise ArgumentError(f"{what}: the arguments of a dependency are names of others, and event")
        return cls(takes_event="event" in named, needs=tuple(name for name in named if name != "event"))


def _check_placed(
    function: Callable[..., Any], placed: Sequence[inspect.Parameter], event: inspect.Parameter | None, what: str
) -> None:
    """Raises ArgumentError where a handler's arguments show that it expects others than the value and the event."""
    first = placed[0]
    if first.name in ("self", "cls"):
        raise ArgumentError(
            f"{what}: it is a method without an object, so {first.name!r} would get the value; declare the method of "
            "an object where that is made, as in worker.add_handler(shop.handle, ...)"
        )
    kind = first.annotation
    if isinstance(kind, str):
        kind = getattr(function, "__globals__", {}).get(kind)
    if getattr(kind, "__name__", "") == "Event" and str(kind.__module__).startswith("redisson_dq."):
        raise ArgumentError(f"{what}: its first argument gets the value, and the second one gets the Event")
    if event is None or event.name in _EVENT_NAMES or event.name.startswith("_"):
        return
    kind = event.annotation
    if "Event" not in (kind if isinstance(kind, str) else repr(kind)):
        raise ArgumentError(
            f"{what}: a handler is called with the value and the event, so {event.name!r} would get the event; name it "
            "event, or annotate it with Event, and take parts of the value out of the value"
        )


#: The names that an argument for the event may have without an annotation.
_EVENT_NAMES = frozenset(("event", "events", "evt", "ev", "e", "ctx"))


@attrs.frozen(kw_only=True, eq=False)
class Handler:
    """One handler. Times are in seconds.

    A running worker has the changing state in a ``Post`` (:mod:`redisson_dq.working.roster`).
    """

    function: Callable[..., Any]
    queue: str
    kind: Kind
    where: Mapping[str, Any]
    when: Callable[[Any], object] | None
    concurrency: int
    retry: tuple[Retry, ...]
    timeout: float | None
    on_failed: Callable[..., Any] | None
    crash_limit: int | None
    #: The limits that admit its values; None: all values are admitted.
    admission: Admission | None
    #: How many values it takes at once, and how long it waits for them. None: one by one.
    batch: int | None
    within: float
    shape: Shape

    #: Whether calling the function gives something to await.
    awaits: bool = attrs.field(init=False, default=attrs.Factory(lambda self: is_async(self.function), takes_self=True))
    #: The function's name, for logs and hooks.
    name: str = attrs.field(init=False, default=attrs.Factory(lambda self: name_of(self.function), takes_self=True))


_DEFAULT_RETRY = Retry()


def declared(
    function: Callable[..., Any],
    queue: str,
    type: Any = None,
    batch: int | None = None,
    within: Delay = 0,
    /,
    *,
    where: Mapping[str, Any] | None = None,
    when: Callable[[Any], object] | None = None,
    concurrency: int = 1,
    retry: Retry | Sequence[Retry] | None = _DEFAULT_RETRY,
    timeout: Delay | None = None,
    on_failed: Callable[[Any, Any, Exception], Any] | None = None,
    crash_limit: int | None = 5,
    rate: Rate | None = None,
    limit: Limit | None = None,
    turns: KeyOf | None = None,
    key: Callable[[Any], object] | None = None,
    unique_for: Delay | None = None,
    unique_by: Callable[[Any], object] | None = None,
) -> Handler:
    """A handler with these options. Only this function has their defaults. Raises ArgumentError."""
    check_queue_name(queue)
    what = f"handler {name_of(function)!r} of queue {queue!r}"
    if not callable(function):
        raise ArgumentError(f"{what}: a handler must be a function, not {shown(function)}")
    if inspect.isclass(function):
        raise ArgumentError(
            f"{what}: a class would only be called with the value, to make an object; declare a function, or a method "
            "of an object"
        )
    if hasattr(function, "cache_info"):
        raise ArgumentError(f"{what}: it has a cache, so a value that equals an earlier one would not be handled")
    kind = Kind.of(type, what)
    if where is not None and not (isinstance(where, Mapping) and all(isinstance(name, str) for name in where)):
        raise ArgumentError(f"{what}: where= maps names of fields to values, not {shown(where)}")
    if when is not None and not (callable(when) and takes(when, 1) and answers(when)):
        raise ArgumentError(f"{what}: when= must be a function of the value, not {shown(when)}")
    # Check it now: if it failed for the first value that is given up, that value would stay leased for ever.
    if on_failed is not None and not (callable(on_failed) and takes(on_failed, 3)):
        raise ArgumentError(
            f"{what}: on_failed= must be a function of the value, the event and the error, not {shown(on_failed)}"
        )
    if crash_limit is not None:
        positive(crash_limit, f"{what}: crash_limit=")
    if batch is not None and positive(batch, f"{what}: the size of a batch") > _LARGEST_BATCH:
        raise ArgumentError(f"{what}: a batch has at most {_LARGEST_BATCH} values, not {shown(batch)}")
    seconds = None if timeout is None else seconds_of(timeout, f"{what}: timeout=")
    if seconds == 0:
        raise ArgumentError(f"{what}: timeout= is above zero; None is for no timeout")
    return Handler(
        function=function,
        queue=queue,
        kind=kind,
        where=dict(where or {}),
        when=when,
        concurrency=positive(concurrency, f"{what}: concurrency="),
        retry=policies(retry),
        timeout=seconds,
        on_failed=on_failed,
        crash_limit=crash_limit,
        admission=Admission.declared(
            what,
            full_name(function if hasattr(function, "__qualname__") else function.__class__),
            rate=rate,
            limit=limit,
            turns=turns,
            key=key,
            unique_for=unique_for,
            unique_by=unique_by,
        ),
        batch=batch,
        within=seconds_of(within, f"{what}: within="),
        shape=Shape.of(function, what, 2),
    )


def check_reached(made: Handler, others: Iterable[Handler]) -> None:
    """Raises ArgumentError for a handler that would get no value, as another one of its queue takes the same ones."""
    for other in others:
        if (
            other.queue == made.queue
            and other.kind.alternatives == made.kind.alternatives
            and other.when is made.when
            and other.where == made.where
        ):
            raise ArgumentError(
                f"handler {made.name!r} of queue {made.queue!r}: handler {other.name!r} takes the same values, so this "
                "one would get none: give each a class, where= or when=, or remove_handler() the other one"
            )


def check_limits(made: Handler, others: Iterable[Handler]) -> None:
    """Raises ArgumentError for a handler that would share a rate or slots with another one by mistake.

    Processes know a handler by the name of its function. Two lambdas have the same one, and two objects of a class.
    """
    limits = made.admission
    for other in others:
        if limits is None or other.admission is None:
            continue
        for mine, theirs in limits.shares(other.admission):
            kind = "rate=" if isinstance(mine, Rate) else "limit="
            what = f"handler {made.name!r} of queue {made.queue!r}"
            if mine.name is None and made.function != other.function:
                raise ArgumentError(
                    f"{what}: another one is called {limits.name!r} too, and handlers of one name share {kind}: give "
                    f'each a name of its own, as in {kind}{type(mine).__name__}(..., name="partner")'
                )
            if mine != theirs:
                raise ArgumentError(
                    f"{what}: it shares {kind} with a handler of queue {other.queue!r}, which has {theirs!r} and not "
                    f"{mine!r}: give both the same, or each a name= of its own"
                )


def check_queue_name(queue: object) -> None:
    """Raises ArgumentError for anything but a str, such as a function that was decorated without the queue."""
    if not isinstance(queue, str):
        raise ArgumentError(
            f'a handler is for the name of a queue, as in @worker.handler("orders"), not for {shown(queue)}; '
            "worker.queue(name) says how it is opened"
        )
    if not queue:
        raise ArgumentError("a handler is for the name of a queue, which is not empty")


def positive(number: object, what: str) -> int:
    """A number from 1 on. Raises ArgumentError; ``what`` begins its message."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ArgumentError(f"{what} must be a number from 1 on, not {shown(number)}")
    return number


def name_of(function: Any) -> str:
    """The name of a function, or of a callable object's class."""
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await. Also looks into functools.partial and callable objects."""
    while isinstance(function, functools.partial):
        function = function.func
    call = getattr(function, "__call__", None)  # noqa: B004 - asked for its kind, not whether it is there
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


#: As many as one receive takes.
_LARGEST_BATCH = 1000


def check_known(needs: Sequence[str], known: set[str], late: set[str], what: str) -> None:
    for name in needs:
        if name in late:
            raise ArgumentError(
                f"{what} takes {name!r}, which was declared while the worker was running; restart the worker: it "
                "makes per_worker dependencies when it starts"
            )
        if name not in known:
            meant = nearest(name, known)
            question = f"; did you mean {meant!r}?" if meant else ""
            raise ArgumentError(
                f"{what} takes {name!r}, but no dependency has that name{question}; declare it with per_item or "
                "per_worker, above the function that takes it"
            )
