"""The annotations of Jackson on a class and its members, as the one or the other Jackson sees them.

Those of superclasses and of interfaces count, and a bundle stands for the annotations that it has itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import attrs

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._annotations import Annotation, AnnotationsByName
from redisson_dq.cli.generate_classes._classfile import ClassFile, Member

__all__ = ["Find", "SeenByJackson"]

#: The class of a name, if a jar has it.
Find = Callable[[str], ClassFile | None]

_SHARED = r"com\.fasterxml\.jackson\.annotation\.(\w+)|java\.beans\.(Transient|ConstructorProperties)"
#: The view of each Jackson, by whether it is Jackson 3.
_VISIBLE = {
    False: re.compile(_SHARED + r"|com\.fasterxml\.jackson\.databind\.annotation\.(\w+)"),
    True: re.compile(_SHARED + r"|tools\.jackson\.databind\.annotation\.(\w+)"),
}
_BUNDLE = "com.fasterxml.jackson.annotation.JacksonAnnotationsInside"
#: Bundles in bundles.
_MAX_DEPTH = 20


@attrs.frozen
class SeenByJackson:
    """The annotations that one Jackson sees. Methods give annotations by the simple names of their classes."""

    find: Find
    jackson_3: bool

    def of(self, annotations: Iterable[Annotation]) -> AnnotationsByName:
        """Those of a member. Of two of one class the last counts."""
        return dict(self._named(annotations, 0))

    def of_class(self, java: ClassFile) -> AnnotationsByName:
        """Those of a class, and those of its interfaces and superclasses that it does not have itself."""
        found: AnnotationsByName = {}
        for each in self.lineage(java):
            found = {**self.of(each.annotations), **found}
        return found

    def lineage(self, java: ClassFile) -> Iterator[ClassFile]:
        """The class, then its superclasses and interfaces, as far as the jars have them."""
        met: set[str] = set()
        waiting = [java.name]
        while waiting:
            name = waiting.pop()
            each = java if name == java.name else self.find(name)
            if name in met or each is None:
                continue
            met.add(name)
            yield each
            waiting += [*([each.superclass] if each.superclass else ()), *reversed(each.interfaces)]

    def fields(self, java: ClassFile) -> dict[str, tuple[ClassFile, Member]]:
        """By name, those of superclasses first: the fields of its objects. A field hides a superclass's."""
        chain = [java]
        while chain[-1].superclass and (above := self.find(chain[-1].superclass)) is not None and above not in chain:
            chain.append(above)
        found: dict[str, tuple[ClassFile, Member]] = {}
        for each in reversed(chain):
            own = [field for field in each.fields if not field.flags & (flags.STATIC | flags.SYNTHETIC)]
            found.update((field.name, (each, field)) for field in own)
        return found

    def methods(self, java: ClassFile) -> list[tuple[Member, AnnotationsByName]]:
        """Its methods of at most two arguments, with the annotations of those that they override."""
        found: dict[tuple[str, str], tuple[Member, AnnotationsByName]] = {}
        for each in self.lineage(java):
            for method in each.methods:
                if method.flags & (flags.STATIC | flags.SYNTHETIC) or method.name.startswith("<"):
                    continue
                key = method.name, method.descriptor.partition(")")[0]
                first, known = found.get(key, (method, {}))
                found[key] = first, {**self.of(method.annotations), **known}
        return list(found.values())

    def _named(self, annotations: Iterable[Annotation], depth: int) -> Iterator[tuple[str, Annotation]]:
        for one in annotations:
            match = _VISIBLE[self.jackson_3].fullmatch(one.name)
            if match is not None:
                yield next(filter(None, match.groups())), one
            elif depth < _MAX_DEPTH and not one.name.startswith(("java.", "kotlin.")):
                bundle = self.find(one.name)
                if bundle is not None and any(inner.name == _BUNDLE for inner in bundle.annotations):
                    yield from self._named(bundle.annotations, depth + 1)
