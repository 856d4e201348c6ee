"""The declaration of a Java class: its fields and supertypes. It makes the class's objects."""

from __future__ import annotations

import enum
import keyword
import types
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Union, get_args, get_origin

import attrs

from redisson_dq.java.annotations import hints_of, is_transient, signature_of
from redisson_dq.java.declared import declared_for
from redisson_dq.java.extending import extended_by
from redisson_dq.java.fields import attributes_of, is_model, type_origin
from redisson_dq.java.jackson import Json
from redisson_dq.java.signatures import JavaType, Signature, with_arguments, with_variables

__all__ = ["Declaration", "Field", "Rename"]


@attrs.frozen
class Field:
    """One field: Java's name for it, Python's, and its type."""

    name: str
    attribute: str
    type: Signature


#: Of a class without annotations of Jackson.
_PLAIN_JSON = Json()

#: How attribute names become the names of Java fields.
Rename = Union[Mapping[str, str], Callable[[str], str], None]


@attrs.frozen(eq=False, slots=False)
class Declaration:
    """The facts about a declared class. :func:`java_class` makes it, and the codecs read it."""

    name: str
    python: type
    kind: str  # class, record, enum or collection
    final: bool
    serial_version_uid: int | None
    rename: Rename = attrs.field(repr=False)
    implements: tuple[JavaType, ...] = attrs.field(default=(), repr=False)
    #: Whether the class itself implements nothing else.
    implements_no_more: bool = attrs.field(default=False, repr=False)
    #: Of an enum, by Java's name of a constant: the class of its body, of those that are known.
    bodies: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    #: Of a subclass of a collection: the class of java.util that it extends.
    extends: str = ""
    #: Of an enum with a toString() of its own, by Java's name of a constant: its text. An ellipsis: not known.
    texts: Mapping[str, str] | types.EllipsisType | None = attrs.field(default=None, repr=False)
    #: Why Java could not read the fields in the form of Java's serialization.
    not_serialized: str = ""
    #: The class's own annotations about its JSON, and about the JSON of Jackson 3.
    own_json: Json | None = attrs.field(default=None, repr=False)
    own_json3: Json | None = attrs.field(default=None, repr=False)

    @cached_property
    def elements(self) -> tuple[Signature, ...]:
        """Of a subclass of a collection: the type arguments of that class, in terms of its own parameters."""
        for base in getattr(self.python, "__orig_bases__", ()):
            arguments = tuple(self._type(one, where=self.name, null=True) for one in get_args(base))
            above = declared_for(get_origin(base))
            if isinstance(above, Declaration):
                given = dict(zip(above.parameters, arguments, strict=False))
                return tuple(with_arguments(part, given) for part in above.elements)
            if extended_by(get_origin(base)):
                return arguments
        return self.superclass.elements if self.superclass is not None else ()

    @cached_property
    def json(self) -> Json:
        """The content of Jackson's annotations on the class."""
        above = self.superclass.json if self.superclass is not None else _PLAIN_JSON
        return self._as_number(above if self.own_json is None else self.own_json)

    @cached_property
    def json3(self) -> Json:
        """The content of the annotations that Jackson 3 reads."""
        said = self.own_json if self.own_json3 is None else self.own_json3
        above = self.superclass.json3 if self.superclass is not None else _PLAIN_JSON
        return self._as_number(above if said is None else said)

    def _as_number(self, said: Json) -> Json:
        """Jackson writes a subclass of Number as its toString(), without quotes and fields, and cannot read that."""
        if said.refused or not self.is_number:
            return said
        return attrs.evolve(said, refused="the superclass java.lang.Number")

    @cached_property
    def is_number(self) -> bool:
        """Whether the class is known to extend Number."""
        is_said = any(one.signature.name == "java.lang.Number" for one in self.implements)
        return is_said or (self.superclass is not None and self.superclass.is_number)

    @property
    def java_names(self) -> frozenset[str]:
        """Java's names of all attributes, the inherited ones and the transient ones too, or of an enum's constants."""
        if self.kind == "enum":
            return frozenset(self.constants)
        found: set[str] = set()
        current: Declaration | None = self
        while current is not None:
            found.update(map(current._java_name, _attribute_names(current.python)))
            current = current.superclass
        return frozenset(found)

    @cached_property
    def superclass(self) -> Declaration | None:
        """The declaration of the nearest base class that has one."""
        for base in self.python.__mro__[1:]:
            found = declared_for(base)
            if isinstance(found, Declaration):
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
            # pydantic's Box[T] is Box itself where T is Box's own parameter.
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
        """The Java type of an annotation in this class. A JavaType may name the class's type parameters."""
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
            if not is_transient(hints[name])
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
        """By attribute: its name in ``__init__``, of those that ``__init__`` takes."""
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

        Elements that Python cannot hold in a set or a dict stay as they are, under the name of the class. Raises
        ValueError.
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
        """The error to raise when the class's own ``__init__`` raised this."""
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


def _attribute_names(python: type) -> list[str]:
    return [one.name for one in attributes_of(python)]
