"""The properties that Jackson finds in a class: its fields, getters, setters and creators, gathered, renamed, sorted.

It finds others for writing than for reading. The steps are those of Jackson's POJOPropertiesCollector, set up as
Redisson's codecs do. Fields are visible. Getters and setters are not, unless an annotation is on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._annotations import AnnotationsByName
from redisson_dq.cli.generate_classes._classfile import ClassFile, Member
from redisson_dq.cli.generate_classes._naming import STRATEGIES, bean_name
from redisson_dq.cli.generate_classes._seen import SeenByJackson

__all__ = ["Accessor", "Conflict", "Creator", "BeanProperty", "creators_of", "properties_of"]

_FIELD, _GETTER, _SETTER, _CREATOR = "field", "getter", "setter", "creator"
_TYPES = re.compile(r"\[*(?:[ZBCSIJFD]|L[^;]+;)")
#: Annotations that make a member a property although they give it no name.
_INFERRED = frozenset(
    (
        *("JsonView", "JsonFormat", "JsonTypeInfo", "JsonUnwrapped", "JsonBackReference", "JsonManagedReference"),
        *("JsonSerialize", "JsonRawValue"),
    )
)
_INFERRED_READING = (_INFERRED - {"JsonSerialize", "JsonRawValue"}) | {"JsonDeserialize", "JsonMerge"}
#: Members that are visible where the class does not say: JsonAutoDetect's elements. Jackson 3 sees public getters.
_VISIBILITY = {
    False: {_FIELD: "ANY", _GETTER: "NONE", "isGetter": "PUBLIC_ONLY", _SETTER: "NONE"},
    True: {_FIELD: "ANY", _GETTER: "PUBLIC_ONLY", "isGetter": "PUBLIC_ONLY", _SETTER: "ANY"},
}
_HIDDEN_BY = {
    "ANY": 0,
    "DEFAULT": 0,
    "NON_PRIVATE": flags.PRIVATE,
}


class Conflict(ValueError):
    """Java itself refuses the class, as several names are given to one property."""


@attrs.define
class Accessor:
    """One way to a property. ``field`` is the Java field that it belongs to by its own name."""

    kind: str
    member: str
    field: str | None
    descriptor: str
    annotations: AnnotationsByName
    #: The name that its annotations give it, or the name it has anyway where they make it a property.
    name: str | None
    is_explicit: bool
    is_visible: bool
    #: The field that a getter's code gives, if it does nothing else.
    returns: str = ""

    @property
    def is_ignored(self) -> bool:
        return any(name in self.annotations and self.annotations[name].is_on() for name in ("JsonIgnore", "Transient"))


@attrs.define
class BeanProperty:
    """One property while it is found."""

    name: str
    accessors: list[Accessor] = attrs.field(factory=list)

    def of_kind(self, *kinds: str) -> list[Accessor]:
        """Its accessors of these kinds. One that is named hides those that are not."""
        found = [each for each in self.accessors if each.kind in kinds]
        return [each for each in found if each.name is not None] or found

    @property
    def is_named(self) -> bool:
        return any(each.is_explicit for each in self.accessors)

    @property
    def explicit_names(self) -> list[str]:
        return [*dict.fromkeys(each.name for each in self.accessors if each.is_explicit and each.name is not None)]

    @property
    def annotations(self) -> AnnotationsByName:
        """Those of all accessors, the first ones' before the others'."""
        found: AnnotationsByName = {}
        for kind in (_GETTER, _FIELD, _CREATOR, _SETTER):
            for each in self.of_kind(kind):
                found = {**each.annotations, **found}
        return found

    @property
    def writer(self) -> Accessor | None:
        """The member by which Java gets the value."""
        return next(iter([*self.of_kind(_GETTER), *self.of_kind(_FIELD)]), None)

    @property
    def reader(self) -> Accessor | None:
        """The member by which Java sets the value."""
        return next(iter([*self.of_kind(_CREATOR), *self.of_kind(_SETTER), *self.of_kind(_FIELD)]), None)


@attrs.frozen
class Creator:
    """A constructor or a static method with which Java makes objects: its parameters."""

    member: str
    mode: str
    is_marked: bool
    parameters: tuple[Accessor, ...]

    @property
    def delegates(self) -> bool:
        """Whether Java gives it the whole value."""
        if not self.is_marked or self.mode not in ("DEFAULT", "DELEGATING"):
            return False
        alone = len(self.parameters) == 1 and self.parameters[0].name is None and self.parameters[0].field is None
        return self.mode == "DELEGATING" or (alone and "JacksonInject" not in self.parameters[0].annotations)


def properties_of(java: ClassFile, seen: SeenByJackson, *, writing: bool) -> list[BeanProperty]:
    """The properties, in the order in which they are written. Raises Conflict."""
    head = seen.of_class(java)
    found: dict[str, BeanProperty] = {}
    fields = seen.fields(java)
    for accessor in _accessors(java, seen, head, fields, writing=writing):
        assert accessor.field is not None
        found.setdefault(accessor.field, BeanProperty(accessor.field)).accessors.append(accessor)
    created: list[Accessor] = []
    for creator in creators_of(java, seen):
        for parameter in creator.parameters:
            key = parameter.field or (parameter.name if parameter.is_explicit else None)
            if key is not None and not creator.delegates:
                found.setdefault(key, BeanProperty(key)).accessors.append(parameter)
                created.append(parameter)
    kept = [each for each in found.values() if _is_kept(each)]
    for each in kept:
        _remove_hidden(each, writing=writing)
    renamed = _with_given_names(each for each in kept if each.accessors)
    strategy = STRATEGIES.get(head["JsonNaming"].text().rpartition("$")[2]) if "JsonNaming" in head else None
    if strategy is not None:
        renamed = _merged(each if each.is_named else attrs.evolve(each, name=strategy(each.name)) for each in renamed)
    return _sorted(renamed, head, created, sorts_created=not seen.jackson_3)


def creators_of(java: ClassFile, seen: SeenByJackson) -> list[Creator]:
    """The creators of Java objects: marked ones, those with named parameters, and a record's own constructor."""
    components = [field for field in java.fields if not field.flags & flags.STATIC] if java.is_record else []
    canonical = f"({''.join(field.descriptor for field in components)})V"
    found = []
    for method in java.methods:
        annotations = seen.of(method.annotations)
        marker = annotations.get("JsonCreator")
        mode = (marker.text("mode") or "DEFAULT") if marker is not None else ""
        is_constructor = method.name == "<init>"
        if mode == "DISABLED" or not (is_constructor or (marker is not None and method.flags & flags.STATIC)):
            continue
        is_canonical = java.is_record and is_constructor and method.descriptor == canonical
        names = [field.name for field in components] if is_canonical else []
        if "ConstructorProperties" in annotations:
            names = annotations["ConstructorProperties"].texts()
        member = "its constructor" if is_constructor else f"{method.name}()"
        parameters = tuple(_parameters(method, names, member, seen))
        is_marked = marker is not None or "ConstructorProperties" in annotations
        if is_marked or is_canonical or any(each.is_explicit for each in parameters):
            found.append(Creator(member, mode or "DEFAULT", marker is not None, parameters))
    marked = [each for each in found if each.is_marked]
    return marked or found


