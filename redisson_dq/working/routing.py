"""Which handler gets a value. A table without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from redisson_dq._common.texts import described
from redisson_dq.working.handlers import Handler
from redisson_dq.working.kinds import ANYTHING

__all__ = ["Unroutable", "choose"]

T = TypeVar("T")

_MISSING = object()


class Unroutable(Exception):
    """``what`` chooses a handler (its class, ``where=`` or ``when=``) failed for a value."""

    def __init__(self, handler: Handler, what: str, error: BaseException) -> None:
        super().__init__(f"{what} of {handler.name} failed: {described(error)}")
        self.handler = handler


def choose(handlers: Iterable[Handler], value: Any) -> Handler | None:
    """The handler of a value, or None.

    Those with ``where=`` or ``when=`` come first, in the order in which they were added. Among the others the nearest
    class decides, and among equal ones the first. Raises Unroutable.
    """
    best: Handler | None = None
    distance = -1
    for handler in handlers:
        # Most handlers take any value. Nothing of the user's is asked then.
        far = _asked(handler, "the class", _distance, value) if handler.kind.alternatives else ANYTHING
        if far is None:
            continue
        if handler.where or handler.when:
            if _asked(handler, "where=", _has_fields, value) and _asked(handler, "when=", _is_chosen, value):
                return handler
        elif best is None or far < distance:
            best, distance = handler, far
    return best


def _distance(handler: Handler, value: Any) -> int | None:
    return handler.kind.distance(value)


def _has_fields(handler: Handler, value: Any) -> bool:
    for name, wanted in handler.where.items():
        found = value.get(name, _MISSING) if isinstance(value, Mapping) else getattr(value, name, _MISSING)
        if found is _MISSING or found != wanted:
            return False
    return True


def _is_chosen(handler: Handler, value: Any) -> bool:
    return handler.when is None or bool(handler.when(value))


def _asked(handler: Handler, what: str, question: Callable[[Handler, Any], T], value: Any) -> T:
    """The user's code answers: a function, a property, or a comparison. Raises Unroutable where it fails."""
    try:
        return question(handler, value)
    except BaseException as error:
        raise Unroutable(handler, what, error) from error
