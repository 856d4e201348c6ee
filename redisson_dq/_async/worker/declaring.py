"""The declarations of a worker's user: handlers by queue, and the functions around them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, Union, overload

import attrs

from redisson_dq._async.worker.event import Event
from redisson_dq._common.signatures import answers, takes, with_options_of
from redisson_dq._common.texts import nearest, shown
from redisson_dq._concurrency import AsyncMutex
from redisson_dq._concurrency.layers import (
    Layer,
    async_check_callable,
    check_no_yield,
    check_yield,
)
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import Delay
from redisson_dq.working import happenings
from redisson_dq.working.handlers import (
    CLIENT,
    Handler,
    Shape,
    check_known,
    check_limits,
    check_queue_name,
    check_reached,
    declared,
    is_async,
    name_of,
)
from redisson_dq.working.hooks import Hooks
from redisson_dq.working.keys import KeyOf
from redisson_dq.working.limits import Limit, Rate
from redisson_dq.working.retries import Retry
from redisson_dq.working.settings import QueueSettings

__all__ = ["Declarations"]

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    # Type checkers know this module even when it is not installed.
    from typing_extensions import TypedDict, TypeForm, Unpack

    class HandlerOptions(TypedDict, Generic[T], total=False):
        """The options of a handler of values of type T. Their defaults are in :func:`declared`."""

        where: Mapping[str, Any] | None
        when: Callable[[T], object] | None
        concurrency: int
        retry: Retry | Sequence[Retry] | None
        timeout: Delay | None
        on_failed: Callable[[T, Event, Exception], Any] | None
        crash_limit: int | None
        rate: Rate | None
        limit: Limit | None
        turns: KeyOf | None
        key: Callable[[T], object] | None
        unique_for: Delay | None
        unique_by: Callable[[T], object] | None


class Declarations:
    """The handlers of each queue, the functions around them, and the hooks for happenings."""

    def __init__(self, defaults: QueueSettings) -> None:
        self._mutex = AsyncMutex()
        self._defaults = defaults
        self._handlers: list[Handler] = []
        self._settings: dict[str, QueueSettings] = {}
        self._layers: list[Layer] = []
        self._layers_found: dict[Handler, tuple[Layer, ...]] = {}
        self._resources_declared: list[Layer] = []
        self._hooks = Hooks()

    def queue(
        self,
        name: str,
        *,
        codec: Codec[Any] | None = None,
        type: Any = None,
        partitions: int | None = None,
        dead_letter: str | None = None,
        visibility_timeout: Delay | None = None,
        transfer: bool | None = None,
        bounded: bool | None = None,
    ) -> None:
        """Sets the options of a queue, as for :meth:`Client.blocking_queue`. Before its first handler, if at all.

        ``type`` is the type of its values; a JsonCodec without a type takes that of the queue's handlers.
        ``bounded=True`` is for a queue with a capacity: a handled value makes room in it.
        """
        check_queue_name(name)
        if name in {handler.queue for handler in self._handlers}:
            raise ArgumentError(f"queue {name!r}: it is open already; set its options before its first handler")
        if name in self._settings:
            raise ArgumentError(f"queue {name!r}: its options are already set; set all of them in one call")
        settings = QueueSettings(
            codec=codec,
            type=type,
            partitions=partitions,
            dead_letter=dead_letter,
            visibility_timeout=visibility_timeout,
            transfer=transfer,
            bounded=bounded,
        )
        self._settings[name] = settings.checked(f"queue {name!r}")

    @overload
    def handler(
        self, queue: str, type: type[T], **options: Unpack[HandlerOptions[T]]
    ) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]: ...

    @overload
    def handler(
        self, queue: str, type: TypeForm[T], **options: Unpack[HandlerOptions[T]]
    ) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]: ...

    @overload
    def handler(self, queue: str, type: None = None, **options: Unpack[HandlerOptions[Any]]) -> Callable[[F], F]: ...

    @with_options_of(declared)
    def handler(self, queue: str, type: Any = None, **options: Any) -> Callable[[Any], Any]:
        """Declares the function that handles a queue's values. It is called with the value, and an :class:`Event`.

        - ``type``: the class of values that it takes, or ``list[Order]``, ``Order | str``
        - ``where``: the fields of values that it takes: ``{"kind": "refund"}``
        - ``when``: a function of the value: whether it takes it
        - ``concurrency``: how many run here at once
        - ``retry``: a :class:`Retry` or several, for when it raises; None for never
        - ``timeout``: how long one may run: seconds or a timedelta
        - ``on_failed``: called with value, event and error before a value is given up
        - ``crash_limit``: after how many deaths of its process a value is given up
        - ``rate``: a :class:`Rate` over all processes
        - ``limit``: a :class:`Limit` of slots over all processes
        - ``turns``: customers take turns by this field, such as ``"customer.id"``
        - ``key``: values of one key run one at a time, in order
        - ``unique_for``: drops a value that equals one handled within that time
        - ``unique_by``: a function of the value: the key by which values are equal; else their bytes

        >>> worker = Worker(client)
        >>> @worker.handler("orders", concurrency=4)
        ... async def handle(order):
        ...     print(order)

        Raises ArgumentError. More: docs/worker.md, docs/worker-limits.md.
        """
        return self._declare(queue, type, None, 0, options)

    @overload
    def batch_handler(
        self, queue: str, size: int, type: type[T], *, within: Delay = 0, **options: Unpack[HandlerOptions[T]]
    ) -> Callable[[Callable[Concatenate[list[T], P], R]], Callable[Concatenate[list[T], P], R]]: ...

    @overload
    def batch_handler(
        self, queue: str, size: int, type: TypeForm[T], *, within: Delay = 0, **options: Unpack[HandlerOptions[T]]
    ) -> Callable[[Callable[Concatenate[list[T], P], R]], Callable[Concatenate[list[T], P], R]]: ...

    @overload
    def batch_handler(
        self,
        queue: str,
        size: int,
        type: None = None,
        *,
        within: Delay = 0,
        **options: Unpack[HandlerOptions[Any]],
    ) -> Callable[[F], F]: ...

    @with_options_of(declared)
    def batch_handler(
        self, queue: str, size: int, type: Any = None, *, within: Delay = 0, **options: Any
    ) -> Callable[[Any], Any]:
        """Declares a handler of many values at once: of ``size`` at most, or those that came ``within`` a time.

        ``size`` is 1 to 1,000, ``within`` seconds or a timedelta. The function is called with a list of values and a
        list of events. It returns None when all are done, or a list with one outcome for each. An outcome is None for
        done, or an exception, which counts as if a handler of that value had raised it. When it raises, that is the
        outcome of all. The other arguments are those of :meth:`handler`.

        >>> worker = Worker(client)
        >>> @worker.batch_handler("orders", 100, within=1)
        ... async def store(orders, events):
        ...     print(len(orders))
        """
        return self._declare(queue, type, size, within, options)

    @with_options_of(declared)
    def add_handler(
        self,
        function: Callable[..., Any],
        queue: str,
        type: Any = None,
        *,
        batch: int | None = None,
        within: Delay = 0,
        **options: Unpack[HandlerOptions[Any]],
    ) -> None:
        """Like :meth:`handler`, or with ``batch=`` like :meth:`batch_handler`, as a call. May be called while the
        worker runs.

        ``batch`` is the largest number of values of a call. The other arguments are those of the decorators.
        """
        self._add(declared(function, queue, type, batch, within, **options))

    def remove_handler(self, function: Callable[..., Any], queue: str | None = None) -> bool:
        """Removes a handler from one queue, or from all; True if there was one. May be called while the worker runs.

        Running handlings continue. A queue without handlers is closed.
        """
        if not callable(function):
            raise ArgumentError(
                f"remove_handler() takes the function, and optionally the name of its queue, not {shown(function)}"
            )
        with self._mutex:
            left = [each for each in self._handlers if each.function is not function or queue not in (None, each.queue)]
            found = len(left) < len(self._handlers)
            if found:
                self._change(left)
        return found

    def middleware(self, function: F) -> F:
        """Declares a function with one ``yield`` that runs around each handling. It is called with the event.

        The first that is declared is outermost. An error of the handler is raised at the ``yield``.

        >>> worker = Worker(client)
        >>> @worker.middleware
        ... async def timed(event):
        ...     print("before", event.value)
        ...     yield
        ...     print("after")
        """
        async_check_callable(function, f"middleware {name_of(function)!r}")
        check_yield(function, f"middleware {name_of(function)!r}")
        self._layers.append(Layer(function, "", Shape.of(function, f"middleware {name_of(function)!r}", 1)))
        return function

    def per_item(self, function: F) -> F:
        """Declares a dependency that is made for each handling. Handlers get it by the function's name.

        The code after its ``yield`` runs when the handler has returned or raised, before the value is acked. Its
        own arguments are other dependencies, and ``event``.
        """
        return self._dependency(function, self._layers)

    def per_worker(self, function: F) -> F:
        """Declares a dependency that is made when the worker starts. Otherwise like :meth:`per_item`.

        The code after its ``yield`` runs when the worker stops.
        """
        return self._dependency(function, self._resources_declared)

    def on(self, *kinds: type[happenings.Happening]) -> Callable[[F], F]:
        """Declares a function that is called with happenings: those of these classes, or all.

        It is called where things happen, so it must be a plain function and quick. Its errors are logged.
        """
        for kind in kinds:
            if not (isinstance(kind, type) and issubclass(kind, happenings.Happening)):
                raise ArgumentError(f"on() takes classes of happenings, and @worker.on() is for all; not {shown(kind)}")

        def declare(function: F) -> F:
            if not callable(function) or is_async(function) or not answers(function):
                raise ArgumentError(
                    f"a hook must be a plain function (it may start a task or a thread), not {shown(function)}"
                )
            if not takes(function, 1):
                raise ArgumentError(f"a hook must be a function of the happening, not {shown(function)}")
            self._hooks.add(kinds, function)
            return function

        return declare

    @property
    def queues(self) -> list[str]:
        """The names of the queues that it has handlers for."""
        return list(dict.fromkeys(handler.queue for handler in self._handlers))

    @property
    def handlers(self) -> list[Handler]:
        """The declarations, in their order."""
        return list(self._handlers)

    def _check_names(self) -> None:
        """Raises ArgumentError for options of a queue without a handler whose name looks like that of another."""
        for name in self._settings.keys() - set(self.queues):
            if (meant := nearest(name, self.queues)) is not None:
                raise ArgumentError(
                    f"worker.queue({name!r}) sets options, but no handler is for that queue; did you mean {meant!r}?"
                )

    def check_dependencies(self) -> None:
        """Raises ArgumentError for an undeclared dependency, as the start does."""
        self._check_dependencies(self._handlers, {layer.name for layer in self._resources_declared})

    def _check_dependencies(self, handlers: Iterable[Handler], begun: Collection[str]) -> None:
        """Checks those of the handlers. Only the dependencies per worker that have ``begun`` can be given."""
        known = {CLIENT}
        late = {layer.name for layer in self._resources_declared if layer.name not in begun}
        resources = [layer for layer in self._resources_declared if layer.name in begun]
        for layer in (*resources, *self._layers):
            kind = "dependency" if layer.name else "middleware"
            check_known(layer.shape.needs, known, late, f"{kind} {name_of(layer.function)!r}")
            known.add(layer.name)
        for handler in handlers:
            check_known(handler.shape.needs, known, late, f"handler {handler.name!r} of queue {handler.queue!r}")
            if handler.shape.takes_event and handler.shape.event_name in known:
                raise ArgumentError(
                    f"handler {handler.name!r} has the dependency {handler.shape.event_name!r} where it gets the "
                    "event: dependencies come after the value and the event"
                )

    def _declare(
        self, queue: str, type: Any, batch: int | None, within: Delay, options: Mapping[str, Any]
    ) -> Callable[[F], F]:
        check_queue_name(queue)

        def declare(function: F) -> F:
            self._add(declared(function, queue, type, batch, within, **options))
            return function

        return declare

    def _add(self, made: Handler) -> None:
        what = f"handler {made.name!r} of queue {made.queue!r}"
        async_check_callable(made.function, what)
        check_no_yield(made.function, what)
        if made.on_failed is not None:
            async_check_callable(made.on_failed, f"on_failed of handler {made.name!r}")
            check_no_yield(made.on_failed, f"on_failed of handler {made.name!r}")
        with self._mutex:
            check_reached(made, self._handlers)
            check_limits(made, self._handlers)
            self._change([*self._handlers, made])

    def _change(self, handlers: list[Handler]) -> None:
        """Has these handlers from now on, or the ones before where that raises."""
        before, self._handlers = self._handlers, handlers
        try:
            self._handlers_changed(before)
        except BaseException:
            self._handlers = before
            raise

    def _handlers_changed(self, before: list[Handler]) -> None:
        """A hook for each change of the handlers. An error undoes the change."""

    def _dependency(self, function: F, layers: list[Layer]) -> F:
        what = f"dependency {name_of(function)!r}"
        async_check_callable(function, what)
        name = getattr(function, "__name__", "")
        if not name.isidentifier():
            raise ArgumentError(f"{what}: a dependency must be a function with a name")
        layers.append(Layer(function, name, Shape.by_name(function, what)))
        return function

    def _layers_of(self, handler: Handler) -> Sequence[Layer]:
        """The middlewares, and the dependencies that they and the handler ask for."""
        found = self._layers_found.get(handler)
        if found is None:
            wanted = set(handler.shape.needs)
            chosen: list[Layer] = []
            # Whatever a layer needs was declared before it.
            for layer in reversed(self._layers):
                if not layer.name or layer.name in wanted:
                    wanted.update(layer.shape.needs)
                    chosen.insert(0, layer)
            found = self._layers_found[handler] = tuple(chosen)
        return found

    def _settings_of(self, name: str) -> QueueSettings:
        settings = self._settings.get(name, QueueSettings()).with_defaults(self._defaults)
        types = [handler.kind.annotation for handler in self._handlers if handler.queue == name]
        named = tuple(each for each in types if each is not None)
        return attrs.evolve(settings, handled=Union[named] if named else None, catches_all=None in types)
