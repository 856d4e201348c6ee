"""The class of a handler's values: a class, one with its elements (``list[Order]``), or one of several."""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = ["ANYTHING", "Kind"]

#: The distance of all values where no class was declared. Further than any class of a value is from its bases.
ANYTHING = 1 << 16


@attrs.frozen
class _Alternative:
    """A class, and the kind of its elements, if that was said."""

    of: type
    elements: tuple[Kind, ...] = ()

    def distance(self, value: Any) -> int | None:
        if not isinstance(value, self.of) or not self._fits(value):
            return None
        mro = type(value).__mro__
        # An abstract class that the value's class was registered with comes after its bases.
        far = mro.index(self.of) if self.of in mro else len(mro)
        # Between two handlers of one class, the one that says more of the elements is nearer.
        return 2 * far + (not self.elements)

    def _fits(self, value: Any) -> bool:
        if not self.elements:
            return True
        if issubclass(self.of, Mapping):
            keys, values = self.elements
            return all(keys.takes(each) for each in value) and all(values.takes(each) for each in value.values())
        if self.of is tuple and self.elements[-1] is not _REST:
            return len(value) == len(self.elements) and all(map(Kind.takes, self.elements, value))
        return all(self.elements[0].takes(each) for each in value)


@attrs.frozen
class Kind:
    """The class of a handler's values, as it was declared. Without any class it is for all values."""

    text: str = "any value"
    alternatives: tuple[_Alternative, ...] = ()
    #: As it was given.
    annotation: Any = attrs.field(default=None, eq=False)

    def distance(self, value: Any) -> int | None:
        """How far the value's class is from this one; None when it is not of it."""
        if not self.alternatives:
            return ANYTHING
        found = [far for far in (each.distance(value) for each in self.alternatives) if far is not None]
        return min(found, default=None)

    def takes(self, value: Any) -> bool:
        """Whether the value is of it."""
        return self.distance(value) is not None

    @classmethod
    def of(cls, given: object, what: str) -> Kind:
        """The kinds of ``Order``, ``list[Order]`` or ``Order | str``. Raises ArgumentError, whose text begins with
        ``what``.
        """
        if given is None or given is object or given is Any:
            return cls()
        if get_origin(given) is Annotated:
            return cls.of(get_args(given)[0], what)
        found = tuple(_alternatives(given, what))
        return cls(_named(given), () if any(each.of is object for each in found) else found, given)


#: The ellipsis of ``tuple[Order, ...]``.
_REST = Kind("...")


def _alternatives(given: object, what: str) -> list[_Alternative]:
    origin = get_origin(given)
    if origin in (Union, types.UnionType):
        return [each for one in get_args(given) for each in _alternatives(one, what)]
    if given is None:
        return [_Alternative(type(None))]
    if given is Any:
        return [_Alternative(object)]
    if origin is None:
        return [_Alternative(_checked(given, what))]
    arguments = get_args(given)
    of = _checked(origin, what)
    if of is tuple:
        return [_Alternative(of, tuple(_REST if one is ... else Kind.of(_some(one), what) for one in arguments))]
    of_elements = issubclass(of, Collection) and not issubclass(of, tuple)
    if not of_elements or len(arguments) != (2 if issubclass(of, Mapping) else 1):
        raise ArgumentError(
            f"{what}: a value does not show that it is a {_named(given)}; give only the class, {of.__qualname__}"
        )
    return [_Alternative(of, tuple(Kind.of(_some(one), what) for one in arguments))]


def _some(annotation: object) -> object:
    """An element's annotation, in which None means its class."""
    return type(None) if annotation is None else annotation


def _checked(given: object, what: str) -> type:
    """Raises ArgumentError for an annotation that no value can be checked against."""
    if not isinstance(given, type):
        raise ArgumentError(
            f"{what}: the second argument is the class of its values, such as Order, list[Order] or Order | str, "
            f"not {shown(given)}"
        )
    try:
        isinstance(None, given)
    except TypeError as error:
        # A TypedDict, or a protocol.
        raise ArgumentError(f"{what}: no value can be recognised by the class {given.__qualname__}: {error}") from error
    return given


def _named(given: object) -> str:
    """The annotation as the user wrote it, without modules."""
    if get_origin(given) in (Union, types.UnionType):
        return " | ".join(_named(one) for one in get_args(given))
    if get_origin(given) is not None:
        return (
            f"{_named(get_origin(given))}[{', '.join('...' if one is ... else _named(one) for one in get_args(given))}]"
        )
    return "None" if given is None or given is type(None) else getattr(given, "__qualname__", str(given))
