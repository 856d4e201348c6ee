"""Declaring a Java class of one's own: a Python class, its Java name, and its fields' Java types.

A declaration is made once, by :func:`java_class`, and serves every codec that carries classes. The types come
from the annotations, resolved when a codec first needs them, so classes may refer to one another.
"""

from __future__ import annotations

import enum
import inspect
import keyword
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java import numbers
from redisson_dq.java.arrays import Array, component_code
from redisson_dq.java.fields import attributes_of, has_attributes, is_model, type_arguments, type_origin
from redisson_dq.java.signatures import (
    OBJECT,
    JavaType,
    Signature,
    array_signature,
    boxed,
    is_class_name,
    with_arguments,
    with_variables,
)

__all__ = [
    "Declaration",
    "Field",
    "camel_case",
    "declaration_for",
    "declaration_of",
    "generation",
    "hints_of",
    "java_class",
    "may_extend",
    "signature_of",
    "transient",
]

C = TypeVar("C", bound=type)

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


@attrs.frozen
class Field:
    """One field: Java's name for it, Python's, and its type."""

    name: str
    attribute: str
    type: Signature


_Rename = Union[Mapping[str, str], Callable[[str], str], None]


@attrs.frozen(eq=False, slots=False)
class Declaration:
    """What is known of a declared class. Made by :func:`java_class`; the codecs read it."""

    name: str
    python: type
    kind: str  # class, record, enum or collection
    final: bool
    serial_version_uid: int | None
    rename: _Rename = attrs.field(repr=False)
    implements: tuple[JavaType, ...] = attrs.field(default=(), repr=False)
    #: Whether the class itself implements nothing else.
    implements_no_more: bool = attrs.field(default=False, repr=False)
    #: Of an enum, by Java's name of a constant: the class of its body, of those that are known.
    bodies: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    #: Of a subclass of a collection: the class of java.util that it extends.
    extends: str = ""
    #: Of an enum with a toString() of its own, by Java's name of a constant: what it gives. An ellipsis: not known.
    texts: Mapping[str, str] | types.EllipsisType | None = attrs.field(default=None, repr=False)
    #: Why Java could not read what Java's serialization has of the fields.
    not_serialized: str = ""

    @cached_property
    def elements(self) -> tuple[Signature, ...]:
        """Of a subclass of a collection: the type arguments of that class, in terms of its own parameters."""
        for base in getattr(self.python, "__orig_bases__", ()):
            arguments = tuple(self._type(one, where=self.name, null=True) for one in get_args(base))
            above = _by_python.get(get_origin(base))
            if above is not None:
                given = dict(zip(above.parameters, arguments, strict=False))
                return tuple(with_arguments(part, given) for part in above.elements)
            if _collection_of(get_origin(base)):
                return arguments
        return self.superclass.elements if self.superclass is not None else ()

    @cached_property
    def superclass(self) -> Declaration | None:
        """The declaration of the nearest base class that has one."""
        for base in self.python.__mro__[1:]:
            found = _by_python.get(base)
            if found is not None:
                return found
        return None

    @cached_property
    def superclass_type(self) -> Signature | None:
        """The superclass with its type arguments."""
        if self.superclass is None:
            return None
        for base in (*getattr(self.python, "__orig_bases__", ()), *self.python.__bases__):
            if (get_origin(base) or type_origin(base)) is self.superclass.python:
                return self._type(base, where=self.name)
        if is_model(self.python) and set(self.superclass.parameters) <= set(self.parameters):
            # pydantic's Box[T] is Box itself where T is what Box has.
            return Signature(
                self.superclass.name,
                tuple(signature_of(one, where=self.name) for one in self.superclass.python.__parameters__),  # type: ignore[attr-defined]
            )
        return Signature(self.superclass.name)

    @cached_property
    def interfaces(self) -> tuple[Signature, ...]:
        """The generic interfaces that the class implements itself, with their type arguments."""
        return tuple(
            self._type(Annotated[Any, said], where=self.name) for said in self.implements if said.signature.arguments
        )

    @cached_property
    def says_all(self) -> bool:
        """Whether all supertypes are known: no class from here upwards implements more than it says."""
        return self.implements_no_more and (self.superclass is None or self.superclass.says_all)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the class's type parameters."""
        return tuple(parameter.__name__ for parameter in getattr(self.python, "__parameters__", ()))

    def _type(self, annotation: Any, *, where: str, null: bool = False) -> Signature:
        """What an annotation in this class stands for: a JavaType may name the class's type parameters."""
        parameters = getattr(self.python, "__parameters__", ())
        variables = {parameter.__name__: signature_of(parameter, where=where) for parameter in parameters}
        return with_variables(signature_of(annotation, where=where, null=null), variables)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields of this class itself, in the order of the Python class. Raises ArgumentError for an
        annotation that stands for no Java type."""
        if self.kind == "enum":
            return ()
        inherited = {field.attribute for field in self.superclass.all_fields} if self.superclass else set()
        names = [name for name in _attribute_names(self.python) if name not in inherited]
        hints = hints_of(self.python)
        return tuple(
            Field(self._java_name(name), name, self._type(hints[name], where=f"{self.name}.{name}"))
            for name in names
            if not _is_transient(hints[name])
        )

    @cached_property
    def has_attributes(self) -> bool:
        """Whether there is any attribute, transient ones included: known without looking at their types."""
        return self.kind == "enum" or bool(_attribute_names(self.python))

    @cached_property
    def all_fields(self) -> tuple[Field, ...]:
        """The superclass's fields, then this class's."""
        return (*(self.superclass.all_fields if self.superclass else ()), *self.fields)

    @cached_property
    def typed_fields(self) -> tuple[tuple[str, tuple[Field, ...]], ...]:
        """By class, the topmost first: its fields as an object of this class has them, with the type arguments that
        the subclasses give."""
        found: list[tuple[str, tuple[Field, ...]]] = []
        current: Declaration | None = self
        given: dict[str, Signature] = {}
        while current is not None:
            fields = tuple(attrs.evolve(field, type=with_arguments(field.type, given)) for field in current.fields)
            found.append((current.name, fields))
            above, type_ = current.superclass, current.superclass_type
            if above is not None and type_ is not None:
                arguments = (with_arguments(argument, given) for argument in type_.arguments)
                given = dict(zip(above.parameters, arguments, strict=False))
            current = above
        return tuple(reversed(found))

    @cached_property
    def members(self) -> tuple[enum.Enum, ...]:
        """An enum's members by ordinal."""
        return tuple(self.python) if issubclass(self.python, enum.Enum) else ()

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """Java's names of an enum's members, by ordinal."""
        return tuple(self._java_name(member.name) for member in self.members)

    @cached_property
    def _init_names(self) -> dict[str, str]:
        """By attribute: what ``__init__`` calls it, of those it takes."""
        return {one.name: one.init_name for one in attributes_of(self.python) if one.init_name is not None}

    @cached_property
    def takes_all(self) -> bool:
        """Whether ``__init__`` takes every field by the name of its attribute."""
        return all(self._init_names.get(field.attribute) == field.attribute for field in self.all_fields)

    @cached_property
    def is_made_by_init(self) -> bool:
        """Whether a call of the class makes an object and calls ``__init__``, and nothing else. To do these two here
        takes half as long."""
        python: Any = self.python
        return (
            isinstance(python.__init__, types.FunctionType)
            and python.__new__ is object.__new__
            and type(python).__call__ is type.__call__
        )

    def new(self) -> Any:
        """An object without its values yet, for values that refer back to it; :meth:`fill` completes it."""
        return object.__new__(self.python)

    def fill(self, instance: Any, values: dict[str, Any]) -> None:
        """Give a new object its values, by attribute: through its own ``__init__``, as the user's code would.

        Attributes that ``__init__`` does not take are set afterwards. Raises ValueError when ``__init__`` does.
        """
        names = self._init_names
        try:
            instance.__init__(**{names[key]: value for key, value in values.items() if key in names})
            for key, value in values.items():
                if key not in names:
                    object.__setattr__(instance, key, value)
        except RecursionError:
            raise
        except Exception as error:
            raise self.unmakable(error) from error

    def make(self, values: dict[str, Any]) -> Any:
        """A complete object of its values by attribute. Raises ValueError when its ``__init__`` does."""
        if self.takes_all:
            python: Any = self.python
            try:
                if not self.is_made_by_init:
                    return python(**values)
                instance = object.__new__(python)
                if python.__init__(instance, **values) is not None:
                    raise TypeError("__init__() should return None")
                return instance
            except RecursionError:
                raise
            except Exception as error:
                raise self.unmakable(error) from error
        instance = self.new()
        self.fill(instance, values)
        return instance

    def collection(self, like: Any) -> Any:
        """An object of a subclass of a collection, with the elements of ``like`` and all that is known of that one.

        What Python cannot hold in a set or a dict stays as it is, under the name of the class. Raises ValueError.
        """
        if type(like).__name__ in ("Elements", "Entries"):
            like.java_name = self.name
            return like
        try:
            made = self.python(like)
        except RecursionError:
            raise
        except Exception as error:
            raise self.unmakable(error) from error
        for name in ("table", "comparator", "capacity", "increment"):
            if hasattr(like, name):
                setattr(made, name, getattr(like, name))
        return made

    def unmakable(self, error: Exception) -> ValueError:
        """What to raise when the class's own ``__init__`` raised this."""
        failure = ValueError(f"{self.python.__qualname__} cannot be made: {type(error).__name__}: {error}")
        failure.__cause__ = error
        return failure

    def _java_name(self, attribute: str) -> str:
        if callable(self.rename):
            return self.rename(attribute)
        if self.rename and attribute in self.rename:
            return self.rename[attribute]
        stripped = attribute[:-1]
        return stripped if attribute.endswith("_") and keyword.iskeyword(stripped) else attribute


