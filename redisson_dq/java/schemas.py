"""Schemas for pydantic, and so for FastAPI, of this package's classes and of declared classes.

Pydantic asks a class for its schema. Only then is pydantic imported. A dataclass, an Enum and a model of pydantic need
nothing from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, time, timedelta
from enum import Enum
from functools import lru_cache
from types import GenericAlias
from typing import Any, TypeVar, Union, get_args, get_origin

import attrs

from redisson_dq.java.annotations import hints_of
from redisson_dq.java.arrays import Array
from redisson_dq.java.collections import Elements, Entries
from redisson_dq.java.fields import attributes_of, type_origin
from redisson_dq.java.maps import EnumMap
from redisson_dq.java.references import (
    AtomicBoolean,
    AtomicInteger,
    AtomicLong,
    AtomicReference,
    Optional,
    OptionalDouble,
    OptionalInt,
    OptionalLong,
)
from redisson_dq.java.registry import declaration_for
from redisson_dq.java.sets import EnumSet, OrderedSet
from redisson_dq.java.signatures import JavaType
from redisson_dq.java.values import BitSet
from redisson_dq.java.views import ListView, MapView, SetView

__all__ = ["add_schemas", "schema_of_attrs", "schema_of_collection", "schema_of_model"]

_METHOD = "__get_pydantic_core_schema__"

#: The function that pydantic calls. It gets the class, the annotation, and pydantic's GetCoreSchemaHandler.
_Schema = Callable[[Any, Any, Any], Any]


def add_schemas(classes: Iterable[Any]) -> None:
    """Give the classes of this package the method that pydantic calls. java_class does the same for a user's class."""
    for python in classes:
        if isinstance(python, type) and not issubclass(python, (Enum, JavaType)):  # pydantic would ask a JavaType too
            known = next((schema for base, schema in _BY_BASE if issubclass(python, base)), None)
            schema = known or (schema_of_attrs if attrs.has(python) else None)
            if schema is not None and _METHOD not in vars(python):
                setattr(python, _METHOD, classmethod(schema))


