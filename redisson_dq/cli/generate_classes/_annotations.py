"""Reads the annotations of a class file (chapter 4.7.16 of the JVM's specification)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import attrs

__all__ = ["Annotation", "AnnotationPool", "AnnotationsByName", "read_annotations", "read_parameter_annotations"]

_MAX_DEPTH = 50
_U2 = struct.Struct(">H")


@attrs.frozen
class Annotation:
    """One annotation. ``values`` has the elements that are written out: the defaults are in the annotation's own
    class.
    """

    name: str
    #: A class is its name, as a constant of an enum is.
    values: dict[str, Any] = attrs.field(factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.values.get(key)

    def texts(self, key: str = "value") -> list[str]:
        """The texts of an array."""
        found = self.values.get(key)
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    def text(self, key: str = "value") -> str:
        """A text, the name of a class or of a constant; empty where there is none."""
        found = self.values.get(key)
        return found if isinstance(found, str) else ""

    def is_on(self, key: str = "value", *, default: bool = True) -> bool:
        """A boolean."""
        return bool(self.values.get(key, default))


#: By the name of their class.
AnnotationsByName = dict[str, Annotation]


@attrs.frozen
class AnnotationPool:
    """How the constants of a class file are looked up."""

    text: Callable[[int], str]
    number: Callable[[int], Any]


def read_annotations(data: bytes, at: int, pool: AnnotationPool) -> tuple[Annotation, ...]:
    """The annotations in the attribute whose contents begin there. Raises IndexError, struct.error or BadClass."""
    return _Reader(data, at, pool).annotations()


def read_parameter_annotations(data: bytes, at: int, pool: AnnotationPool) -> tuple[tuple[Annotation, ...], ...]:
    """Those of each parameter of a method. Raises as ``read_annotations``."""
    reader = _Reader(data, at + 1, pool)
    return tuple(reader.annotations() for _ in range(data[at]))


class _Reader:
    def __init__(self, data: bytes, at: int, pool: AnnotationPool) -> None:
        self._data, self._at, self._pool = data, at, pool

    def annotations(self) -> tuple[Annotation, ...]:
        return tuple(self._annotation(0) for _ in range(self._u2()))

    def _annotation(self, depth: int) -> Annotation:
        name = _class_name(self._text())
        return Annotation(name, {self._text(): self._value(depth + 1) for _ in range(self._u2())})

    def _value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise IndexError
        tag = chr(self._data[self._at])
        self._at += 1
        if tag == "s":
            return self._text()
        if tag == "Z":
            return bool(self._pool.number(self._u2()))
        if tag == "e":
            self._u2()
            return self._text()
        if tag == "c":
            return _class_name(self._text())
        if tag == "@":
            return self._annotation(depth)
        if tag == "[":
            return [self._value(depth + 1) for _ in range(self._u2())]
        return self._pool.number(self._u2())

    def _u2(self) -> int:
        value: int = _U2.unpack_from(self._data, self._at)[0]
        self._at += 2
        return value

    def _text(self) -> str:
        return self._pool.text(self._u2())


def _class_name(descriptor: str) -> str:
    return descriptor.removeprefix("L").removesuffix(";").replace("/", ".")