_by_name: dict[str, Declaration] = {}
_by_python: dict[type, Declaration] = {}
_generation = 0


def generation() -> int:
    """Another number whenever a class was declared: what was found by a name before may not be what it is now."""
    return _generation


def declaration_of(java_name: str) -> Declaration | None:
    """The declaration of a Java class, by its binary name. O(1)."""
    return _by_name.get(java_name)


def declaration_for(python: type) -> Declaration | None:
    """The declaration of a Python class itself, not of its bases. O(1)."""
    found = _by_python.get(python)
    return found if found is not None else _by_python.get(type_origin(python))


def java_class(
    name: str,
    *,
    record: bool = False,
    final: bool = False,
    constant_bodies: bool | Mapping[str, str] = False,
    rename: _Rename = None,
    serial_version_uid: int | None = None,
    implements: Iterable[str | types.EllipsisType] | None = None,
    not_serialized: str = "",
    texts: Mapping[str, str] | types.EllipsisType | None = None,
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
    ``texts={"LOW": "low"}`` gives it by Java's name of the constant. ``texts=...`` says that it has one, and not what
    it gives. The codecs of Jackson 3 do not write such a constant.

    ``not_serialized`` is the reason why Java could not read an object if its fields alone were written, as with a
    ``writeObject`` that writes more. SerializationCodec then raises EncodeError, and reads what it did.

    A class that extends a collection in Java is a plain subclass of Python's: ``class Names(list[str])`` for one that
    extends ``ArrayList<String>``, ``class Index(java.HashMap[str, Order])``. Its annotations are its other fields.

    The decorator goes above ``@attrs.define`` or ``@dataclass``. Raises ArgumentError for another kind of
    class, for a name that is none, and for a Java class that another Python class stands for already.
    """
    if not isinstance(name, str) or not is_class_name(name):
        raise ArgumentError(f"java_class takes the Java class's binary name, as com.acme.Order, not {name!r}")
    if isinstance(implements, str):
        raise ArgumentError(f"java_class({name!r}): implements is a list of Java types, not the text {implements!r}")
    said = [*(implements if implements is not None else (...,))]
    interfaces = tuple(JavaType(one) for one in said if not isinstance(one, types.EllipsisType))

    def declare(python: C) -> C:
        as_type: type = python
        is_enum = isinstance(as_type, type) and issubclass(as_type, enum.Enum)
        extends = "" if is_enum else _collection_of(as_type)
        if not is_enum and not extends and not has_attributes(as_type):
            raise ArgumentError(
                f"java_class({name!r}) takes an attrs class, a dataclass, a pydantic model, an Enum or a subclass of a "
                "collection; put it above @attrs.define or @dataclass"
            )
        if extends and has_attributes(as_type):
            raise ArgumentError(
                f"java_class({name!r}): a subclass of a collection is a plain class, without attrs.define or dataclass"
            )
        known = _by_name.get(name)
        if known is not None and _place(known.python) != _place(python):
            raise ArgumentError(f"{name} is declared already, by {'.'.join(_place(known.python))}")
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
        )
        unknown = {*bodies, *(texts if isinstance(texts, Mapping) else ())}.difference(made.constants)
        if unknown:
            raise ArgumentError(f"{name} has no constant {sorted(unknown)[0]}")
        _by_name[name] = _by_python[python] = made
        if extends:
            as_type.java_name = name  # type: ignore[attr-defined]
        is_generic_model = is_model(as_type) and bool(getattr(as_type, "__parameters__", ()))
        if (attrs.has(as_type) or is_generic_model or extends) and _SCHEMA not in vars(as_type):
            setattr(as_type, _SCHEMA, classmethod(_schema_of))
        global _generation
        _generation += 1
        return python

    return declare


#: The collections of java.util that a class may extend, as far as Python has a class that holds the same.
_EXTENSIBLE = frozenset(
    (
        *("ArrayList", "LinkedList", "Vector", "Stack", "ArrayDeque", "PriorityQueue", "HashSet", "LinkedHashSet"),
        *("TreeSet", "HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "concurrent.ConcurrentHashMap"),
        *("concurrent.CopyOnWriteArrayList", "concurrent.ConcurrentSkipListMap", "concurrent.LinkedBlockingQueue"),
    )
)
_PLAIN_COLLECTIONS: dict[Any, str] = {
    list: "java.util.ArrayList",
    set: "java.util.HashSet",
    dict: "java.util.LinkedHashMap",
}


def _collection_of(python: Any) -> str:
    """The collection of java.util that a Python class extends; empty if it extends none that Java's classes may."""
    for base in getattr(python, "__mro__", ()):
        known = _by_python.get(base)
        if known is not None and known.extends:
            return known.extends
        name = _PLAIN_COLLECTIONS.get(base) or str(vars(base).get("java_name", ""))
        if name.startswith("java.") or isinstance(vars(base).get("java_name"), property):
            return name if may_extend(name) else ""
    return ""


def may_extend(java_name: str) -> bool:
    """Whether a declared class may extend this collection of the JDK."""
    return java_name.removeprefix("java.util.") in _EXTENSIBLE


#: What pydantic asks of a class that is none of its own kinds.
_SCHEMA = "__get_pydantic_core_schema__"


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


def _attribute_names(python: type) -> list[str]:
    return [one.name for one in attributes_of(python)]


def hints_of(python: type) -> dict[str, Any]:
    """The resolved annotations of its attributes. Raises ArgumentError."""
    # Classes that were declared in a function see one another as those of a module do.
    module = python.__module__
    neighbours = {known.__name__: known for known in _by_python if known.__module__ == module}
    try:
        return typing.get_type_hints(python, localns=neighbours, include_extras=True)
    except Exception as error:
        raise ArgumentError(f"the annotations of {python.__qualname__} cannot be resolved: {error}") from error


def _is_transient(annotation: Any) -> bool:
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
        choices = _choices(annotation)
        return signature_of(choices[0], where=where, null=True) if len(choices) == 1 else OBJECT
    if isinstance(annotation, TypeVar):
        bound = annotation.__bound__
        erased = signature_of(bound, where=where, null=True).name if bound is not None else OBJECT.name
        return Signature(erased, variable=annotation.__name__)
    kind = origin or annotation
    if not isinstance(kind, Hashable):  # [] and {} among them, for list and dict
        raise ArgumentError(f"{where}: {annotation!r} is no annotation; say list[str], dict[str, int] ...")
    if kind in _NATURAL:
        natural = _NATURAL[kind]
        arguments = [argument for argument in get_args(annotation) if argument is not Ellipsis]
        return Signature(
            natural[1 if null else 0],
            tuple(signature_of(argument, where=where, null=True) for argument in arguments),
        )
    if kind is datetime:
        raise ArgumentError(
            f"{where}: datetime stands for several Java types; say java.Instant, java.LocalDateTime, "
            "java.OffsetDateTime, java.ZonedDateTime, java.JavaDate or java.Timestamp"
        )
    return _class_signature(kind, annotation, where)


def _said(said: Signature, annotation: Any, *, where: str, null: bool) -> Signature:
    """A JavaType's type. One without type arguments has those of the annotation it stands beside."""
    choices = _choices(annotation)
    arguments = get_args(choices[0]) if len(choices) == 1 else ()
    if arguments and not said.arguments and not said.name.startswith("["):
        return Signature(said.name, tuple(signature_of(argument, where=where, null=True) for argument in arguments))
    return boxed(said) if null else said


def _choices(annotation: Any) -> list[Any]:
    """The members of a union less None; any other annotation by itself."""
    members = get_args(annotation) if get_origin(annotation) in _UNIONS else (annotation,)
    return [member for member in members if member is not type(None)]


#: By the class of its values: what a field is declared as whose class is none that a field can have.
_DECLARED_AS = {"java.time.ZoneRegion": "java.time.ZoneId"}
#: Classes that have type arguments in Python only.
_NOT_GENERIC = frozenset(("java.util.Properties",))


def _class_signature(kind: Any, annotation: Any, where: str) -> Signature:
    given = get_args(annotation) or type_arguments(annotation)
    arguments = tuple(signature_of(argument, where=where, null=True) for argument in given)
    if inspect.isclass(kind):
        declared = declaration_for(kind)
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
        f"{where}: {annotation!r} stands for no Java type; declare the class with java_class, or say the type in "
        "Annotated[..., JavaType(...)]"
    )
