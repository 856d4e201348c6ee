"""Context managers that refuse a call without ``with``, which would do nothing."""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn, ParamSpec, TypeVar

from redisson_dq.errors import ArgumentError

__all__ = ["OnlyWith", "entered", "refuse_if_dropped"]

P = ParamSpec("P")
T = TypeVar("T")


class OnlyWith:
    """A context manager for ``with``, which refuses ``async with`` and ``await`` and names the right form."""

    async def __aenter__(self) -> NoReturn:
        raise self._refusal("async with")

    async def __aexit__(self, *error: object) -> None:
        """Never called, as it cannot be entered."""

    def __await__(self) -> NoReturn:
        raise self._refusal("await")

    def _refusal(self, used: str) -> ArgumentError:
        return ArgumentError(f"{type(self).__name__}: `{used}` does not fit; use `with`, in coroutines too")


class _Entered(contextlib.ContextDecorator, OnlyWith):
    """The context manager that a function of the kit returns."""

    def __init__(self, form: str, make: Callable[[], contextlib.AbstractContextManager[object]]) -> None:
        self._form, self._make = form, make
        self._manager = make()

    def _recreate_cm(self) -> _Entered:
        # As a decorator it is entered at each call.
        return _Entered(self._form, self._make)

    def __enter__(self) -> object:
        return self._manager.__enter__()

    def __exit__(self, *error: object) -> bool | None:
        return self._manager.__exit__(*error)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self._form} has no {name!r} before it is entered: use `with {self._form} as ...:`")

    def _refusal(self, used: str) -> ArgumentError:
        return ArgumentError(f"{self._form}: `{used}` does not fit; use `with {self._form}:`, in coroutines too")


def entered(
    call: Callable[P, contextlib.AbstractContextManager[T]],
) -> Callable[P, contextlib.AbstractContextManager[T]]:
    """For a function that returns a context manager: a call whose result is dropped raises ArgumentError."""
    parameters = list(inspect.signature(call).parameters)
    name = f"faults.{call.__name__}" if parameters[:1] == ["self"] else call.__name__
    form = f"{name}({'...' if parameters not in ([], ['self']) else ''})"

    @functools.wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> contextlib.AbstractContextManager[T]:
        made = _Entered(form, functools.partial(call, *args, **kwargs))
        refuse_if_dropped(form, sys._getframe(1))
        return made  # type: ignore[return-value]

    return checked


def refuse_if_dropped(form: str, caller: FrameType | None) -> None:
    """Raises ArgumentError where the caller does nothing with the result of the call that it is in."""
    if caller is None or caller.f_code.co_name == "__init__":
        return
    following = (each for each in dis.get_instructions(caller.f_code) if each.offset > caller.f_lasti)
    if next((each.opname for each in following), "") == "POP_TOP":
        raise ArgumentError(f"{form} without `with` does nothing: use `with {form}:`")
