"""A codec of Java values for a queue with one element type, like Java's ``RDelayedQueue<Long>``."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from redisson_dq.codecs.base import Codec, T
from redisson_dq.codecs.faults import Malformed, decode_error, encode_error
from redisson_dq.errors import ArgumentError
from redisson_dq.java.annotations import choices_of, signature_of
from redisson_dq.java.conversions import Misfit
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.generics import arguments_in
from redisson_dq.java.places import field_places, place_of
from redisson_dq.java.registry import declaration_for
from redisson_dq.java.signatures import Signature, with_arguments

__all__ = ["TypedCodec"]

_WHERE = "type="


class TypedCodec(Codec[T]):
    """``inner`` for values of one type: ``Kryo5Codec().typed(java.Long)``.

    ``type`` is an annotation of Java values: ``java.Long``, a declared class, ``list[Order]``, ``Page[Order]``, ``Order
    | Invoice``. A plain value is converted to the type, as in a field with this declared type: ``5`` becomes a Long.
    Any other value raises EncodeError, and bytes of any other value raise DecodeError. The bytes are those of
    ``inner``.
    """

    def __init__(self, inner: Codec[Any], type: Any) -> None:
        self._inner = inner
        self._type = type
        choices = choices_of(type)
        try:
            self._places = [_Root(signature_of(each, where=_WHERE, null=True)) for each in choices]
        except ArgumentError as error:
            raise ArgumentError(f"{error}. With codec=JsonCodec() a queue that only Python uses needs none") from error

    @property
    def name(self) -> str:
        """The name in error messages: that of the inner codec."""
        return self._inner.name

    def typed(self, type: Any) -> Codec[Any]:
        """A codec for values of another type."""
        return self._inner.typed(type)

    def encode(self, value: T) -> bytes:
        """The bytes of ``value`` as one of the type. Raises EncodeError. O(size)."""
        try:
            placed = self._placed(value)
        except Exception as error:
            raise encode_error(error, self.name) from error
        return self._inner.encode(placed)

    def decode(self, data: bytes) -> T:
        """The value of ``data``. Raises DecodeError, also for a value of another type. O(size)."""
        value = self._inner.decode(data)
        try:
            return self._placed(value)  # type: ignore[no-any-return]
        except Exception as error:
            fault = Malformed(f"a queue of another type: {error}", stale=False)
            raise decode_error(fault, self.name, data) from error

    def memory_of(self, data: bytes) -> int:
        """The memory that the inner codec needs."""
        return self._inner.memory_of(data)

    def _placed(self, value: Any) -> Any:
        if len(self._places) == 1:
            return self._places[0](value)
        for place in self._places:
            try:
                return place(value)
            except Misfit:
                continue
        raise Misfit(value, str(self._type))

    def __repr__(self) -> str:
        return f"{self._inner!r}.typed({getattr(self._type, '__qualname__', self._type)})"


class _Root:
    """The place of a whole value. Objects of generic classes in it get the types of their arguments, as in Java."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._place = place_of(signature)
        self._exact = frozenset() if self._place is None or signature.arguments else self._place.exact

    def __call__(self, value: Any) -> Any:
        if self._place is None or type(value) in self._exact:
            return value
        return _with_arguments(self._place(value, {}), self._signature)


def _with_arguments(value: Any, signature: Signature) -> Any:
    """The value itself, or a copy in which fields of generic classes are converted to their type arguments."""
    arguments = signature.arguments
    if not arguments or value is None:
        return value
    declaration = declaration_for(type(value))
    if declaration is not None:
        given = arguments_in(declaration, signature) if declaration.parameters and not declaration.extends else None
        return _with_fields(value, declaration, given) if given else value
    if type(value) in (list, tuple) and len(arguments) == 1:
        return _rebuilt(value, [_with_arguments(item, arguments[0]) for item in value])
    if type(value) is dict and len(arguments) == 2:
        found = {key: _with_arguments(item, arguments[1]) for key, item in value.items()}
        return value if all(map(_is, found.values(), value.values())) else found
    return value


def _with_fields(value: Any, declaration: Declaration, given: tuple[Signature, ...]) -> Any:
    bound = dict(zip(declaration.parameters, given, strict=False))
    places = field_places(declaration, given)
    made = value
    for _name, fields in declaration.typed_fields:
        for field in fields:
            place = places[field.attribute]
            old = getattr(value, field.attribute)
            new = old if place is None else _inside(field.attribute, place, old)
            new = _with_arguments(new, with_arguments(field.type, bound))
            if new is not old:
                made = copy.copy(value) if made is value else made
                object.__setattr__(made, field.attribute, new)
    return made


def _inside(attribute: str, place: Callable[[Any, Any], Any], value: Any) -> Any:
    try:
        return place(value, {})
    except Misfit as error:
        error.steps.append(attribute)
        raise


def _rebuilt(value: Any, items: list[Any]) -> Any:
    return value if all(map(_is, items, value)) else type(value)(items)


def _is(one: Any, other: Any) -> bool:
    return one is other
