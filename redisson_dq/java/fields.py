"""The attributes of a user's class: an attrs class, a dataclass, or a pydantic model."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

__all__ = ["Attribute", "attributes_of", "has_attributes", "is_model", "type_arguments", "type_origin"]


@attrs.frozen
class Attribute:
    """One attribute. ``init_name`` is its parameter of ``__init__``, None if there is none. ``default`` makes its
    default value. It is None if a value must be given.
    """

    name: str
    init_name: str | None
    default: Callable[[], Any] | None

    @property
    def required(self) -> bool:
        """Whether ``__init__`` requires the attribute."""
        return self.default is None


def is_model(python: Any) -> bool:
    """Whether this is a model of pydantic. Pydantic itself is not imported."""
    return isinstance(python, type) and any(
        base.__name__ == "BaseModel" and base.__module__.partition(".")[0] == "pydantic" for base in python.__mro__
    )


def has_attributes(python: Any) -> bool:
    """Whether the class is of one of the three kinds."""
    return attrs.has(python) or dataclasses.is_dataclass(python) or is_model(python)


def attributes_of(python: Any) -> list[Attribute]:
    """All attributes, those of superclasses first."""
    if attrs.has(python):
        return [_of_attrs(field) for field in attrs.fields(python)]
    if dataclasses.is_dataclass(python):
        return [_of_dataclass(field) for field in dataclasses.fields(python)]
    if is_model(python):
        return [_of_model(python.model_config, name, info) for name, info in python.model_fields.items()]
    return [Attribute(name, None, _always(getattr(python, name, None))) for name in _annotated(python)]


def _annotated(python: type) -> list[str]:
    """The names that a subclass of a collection and its superclasses annotate. Classes of this library and of Python
    are left out.
    """
    found: dict[str, None] = {}
    for base in reversed(python.__mro__):
        if not base.__module__.startswith(("redisson_dq.java", "builtins", "typing", "collections")):
            found.update({name: None for name, hint in _own_hints(base).items() if "ClassVar" not in str(hint)})
    return list(found)


def _own_hints(python: type) -> dict[str, Any]:
    """The class's own annotations, without those of base classes. Nothing that they name has to be there yet."""
    if sys.version_info >= (3, 14):
        # From there on they are evaluated when they are read, unless they are read as texts.
        import annotationlib

        return annotationlib.get_annotations(python, format=annotationlib.Format.STRING)
    return inspect.get_annotations(python)


def _of_attrs(field: Any) -> Attribute:
    default: Callable[[], Any] | None = None
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        # A default that needs the object itself is not known.
        default = _none if field.default.takes_self else field.default.factory
    elif field.default is not attrs.NOTHING:
        default = _always(field.default)
    return Attribute(field.name, (field.alias or field.name) if field.init else None, default)


def _of_dataclass(field: Any) -> Attribute:
    default: Callable[[], Any] | None = None
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory
    elif field.default is not dataclasses.MISSING:
        default = _always(field.default)
    return Attribute(field.name, field.name if field.init else None, default)


def _of_model(config: Any, name: str, info: Any) -> Attribute:
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    alias = info.validation_alias if isinstance(info.validation_alias, str) else info.alias
    default: Callable[[], Any] | None = None
    if not info.is_required():
        default = partial(info.get_default, call_default_factory=True, validated_data={})
    return Attribute(name, name if by_name or alias is None else alias, default)


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def _none() -> None:
    """Stands for a default that is computed from other attributes."""


def type_origin(annotation: Any) -> Any:
    """The generic pydantic model behind ``Box[str]``. None for anything else."""
    return _generic(annotation).get("origin")


def type_arguments(annotation: Any) -> tuple[Any, ...]:
    """The type arguments of a parametrized pydantic model, such as ``Box[str]``."""
    found: tuple[Any, ...] = _generic(annotation).get("args", ())
    return found


def _generic(annotation: Any) -> dict[str, Any]:
    return getattr(annotation, "__pydantic_generic_metadata__", None) or {}
