"""Options that several calls take, listed once.

A TypedDict has their names and types, and one function has their defaults. The other calls take ``**options`` and pass
them on. Signatures stay written out where only two calls share options, as editors show the defaults then.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["with_options_of"]

F = TypeVar("F", bound=Callable[..., Any])


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
