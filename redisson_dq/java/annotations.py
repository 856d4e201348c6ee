"""From Python's annotations, such as ``list[str]`` or ``Annotated[int, JavaType("long")]``, to Java's types."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Hashable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.java import numbers
from redisson_dq.java.arrays import Array, component_code
from redisson_dq.java.declared import declared_for, declared_in
from redisson_dq.java.fields import type_arguments
from redisson_dq.java.signatures import OBJECT, JavaType, Signature, array_signature, boxed

__all__ = ["choices_of", "hints_of", "is_transient", "signature_of", "transient"]

_UNIONS = (Union, types.UnionType)  # Optional[int] and int | None

#: Natural annotations: the Java type, and the one that may also be null.
_NATURAL: dict[Any, tuple[str, str]] = {
    bool: ("boolean", "java.lang.Boolean"),
    int: ("int", "java.lang.Integer"),
    float: ("double", "java.lang.Double"),
    **dict.fromkeys((Any, object, type(None)), (OBJECT.name, OBJECT.name)),
    **{
        kind: (name, name)
        for kind, name in (
            (str, "java.lang.String"),
            (bytes, "[B"),
            (Decimal, "java.math.BigDecimal"),
            (UUID, "java.util.UUID"),
            (date, "java.time.LocalDate"),
            (time, "java.time.LocalTime"),
            (timedelta, "java.time.Duration"),
            (list, "java.util.List"),
            (tuple, "java.util.List"),
            (set, "java.util.Set"),
            (frozenset, "java.util.Set"),
            (dict, "java.util.Map"),
            (numbers.Byte, "java.lang.Byte"),
            (numbers.Short, "java.lang.Short"),
            (numbers.Integer, "java.lang.Integer"),
            (numbers.Long, "java.lang.Long"),
            (numbers.BigInteger, "java.math.BigInteger"),
            (numbers.Float, "java.lang.Float"),
            (numbers.Double, "java.lang.Double"),
            (numbers.Character, "java.lang.Character"),
        )
    },
}


class _Transient:
    def __repr__(self) -> str:
        return "transient"


#: In ``Annotated[..., transient]``: the attribute is no field of the Java class.
transient = _Transient()


def hints_of(python: type) -> dict[str, Any]:
    """The resolved annotations of its attributes. Raises ArgumentError."""
    # Classes that were declared in a function see one another as those of a module do.
    try:
        return typing.get_type_hints(python, localns=declared_in(python.__module__), include_extras=True)
    except Exception as error:
        raise ArgumentError(f"the annotations of {python.__qualname__} cannot be resolved: {error}") from error


def is_transient(annotation: Any) -> bool:
    """Whether the attribute is no field of the Java class."""
    return get_origin(annotation) is Annotated and any(part is transient for part in annotation.__metadata__)


def signature_of(annotation: Any, *, where: str, null: bool = False) -> Signature:
    """The Java type that an annotation stands for. ``null``: it may be None, so a primitive is boxed.

    Raises ArgumentError for an annotation that stands for none or for several.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        for part in reversed(annotation.__metadata__):  # of two, the outer one
            if isinstance(part, JavaType):
                return _said(part.signature, annotation.__origin__, where=where, null=null)
        return signature_of(annotation.__origin__, where=where, null=null)
    if origin in _UNIONS:
        choices = choices_of(annotation)
        return signature_of(choices[0], where=where, null=True) if len(choices) == 1 else OBJECT
    if isinstance(annotation, TypeVar):
        bound = annotation.__bound__
        erased = signature_of(bound, where=where, null=True).name if bound is not None else OBJECT.name
        return Signature(erased, variable=annotation.__name__)
    kind = origin or annotation
    if not isinstance(kind, Hashable):  # [] and {} among them, for list and dict
        raise ArgumentError(f"{where}: {shown(annotation)} is not an annotation; write list[str], dict[str, int] ...")
    if kind in _NATURAL:
        natural = _NATURAL[kind]
        arguments = [argument for argument in get_args(annotation) if argument is not Ellipsis]
        return Signature(
            natural[1 if null else 0],
            tuple(signature_of(argument, where=where, null=True) for argument in arguments),
        )
    if kind is datetime:
        raise ArgumentError(
            f"{where}: datetime may be several Java types; use java.Instant, java.LocalDateTime, "
            "java.OffsetDateTime, java.ZonedDateTime, java.JavaDate or java.Timestamp"
        )
    return _class_signature(kind, annotation, where)


def _said(said: Signature, annotation: Any, *, where: str, null: bool) -> Signature:
    """A JavaType's type. One without type arguments has those of the annotation it is beside."""
    choices = choices_of(annotation)
    arguments = get_args(choices[0]) if len(choices) == 1 else ()
    if arguments and not said.arguments and not said.name.startswith("["):
        return Signature(said.name, tuple(signature_of(argument, where=where, null=True) for argument in arguments))
    return boxed(said) if null else said


def choices_of(annotation: Any) -> list[Any]:
    """The members of a union less None; any other annotation by itself."""
    members = get_args(annotation) if get_origin(annotation) in _UNIONS else (annotation,)
    return [member for member in members if member is not type(None)]


#: By class of the values that no field can be declared as: the declared type of their fields.
_DECLARED_AS = {"java.time.ZoneRegion": "java.time.ZoneId"}
#: Classes that have type arguments in Python only.
_NOT_GENERIC = frozenset(("java.util.Properties",))


def _class_signature(kind: Any, annotation: Any, where: str) -> Signature:
    given = get_args(annotation) or type_arguments(annotation)
    arguments = tuple(signature_of(argument, where=where, null=True) for argument in given)
    if inspect.isclass(kind):
        declared = declared_for(kind)
        if declared is not None:
            return Signature(declared.name, arguments)
        if issubclass(kind, Array):
            component = getattr(kind, "_component", None)
            if component is not None:
                return Signature("[" + component_code(component))
            return array_signature(arguments[0] if arguments else OBJECT)
        name = getattr(kind, "java_name", None)
        if isinstance(name, str):
            return Signature(_DECLARED_AS.get(name, name), () if name in _NOT_GENERIC else arguments)
        if issubclass(kind, BaseException):
            return Signature("java.lang.Throwable")
    raise ArgumentError(
        f"{where}: {shown(annotation)} has no Java type; declare the class with java_class, or name the type in "
        "Annotated[..., JavaType(...)]"
    )