def _parameters(method: Member, names: list[str], member: str, seen: SeenByJackson) -> Iterator[Accessor]:
    types = _TYPES.findall(method.descriptor.partition(")")[0])
    # Those that the compiler adds come first and have no annotations.
    added = max(0, len(types) - len(method.parameters)) if method.parameters else 0
    annotated = [(), *[()] * added, *method.parameters][1:] or [()] * len(types)
    for at, (descriptor, written) in enumerate(zip(types, annotated, strict=False)):
        annotations = seen.of(written)
        name = _name(annotations, reading=True)
        implicit = names[at] if at < len(names) else None
        named = implicit if name == "" else name
        yield Accessor(_CREATOR, member, implicit, descriptor, annotations, named, bool(name), is_visible=True)


def _accessors(
    java: ClassFile,
    seen: SeenByJackson,
    head: AnnotationsByName,
    fields: dict[str, tuple[ClassFile, Member]],
    *,
    writing: bool,
) -> Iterator[Accessor]:
    """Fields, getters and setters."""
    levels = dict(_VISIBILITY[seen.jackson_3])
    if "JsonAutoDetect" in head:
        said = {kind: head["JsonAutoDetect"].text(f"{kind}Visibility") for kind in levels}
        levels.update({kind: level for kind, level in said.items() if level not in ("", "DEFAULT")})

    def made(
        kind: str, member: Member, implicit: str, title: str, descriptor: str, annotations: AnnotationsByName
    ) -> Accessor:
        is_reading = kind == _SETTER or (kind == _FIELD and not writing)
        name = _name(annotations, reading=is_reading)
        visible = name is not None or _is_visible(levels["isGetter" if title.startswith("is") else kind], member.flags)
        if kind == _FIELD:
            visible = visible and (name is not None or not member.flags & flags.TRANSIENT)
        named = implicit if name == "" else name
        returns = member.returns if kind == _GETTER else ""
        return Accessor(kind, title, implicit, descriptor, annotations, named, bool(name), visible, returns)

    def bean(method: Member, prefix: str) -> str | None:
        implicit = bean_name(method.name, prefix, jackson_3=seen.jackson_3)
        if not seen.jackson_3 or implicit is None:
            return implicit
        return implicit if implicit in fields else unnamed.get(implicit.lower(), implicit)

    # Jackson 3 takes the getter getEMail for the field eMail, if nothing names that.
    unnamed = {name.lower(): name for name, (_, field) in fields.items() if not seen.of(field.annotations)}
    if writing or not java.is_record:
        for name, (_, field) in fields.items():
            annotations = seen.of(field.annotations)
            yield made(_FIELD, field, name, f"field {name}", field.descriptor, annotations)
    for method, annotations in seen.methods(java):
        arguments = _TYPES.findall(method.descriptor.partition(")")[0])
        result = method.descriptor.partition(")")[2]
        title = f"{method.name}()"
        if not arguments and result != "V":
            implicit = method.name if java.is_record and method.name in fields else bean(method, "get")
            if implicit is None and result in ("Z", "Ljava/lang/Boolean;"):
                implicit = bean(method, "is")
            if implicit is None and _name(annotations, reading=False) is not None:
                implicit = method.name
            if implicit is not None:
                yield made(_GETTER, method, implicit, title, result, annotations)
        elif len(arguments) == 1:
            implicit = bean(method, "set")
            if implicit is None and _name(annotations, reading=True) is not None:
                implicit = method.name
            if implicit is not None:
                yield made(_SETTER, method, implicit, title, arguments[0], annotations)