def _held(
    annotation: Callable[..., Any],
    make: Callable[[type, Any], Any] = lambda cls, value: cls(value),
    serialized: Callable[[Any], Any] | None = None,
    alike: tuple[type, ...] = (),
) -> _Schema:
    """The schema of a class whose objects are made of one value of the type ``annotation``.

    The class's type arguments go to ``annotation``. An object of the class, or of a class in ``alike``, stays as it is.
    """

    def schema(cls: type, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        inner = handler.generate_schema(annotation(*get_args(source)))
        serialization = None
        if serialized is not None:
            serialization = core_schema.plain_serializer_function_ser_schema(serialized, return_schema=inner)

        def validate(value: Any, validated: Callable[[Any], Any]) -> Any:
            return value if isinstance(value, (cls, *alike)) else make(cls, validated(value))

        return core_schema.no_info_wrap_validator_function(validate, inner, serialization=serialization)

    return schema


def _of_enum(annotation: Callable[..., Any], serialized: Callable[[Any], Any] | None = None) -> _Schema:
    """The schema of an EnumSet or an EnumMap, which is made with its enum."""

    def schema(cls: type, source: Any, handler: Any) -> Any:
        enum = (*get_args(source), None)[0]

        def make(kind: Any, value: Any) -> Any:
            if not (isinstance(enum, type) and issubclass(enum, Enum)):
                raise ValueError(f"the enum of this {kind.__name__} is not known")
            return kind(enum, value)

        return _held(annotation, make, serialized)(cls, source, handler)

    return schema


def _array(cls: type, source: Any, handler: Any) -> Any:
    """An array of objects of one class has no Python class of its own. A list is accepted for it."""
    component = getattr(cls, "_component", None)
    if component is None:
        return _held(_list_of, lambda _cls, value: value)(cls, source, handler)
    return _held(lambda *_: _list_of(_COMPONENTS[component]))(cls, source, handler)


def _text(cls: type, source: Any, handler: Any) -> Any:
    from pydantic_core import core_schema

    return core_schema.any_schema(serialization=core_schema.to_string_ser_schema())


def _list_of(*arguments: Any) -> Any:
    return list[arguments[0] if arguments else Any]  # type: ignore[misc]


def _dict_of(*arguments: Any) -> Any:
    return dict[arguments if arguments else (Any, Any)]  # type: ignore[misc]


def _pairs_of(*arguments: Any) -> Any:
    return list[tuple[arguments if arguments else (Any, Any)]]  # type: ignore[misc]


def _value_of(*arguments: Any) -> Any:
    return Union[arguments[0] if arguments else Any, None]


def _value(value: Any) -> Any:
    return value.value


def _plain(_cls: type, value: Any) -> Any:
    return value


def _set(_cls: type, value: Any) -> Any:
    return Elements("java.util.LinkedHashSet", value)


def _map(_cls: type, value: Any) -> Any:
    return Entries("java.util.LinkedHashMap", value)


def _pairs(value: Any) -> Any:
    return list(value.items() if hasattr(value, "items") else value)


_COMPONENTS: dict[str, Any] = {
    "boolean": bool,
    "char": str,
    **dict.fromkeys(("byte", "short", "int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "java.lang.String": Union[str, None],
    "java.lang.Object": Any,
}
#: The first match counts. JSON has only the elements of a view, so a view becomes a plain list or dict.
_BY_BASE: tuple[tuple[Any, _Schema], ...] = (
    (Array, _array),
    (Elements, _held(_list_of, _set, list, (set, OrderedSet, SetView))),
    (ListView, _held(_list_of, _plain)),
    (SetView, _held(_list_of, _plain, list)),
    (Entries, _held(_pairs_of, _map, _pairs, (dict, MapView))),
    (MapView, _held(_dict_of, _plain)),
    ((Optional, AtomicReference), _held(_value_of, serialized=_value)),
    ((OptionalInt, OptionalLong), _held(lambda *_: _value_of(int), serialized=_value)),
    (OptionalDouble, _held(lambda *_: _value_of(float), serialized=_value)),
    ((AtomicInteger, AtomicLong), _held(lambda *_: int, serialized=_value)),
    (AtomicBoolean, _held(lambda *_: bool, serialized=_value)),
    (BitSet, _held(lambda *_: list[int], serialized=sorted)),
    (EnumSet, _of_enum(_list_of, list)),
    (EnumMap, _of_enum(_dict_of)),
    ((OrderedSet, set), _held(_list_of, serialized=list)),
    (list, _held(_list_of)),
    (dict, _held(_dict_of)),
    (datetime, _held(lambda *_: datetime)),
    (time, _held(lambda *_: time)),
    (timedelta, _held(lambda *_: timedelta)),
    (int, _held(lambda *_: int)),
    (float, _held(lambda *_: float)),
    (str, _held(lambda *_: str)),
    (bytes, _held(lambda *_: bytes)),
    (BaseException, _text),
)


def schema_of_collection(cls: type, source: Any, handler: Any) -> Any:
    """The schema of a declared subclass of a collection. Its elements have the types that the class declares."""
    schema = next(schema for base, schema in _BY_BASE if issubclass(cls, base))
    held = _held_types(cls, get_args(source))
    return schema(cls, GenericAlias(cls, held) if held else cls, handler)


def _held_types(cls: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The type arguments of the collection that a class extends. ``arguments`` are those of the class itself."""
    given = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
    for base in vars(cls).get("__orig_bases__", cls.__bases__):
        origin = get_origin(base) or base
        if isinstance(origin, type) and issubclass(origin, (list, dict, set, OrderedSet)):
            held = tuple(_with_arguments(argument, given) for argument in get_args(base))
            return held if declaration_for(origin) is None else _held_types(origin, held)
    return ()


def schema_of_attrs(cls: type, source: Any, handler: Any) -> Any:
    """Pydantic validates an attrs class as a TypedDict of its attributes."""
    from pydantic_core import core_schema

    inner = handler.generate_schema(_typed_dict(cls, source if get_origin(source) is not None else cls))
    attributes = attributes_of(cls)
    names = {one.name: one.init_name for one in attributes}

    def validate(value: Any, validated: Callable[[Any], Any]) -> Any:
        if isinstance(value, cls):
            return value
        given = validated(value)
        made = cls(**{taken: given[name] for name, taken in names.items() if taken is not None and name in given})
        for name in given:
            if names[name] is None:
                object.__setattr__(made, name, given[name])
        return made

    return core_schema.no_info_wrap_validator_function(
        validate,
        inner,
        serialization=core_schema.plain_serializer_function_ser_schema(
            lambda value: {one.name: getattr(value, one.name) for one in attributes}, return_schema=inner
        ),
    )


def schema_of_model(cls: Any, source: Any, handler: Any) -> Any:
    """The schema of a generic model that leaves objects of subclasses as they are.

    For pydantic, an object of a subclass is no ``Result[Geo]``. Pydantic would convert it, and drop the fields of the
    subclass.
    """
    from pydantic_core import core_schema

    origin = type_origin(cls)
    schema = handler(source)
    if origin is None:
        return schema
    return core_schema.no_info_wrap_validator_function(
        lambda value, validated: value if isinstance(value, origin) else validated(value), schema
    )


@lru_cache(maxsize=1024)
def _typed_dict(cls: type, source: Any) -> Any:
    """The one TypedDict of a class. So pydantic recognizes a class that contains itself."""
    from typing_extensions import NotRequired, TypedDict

    hints = hints_of(cls)
    given = dict(zip(getattr(cls, "__parameters__", ()), get_args(source), strict=False))
    found = {}
    for one in attributes_of(cls):
        annotation = _with_arguments(hints[one.name], given)
        found[one.name] = annotation if one.required else NotRequired[annotation]
    made: Any = TypedDict(cls.__name__, found)  # type: ignore[misc]
    made.__module__, made.__qualname__, made.__doc__ = cls.__module__, cls.__qualname__, cls.__doc__
    return made


def _with_arguments(annotation: Any, given: dict[Any, Any]) -> Any:
    """The annotation with its type variables replaced: by the given types, or by Any."""
    if isinstance(annotation, TypeVar):
        return given.get(annotation, Any)
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters:
        return annotation
    return annotation[tuple(given.get(parameter, Any) for parameter in parameters)]
