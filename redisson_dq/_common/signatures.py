"""Signatures: whether a function of the user's accepts a call, and options that several calls of the library take.

Such options are listed once. A TypedDict has their names and types, and one function has their defaults. The other
calls take ``**options`` and pass them on. Signatures stay written out where only two calls share options, as editors
show the defaults then.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from redisson_dq._common.texts import nearest
from redisson_dq.errors import UnknownOptionError

__all__ = ["answers", "options_of", "takes", "unknown_option", "with_options_of"]

F = TypeVar("F", bound=Callable[..., Any])

# If no option resembles the one that was given, this many options are listed.
_LISTED = 20

# Java gives a number and its unit. Other libraries have the unit in the option's name.
_UNITS = ("unit", "milli", "second", "minute", "hour")


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a call with ``count`` positional arguments fits. True if the function has no signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def answers(function: Callable[..., Any]) -> bool:
    """Whether a call returns its result at once: no coroutine and no generator, as these objects are always true."""
    return not (
        inspect.iscoroutinefunction(function)
        or inspect.isgeneratorfunction(function)
        or inspect.isasyncgenfunction(function)
    )


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
