"""Options that several calls take, listed once, and the error for an option that a call does not have.

A TypedDict has their names and types, and one function has their defaults. The other calls take ``**options`` and pass
them on. Signatures stay written out where only two calls share options, as editors show the defaults then.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from redisson_dq._texts import nearest
from redisson_dq.errors import UnknownOptionError

__all__ = ["check_options", "names_options", "options_of", "unknown_option", "with_options_of"]

F = TypeVar("F", bound=Callable[..., Any])

# As many options are listed where none resembles the one that was given.
_LISTED = 20

# Java gives a number and its unit. Other libraries have the unit in the option's name.
_UNITS = ("unit", "milli", "second", "minute", "hour")


def with_options_of(function: Callable[..., Any]) -> Callable[[F], F]:
    """Shows the options of a function in the signature of another one that passes its ``**options`` on to it.

    So ``help()`` and the pages list them with their defaults. Type checkers read the annotation of ``**options``.
    """
    options = [each for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]

    def show(method: F) -> F:
        written = inspect.signature(method)
        own = [each for each in written.parameters.values() if each.kind is not each.VAR_KEYWORD]
        method.__signature__ = written.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        return method

    return show


def names_options(call: F) -> F:
    """Lets a function, a method or a class name the nearest option when it is called with one that it does not have.

    It is not for calls that take values out of a queue: Python looks for signals between two returns, and a value in
    hand would be lost there. :func:`check_options` is for those.
    """
    if not isinstance(call, type):
        return cast(F, _checking(call))
    # Its own constructor, or one that attrs has made.
    setattr(call, "__init__", _checking(vars(call)["__init__"]))  # noqa: B010
    return cast(F, call)


def _checking(function: Any) -> Any:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*args: Any, **named: Any) -> Any:
            check_options(function, args[0] if args else None, named)
            return await function(*args, **named)

        return later

    @functools.wraps(function)
    def now(*args: Any, **named: Any) -> Any:
        check_options(function, args[0] if args else None, named)
        return function(*args, **named)

    return now


def check_options(function: Callable[..., Any], owner: object, named: Mapping[str, Any]) -> None:
    """Raises UnknownOptionError for a name that the function has no parameter for. ``owner`` is its object."""
    if not named or named.keys() <= options_of(function):
        return
    name = function.__name__
    if name == "__init__":
        name = type(owner).__name__
    elif "." in function.__qualname__:
        name = f"{(owner if isinstance(owner, type) else type(owner)).__name__}.{name}"
    raise unknown_option(name, named, options_of(function))


@functools.cache
def options_of(function: Callable[..., Any]) -> frozenset[str]:
    """The names that a call may give by keyword."""
    parameters = inspect.signature(function).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(each.name for each in parameters if each.kind in named)


def unknown_option(call: str, named: Iterable[str], known: Iterable[str]) -> UnknownOptionError:
    """The error for the first of the names that is not known."""
    names = sorted(set(known) - {"self", "cls"})
    option = next(each for each in named if each not in names)
    meant = nearest(option, names)
    text = f"{call}() has no option {option!r}"
    if meant is not None:
        text += f"; did you mean {meant!r}?"
    elif len(names) <= _LISTED:
        text += f"; it takes {', '.join(names) or 'none'}"
    if any(unit in option.lower() for unit in _UNITS) or option == "ms":
        text += "; times are seconds or a timedelta, without a unit"
    return UnknownOptionError(text, option=option, nearest=meant)