def _is_visible(level: str, modifiers: int) -> bool:
    if level == "NONE":
        return False
    if level == "PUBLIC_ONLY":
        return bool(modifiers & flags.PUBLIC)
    if level == "PROTECTED_AND_PUBLIC":
        return bool(modifiers & (flags.PUBLIC | flags.PROTECTED))
    return not modifiers & _HIDDEN_BY.get(level, 0)


def _name(annotations: AnnotationsByName, *, reading: bool) -> str | None:
    """The name that annotations give a member. Empty if they make it a property without a name of its own; or None."""
    own = annotations.get("JsonSetter" if reading else "JsonGetter")
    if own is not None and own.text():
        return own.text()
    if "JsonProperty" in annotations:
        return annotations["JsonProperty"].text()
    inferred = _INFERRED_READING if reading else _INFERRED
    return "" if own is not None or not inferred.isdisjoint(annotations) else None


def _is_kept(each: BeanProperty) -> bool:
    """Whether it is a property at all. Ignored accessors are taken out of it."""
    if not any(accessor.is_visible for accessor in each.accessors):
        return False
    if any(accessor.is_ignored for accessor in each.accessors):
        each.accessors = [accessor for accessor in each.accessors if not accessor.is_ignored]
        return any(accessor.name is not None for accessor in each.accessors)
    return True


