"""Declaring a Java class of one's own: a Python class, its Java name, and its fields' Java types.

A declaration is made once, by :func:`java_class`, and serves every codec that carries classes. The types come
from the annotations, resolved when a codec first needs them, so classes may refer to one another.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.java.declaration import Declaration, Rename
from redisson_dq.java.extending import collection_above, extended_by
from redisson_dq.java.fields import has_attributes, is_model
from redisson_dq.java.jackson import Json, JsonNames, json_of
from redisson_dq.java.registry import declaration_of, register
from redisson_dq.java.signatures import JavaType, is_class_name

__all__ = ["camel_case", "java_class"]

C = TypeVar("C", bound=type)

#: The hook that pydantic calls on a class that is none of its own kinds.
_SCHEMA = "__get_pydantic_core_schema__"


def java_class(
    name: str,
    *,
    record: bool = False,
    final: bool = False,
    constant_bodies: bool | Mapping[str, str] = False,
    rename: Rename = None,
    serial_version_uid: int | None = None,
    implements: Iterable[str | types.EllipsisType] | None = None,
    not_serialized: str = "",
    texts: Mapping[str, str] | types.EllipsisType | None = None,
    json: Json | JsonNames | None = None,
    json3: Json | JsonNames | None = None,
) -> Callable[[C], C]:
    """Declare that an attrs class, a dataclass, a pydantic model, an Enum or a subclass of a collection stands for the
    Java class ``name``.

    ``name`` is the binary name: ``com.acme.Order``, a nested class ``com.acme.Outer$Inner``. The class's own
    attributes are its fields, the Java superclass is the nearest declared base class. An annotation gives the
    field's Java type; :class:`JavaType` in ``Annotated`` gives another, :data:`transient` none.

    Say ``record=True`` for a record and ``final=True`` for a final class, as both decide what Kryo writes. Records are
    final. Enums are final unless ``constant_bodies=True`` says that some constants have bodies (``EARTH { .. }``). Kryo
    writes the class of such a body. Name it in ``constant_bodies={"EARTH": "com.acme.Planet$1"}`` if values that hold
    the constant are looked for by their bytes. Otherwise the enum itself is written, which Java reads as well.
    ``rename`` maps attribute names to Java's, as a dict or a function such as :func:`camel_case`. Without it the names
    are the same, less the underscore of ``class_``. ``serial_version_uid`` is needed to write the class with
    SerializationCodec.

    ``implements`` has all interfaces of the class and those that they extend, and Number if the class extends it. An
    object is refused in a field whose type is none of them. ``...`` as the last one says that there are more. Without
    ``implements`` no interface is known, and the class may be in a field of any. A superclass says its own. Those of a
    generic class are as in Java source with the names of the TypeVars: ``implements=["com.acme.Either<L, R>"]``.
    Jackson takes the type arguments of the object in a field of type ``Either<Geo, String>`` from it.

    ``texts`` is for an enum with a ``toString`` of its own, which Jackson 3 writes and reads instead of the names.
    ``texts={"LOW": "low"}`` gives it by Java's name of the constant. ``texts=...`` says that it has one
    whose texts are not known. The codecs of Jackson 3 do not write such a constant.

    ``json`` is for a class with annotations of Jackson: ``json={"amount": "amt"}`` for ``@JsonProperty("amt") long
    amount``, or a :class:`Json` with all that can be said. It counts for inherited fields as well, and a class without
    it has its superclass's. ``json3`` is for the codecs of Jackson 3, where another one counts there. Other codecs see
    neither.

    ``not_serialized`` is the reason why Java could not read an object if only its fields were written, as with a
    ``writeObject`` that writes more. SerializationCodec then raises EncodeError, and reads as before.

    A class that extends a collection in Java is a plain subclass of Python's: ``class Names(list[str])`` for one that
    extends ``ArrayList<String>``, ``class Index(java.HashMap[str, Order])``. Its annotations are its other fields.

    The decorator goes above ``@attrs.define`` or ``@dataclass``. Raises ArgumentError for another kind of
    class, for a name that is none, and for a Java class that another Python class stands for already.
    """
    if not isinstance(name, str) or not is_class_name(name):
        raise ArgumentError(
            f"java_class takes the binary name of the Java class, such as com.acme.Order, not {shown(name)}"
        )
    if isinstance(implements, str) or not isinstance(implements, (Iterable, types.NoneType)):
        raise ArgumentError(f"java_class({name!r}): implements must be a list of Java types, not {shown(implements)}")
    said = [*(implements if implements is not None else (...,))]
    interfaces = tuple(JavaType(one) for one in said if not isinstance(one, types.EllipsisType))

    def declare(python: C) -> C:
        as_type: type = python
        is_enum = isinstance(as_type, type) and issubclass(as_type, enum.Enum)
        extends = "" if is_enum else extended_by(as_type)
        above = "" if is_enum or extends else collection_above(as_type)
        if above:
            raise ArgumentError(
                f"java_class({name!r}): no declared class extends {above}, as not every codec of Java keeps its class "
                f"and its fields: send a {above} itself, or an object that has one in a field"
            )
        if not is_enum and not extends and not has_attributes(as_type):
            raise ArgumentError(
                f"java_class({name!r}) takes an attrs class, a dataclass, a pydantic model, an Enum or a subclass of a "
                "collection; put it above @attrs.define or @dataclass"
            )
        if extends and has_attributes(as_type):
            raise ArgumentError(
                f"java_class({name!r}): a subclass of a collection is a plain class, without attrs.define or dataclass"
            )
        known = declaration_of(name)
        if known is not None and _place(known.python) != _place(python):
            raise ArgumentError(f"{name} is already declared by {'.'.join(_place(known.python))}")
        kind = "enum" if is_enum else "collection" if extends else "record" if record else "class"
        is_final = not constant_bodies if is_enum else final or record
        bodies = constant_bodies if isinstance(constant_bodies, Mapping) else {}
        made = Declaration(
            *(name, python, kind, is_final, serial_version_uid, rename),
            implements=interfaces,
            implements_no_more=... not in said,
            bodies=bodies,
            extends=extends,
            not_serialized=not_serialized,
            texts=texts,
            own_json=json_of(json),
            own_json3=json_of(json3),
        )
        unknown = {*bodies, *(texts if isinstance(texts, Mapping) else ())}.difference(made.constants)
        if unknown:
            raise ArgumentError(f"{name} has no constant {sorted(unknown)[0]}")
        for one in (made.own_json, made.own_json3):
            if one is not None:
                one.check(name, made.java_names)
        register(made)
        if extends:
            as_type.java_name = name  # type: ignore[attr-defined]
        is_generic_model = is_model(as_type) and bool(getattr(as_type, "__parameters__", ()))
        if (attrs.has(as_type) or is_generic_model or extends) and _SCHEMA not in vars(as_type):
            setattr(as_type, _SCHEMA, classmethod(_schema_of))
        return python

    return declare


def _schema_of(cls: type, source: Any, handler: Any) -> Any:
    from redisson_dq.java.schemas import schema_of_attrs, schema_of_collection, schema_of_model

    known = schema_of_attrs if attrs.has(cls) else schema_of_model if is_model(cls) else schema_of_collection
    return known(cls, source, handler)


def _place(python: type) -> tuple[str, str]:
    return python.__module__, python.__qualname__


def camel_case(name: str) -> str:
    """``customer_id`` -> ``customerId``, for ``java_class(rename=camel_case)``."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