def _remove_hidden(each: BeanProperty, *, writing: bool) -> None:
    said = [accessor.annotations.get("JsonProperty") for accessor in each.accessors]
    levels = [one.text("access") for one in said if one is not None]
    access = next((level for level in levels if level not in ("", "AUTO")), "AUTO")
    if access == "READ_WRITE":
        return
    if access == "READ_ONLY":
        gone = {_SETTER, _CREATOR, *(() if writing else (_FIELD,))}
        each.accessors = [accessor for accessor in each.accessors if accessor.kind not in gone]
    elif access == "WRITE_ONLY":
        gone = {_GETTER, *((_FIELD,) if writing else ())}
        each.accessors = [accessor for accessor in each.accessors if accessor.kind not in gone]
    else:
        kept = [accessor for accessor in each.accessors if accessor.is_visible or accessor.kind in (_FIELD, _SETTER)]
        if not any(accessor.kind == _GETTER for accessor in kept):
            kept = [accessor for accessor in kept if accessor.is_visible]
        each.accessors = kept


def _with_given_names(found: Iterable[BeanProperty]) -> list[BeanProperty]:
    """With the names that annotations give; these come last."""
    plain: list[BeanProperty] = []
    renamed: list[BeanProperty] = []
    for each in found:
        names = each.explicit_names
        if not names:
            plain.append(each)
        elif len(names) == 1:
            renamed.append(attrs.evolve(each, name=names[0]))
        else:
            vague = [accessor for accessor in each.accessors if not accessor.is_explicit and accessor.is_visible]
            if vague:
                raise Conflict(
                    f"several names for {each.name} ({', '.join(names)}), of which Java knows none for "
                    f"{vague[0].member}"
                )
            of_name = {name: [one for one in each.accessors if one.is_explicit and one.name == name] for name in names}
            renamed += [BeanProperty(name, accessors) for name, accessors in of_name.items()]
    return _merged([*plain, *renamed])


def _merged(found: Iterable[BeanProperty]) -> list[BeanProperty]:
    """Those of one name become one."""
    merged: dict[str, BeanProperty] = {}
    for each in found:
        if each.name in merged:
            merged[each.name].accessors += each.accessors
        else:
            merged[each.name] = each
    return list(merged.values())


def _sorted(
    found: list[BeanProperty], head: AnnotationsByName, created: list[Accessor], *, sorts_created: bool
) -> list[BeanProperty]:
    waiting = {each.name: each for each in sorted(found, key=lambda one: one.name.encode("utf-16-be", "surrogatepass"))}
    ordered: dict[str, BeanProperty] = {}
    for name in head["JsonPropertyOrder"].texts() if "JsonPropertyOrder" in head else ():
        by_field = (each for each in found if any(accessor.field == name for accessor in each.accessors))
        first = waiting.get(name) or next(by_field, None)
        if first is not None:
            ordered[first.name] = first
    indexed = [(each.annotations.get("JsonProperty"), each) for each in waiting.values() if each.name not in ordered]
    places = [(one["index"], each) for one, each in indexed if one is not None and isinstance(one["index"], int)]
    ordered.update((each.name, each) for place, each in sorted(places, key=lambda item: item[0]) if place >= 0)
    of_creators = [
        each for accessor in created for each in waiting.values() if any(one is accessor for one in each.accessors)
    ]
    if sorts_created:
        of_creators.sort(key=lambda one: one.name.encode("utf-16-be", "surrogatepass"))
    for each in (*of_creators, *waiting.values()):
        ordered.setdefault(each.name, each)
    return list(ordered.values())
