"""The JSON of a class, by its annotations of Jackson. An annotation that no declaration can express is a reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import attrs

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._annotations import Annotation, AnnotationsByName
from redisson_dq.cli.generate_classes._classfile import ClassFile, Member
from redisson_dq.cli.generate_classes._dates import date_pattern, is_default_serializer
from redisson_dq.cli.generate_classes._enum_values import NAMES
from redisson_dq.cli.generate_classes._naming import STRATEGIES, bean_name
from redisson_dq.cli.generate_classes._properties import (
    Accessor,
    BeanProperty,
    Conflict,
    creators_of,
    properties_of,
)
from redisson_dq.cli.generate_classes._seen import Find, SeenByJackson
from redisson_dq.cli.generate_classes._text_numbers import writes_text
from redisson_dq.java.date_patterns import DatePattern

__all__ = ["JsonFacts", "json_facts"]


@attrs.frozen
class JsonFacts:
    """As java.Json: by Java's names of fields and constants."""

    names: Mapping[str, str | int] = attrs.field(factory=dict)
    aliases: Mapping[str, list[str]] = attrs.field(factory=dict)
    ignored: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    patterns: Mapping[str, DatePattern] = attrs.field(factory=dict)
    as_text: tuple[str, ...] = ()
    typed: bool = False
    refused: str = ""
    #: Of an enum that is refused: whether somebody who knows the texts of its constants can give them.
    may_be_named: bool = attrs.field(default=False, eq=False)


#: Annotations that a declaration need not state: they change none of the bytes, or are looked at elsewhere.
_SAYS_NOTHING = frozenset(
    (
        *("JsonProperty", "JsonGetter", "JsonSetter", "JsonIgnore", "Transient", "JsonAlias", "JsonInclude"),
        "JsonView",
        *("JsonNaming", "JsonIncludeProperties", "JsonIgnoreType", "JsonAutoDetect", "JsonPropertyOrder"),
        *("JsonPropertyDescription", "JsonClassDescription", "JsonRootName", "JsonTypeName", "JsonSubTypes"),
        *("JsonCreator", "JsonEnumDefaultValue", "JsonPOJOBuilder", "JacksonAnnotation", "JacksonAnnotationsInside"),
        *("ConstructorProperties", "JacksonStdImpl"),
    )
)
#: Annotations that are not on a field and change the object all the same.
_OF_OBJECTS = frozenset(
    (
        *("JsonUnwrapped", "JsonAnyGetter", "JsonAnySetter", "JsonValue", "JsonTypeId", "JsonKey"),
        *("JsonManagedReference", "JsonBackReference"),
    )
)
_CLASS_NAMES = re.compile(r"L([^;<>]+)")
_SWITCHED = {"JsonUnwrapped": "enabled", "JsonAnyGetter": "enabled", "JsonAnySetter": "enabled"}
_OF_SERIALIZERS = frozenset(("typing", "include"))
_TEXT_TYPES = frozenset(("Ljava/lang/String;", "Ljava/lang/CharSequence;"))
_FINAL_TYPES = _TEXT_TYPES | {
    f"Ljava/lang/{name};" for name in ("Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double")
}


def json_facts(java: ClassFile, find: Find, *, jackson_3: bool) -> JsonFacts:
    """The class as Jackson 2, or Jackson 3, writes and reads it. Raises BadClass."""
    seen = SeenByJackson(find, jackson_3)
    head = seen.of_class(java)
    of_types = "" if java.is_enum else next(_reasons_of_types(java, seen), "")
    if of_types or not _is_annotated(java, head, seen):
        return JsonFacts(refused=of_types)
    reason = next(_reasons_of_class(java, head, seen), "")
    if java.is_enum:
        return _of_enum(java, head, seen, reason)
    try:
        writing = properties_of(java, seen, writing=True)
        reading = properties_of(java, seen, writing=False)
    except Conflict as error:
        return JsonFacts(refused=f"@JsonProperty with {error}")
    reason = reason or next(_reasons_of_properties(java, seen, writing, reading), "")
    if reason:
        return JsonFacts(refused=reason)
    return _of_fields(java, head, seen, writing, reading)


def _is_annotated(java: ClassFile, head: AnnotationsByName, seen: SeenByJackson) -> bool:
    """Whether an annotation of Jackson counts for the class, or a name of a getter in Jackson 3. Most have neither."""
    return (
        bool(head)
        or (seen.jackson_3 and any(_names_other_field(method) for method, _ in seen.methods(java)))
        or any(seen.of(field.annotations) or _ignores_type(field.descriptor, seen) for field in java.fields)
        or any(seen.of(member.annotations) for _, member in seen.fields(java).values())
        or any(annotations for _, annotations in seen.methods(java))
        or any(seen.of(method.annotations) or any(map(seen.of, method.parameters)) for method in java.methods)
    )


def _names_other_field(method: Member) -> bool:
    """Whether a getter has another name than the field that it gives."""
    names = [bean_name(method.name, prefix, jackson_3=True) for prefix in ("get", "is")]
    return bool(method.returns) and names != [None, None] and method.returns not in names


def _of_fields(
    java: ClassFile,
    head: AnnotationsByName,
    seen: SeenByJackson,
    writing: list[BeanProperty],
    reading: list[BeanProperty],
) -> JsonFacts:
    names: dict[str, str | int] = {}
    aliases: dict[str, list[str]] = {}
    patterns: dict[str, DatePattern] = {}
    ignored, nulls, texts, places = [], [], [], {}
    written = [each.name for each in writing]
    own = seen.fields(java)
    for field, (_, member) in own.items():
        if member.flags & flags.TRANSIENT:
            continue
        hidden = seen.jackson_3 and not member.flags & flags.PUBLIC
        to_java = _property_of(field, reading, "reader", own, hidden=hidden)
        from_java = _property_of(field, writing, "writer", own, hidden=hidden)
        out = from_java.name if from_java is not None and _is_taken(from_java.name, head, "allowGetters") else None
        into = to_java.name if to_java is not None and _is_taken(to_java.name, head, "allowSetters") else None
        if (out is None and into is None) or _ignores_type(member.descriptor, seen):
            ignored.append(field)
            continue
        name = into or out
        assert name is not None
        if name != field:
            names[field] = name
        others = to_java.annotations["JsonAlias"].texts() if to_java and "JsonAlias" in to_java.annotations else []
        if others := [one for one in dict.fromkeys((*others, out or name)) if one != name]:
            aliases[field] = others
        pattern = next((date_pattern(one.annotations, member) for one in (from_java, to_java) if one is not None), None)
        if pattern is not None:
            patterns[field] = pattern
        if from_java is not None and writes_text(from_java.annotations, member):
            texts.append(field)
        if from_java is not None:
            places[field] = written.index(from_java.name)
            included = from_java.annotations.get("JsonInclude", Annotation("")).text() or "USE_DEFAULTS"
            if included == "USE_DEFAULTS":
                # On the class, NON_DEFAULT leaves out the values of a new object. A null may differ from them.
                included = head.get("JsonInclude", Annotation("")).text().replace("NON_DEFAULT", "ALWAYS")
            if included == "ALWAYS" and member.descriptor not in "ZBCSIJFD":
                nulls.append(field)
    order = _order(java, names, places, seen)
    return JsonFacts(
        *(names, aliases, tuple(ignored), tuple(nulls), order, patterns, tuple(texts)), typed="JsonTypeInfo" in head
    )


def _property_of(
    field: str, found: list[BeanProperty], way: str, known: Collection[str], *, hidden: bool
) -> BeanProperty | None:
    """The property that Java writes or reads the field with. ``known`` are all fields.

    ``hidden``: Java does not see the field by itself. A getter of another name may give it, such as isOpen() of isOpen.
    """
    own = [each for each in found if any(one.kind == "field" and one.field == field for one in each.accessors)]
    others = [each for each in found if any(one.field == field for one in each.accessors)]
    given: list[BeanProperty] = []
    if hidden and all(one.kind == "field" and one.name is None for each in own for one in each.accessors):
        given = [each for each in found if any(one.returns == field for one in each.accessors)]
    for each in [*given, *own, *others]:
        accessor: Accessor | None = each.writer if way == "writer" else each.reader
        # Where a member of another field hides the field, the property is not the field's.
        if accessor is not None and (accessor.field == field or accessor.field not in known):
            return each
    return None


def _is_taken(name: str, head: AnnotationsByName, unless: str) -> bool:
    """Whether the annotations of the class leave the property in."""
    left_out = head.get("JsonIgnoreProperties")
    if left_out is not None and name in left_out.texts() and not left_out.is_on(unless, default=False):
        return False
    return "JsonIncludeProperties" not in head or name in head["JsonIncludeProperties"].texts()


def _ignores_type(descriptor: str, seen: SeenByJackson) -> bool:
    java = seen.find(descriptor[1:-1].replace("/", ".")) if descriptor.startswith("L") else None
    said = seen.of_class(java).get("JsonIgnoreType") if java is not None else None
    return said is not None and said.is_on()


def _order(
    java: ClassFile, names: Mapping[str, str | int], places: Mapping[str, int], seen: SeenByJackson
) -> tuple[str, ...]:
    """The fields that come first, in their order, if they are not sorted by their names anyway."""

    def by_name(field: str) -> bytes:
        return str(names.get(field, field)).encode("utf-16-be", "surrogatepass")

    found = sorted(places, key=lambda field: places[field])
    plain = list(places) if java.is_record and seen.jackson_3 else sorted(found, key=by_name)
    if found == plain:
        return ()
    count = next(at for at in range(len(found)) if found[at:] == [one for one in plain if one in found[at:]])
    return tuple(found[:count])


def _of_enum(java: ClassFile, head: AnnotationsByName, seen: SeenByJackson, reason: str) -> JsonFacts:
    if reason:
        return JsonFacts(refused=reason)
    names: dict[str, str | int] = {}
    aliases: dict[str, list[str]] = {}
    for field in java.fields:
        if field.flags & flags.ENUM:
            annotations = seen.of(field.annotations)
            if "JsonProperty" in annotations and annotations["JsonProperty"].text():
                names[field.name] = annotations["JsonProperty"].text()
            if "JsonAlias" in annotations and annotations["JsonAlias"].texts():
                aliases[field.name] = annotations["JsonAlias"].texts()
    values = [one for one in seen.methods(java) if _is_on("JsonValue", one[1])]
    stored = [field for field in java.fields if _is_on("JsonValue", seen.of(field.annotations))]
    if not values and not stored:
        return JsonFacts(names, aliases, refused=next(_reasons_of_names(java, names, seen), ""))
    member = f"{values[0][0].name}()" if values else f"field {stored[0].name}"
    known = _values_of_constants(java, values[0][0] if values else stored[0])
    if known is None:
        return JsonFacts(refused=f"@JsonValue on {member}", may_be_named=True)
    return JsonFacts(known, {})


def _reasons_of_names(java: ClassFile, names: Mapping[str, str | int], seen: SeenByJackson) -> Iterator[str]:
    """Names of constants that Java cannot read back, or takes for those of others."""
    met: set[str | int] = set()
    for field in java.fields:
        if field.flags & flags.ENUM:
            said = seen.of(field.annotations).get("JsonProperty")
            if said is not None and not said.text():
                yield f"@JsonProperty without a name on the constant {field.name}"
            name = names.get(field.name, field.name)
            if name in met:
                yield f'@JsonProperty that calls several constants "{name}"'
            met.add(name)


def _values_of_constants(java: ClassFile, member: Member) -> dict[str, str | int] | None:
    """By constant: the value of this method or field of it. None where the class file does not tell it."""
    constants = [field.name for field in java.fields if field.flags & flags.ENUM]
    field = member.name
    if member.descriptor.startswith("("):
        if any(java.constant_classes.get(one, java.name) != java.name for one in constants):
            return None  # the body of a constant may have another one
        field = member.returns
    if field in NAMES:
        return {one: NAMES[field](one) for one in constants}
    found = {one: java.constant_values.get(one, {}).get(field) for one in constants}
    return {one: value for one, value in found.items() if value is not None} if None not in found.values() else None


def _is_on(name: str, annotations: AnnotationsByName) -> bool:
    return name in annotations and annotations[name].is_on()


# Why a declaration cannot say it


def _reasons_of_class(java: ClassFile, head: AnnotationsByName, seen: SeenByJackson) -> Iterator[str]:
    for name, one in head.items():
        if name == "JsonNaming" and one.text() and one.text().rpartition("$")[2].rpartition(".")[2] not in STRATEGIES:
            yield f"@JsonNaming({one.text().rpartition('.')[2]}.class)"
        elif name == "JsonTypeInfo":
            if not _is_by_class(one) or java.is_enum:
                yield _type_info(one)
        elif name == "JsonFormat":
            if one.text("shape") not in ("", "ANY") and (java.is_enum or one.text("shape") not in ("OBJECT", "POJO")):
                yield f"@JsonFormat(shape = {one.text('shape')})"
        elif _decides(name, one, ""):
            yield f"@{name}"
    if java.is_enum:
        return
    for creator in creators_of(java, seen):
        if creator.delegates:
            yield f"@JsonCreator on {creator.member}, which takes the whole value"


def _reasons_of_types(java: ClassFile, seen: SeenByJackson) -> Iterator[str]:
    """The annotations that the types of fields have for the values in them."""
    for name, (_, member) in seen.fields(java).items():
        for type_name in _CLASS_NAMES.findall(f"{member.descriptor} {member.signature or ''}"):
            of_type = seen.find(type_name.replace("/", "."))
            said = seen.of_class(of_type).get("JsonTypeInfo") if of_type is not None else None
            if of_type is not None and said is not None and not _is_by_class(said):
                yield f"{_type_info(said)} of {of_type.name} on field {name}"


def _is_by_class(one: Annotation) -> bool:
    """Whether this @JsonTypeInfo names the class as Redisson's codecs do anyway."""
    form = [one.text("use"), one.text("include") or "PROPERTY", one.text("property") or "@class"]
    return form == ["CLASS", "PROPERTY", "@class"] and one.values.keys().isdisjoint(("visible", "defaultImpl"))


def _type_info(one: Annotation) -> str:
    said = ", ".join(f"{key} = {one.text(key)}" for key in ("use", "include", "property") if one.text(key))
    return f"@JsonTypeInfo({said})"


def _reasons_of_properties(
    java: ClassFile, seen: SeenByJackson, writing: list[BeanProperty], reading: list[BeanProperty]
) -> Iterator[str]:
    own = {name: member for name, (_, member) in seen.fields(java).items()}
    for name, member in own.items():
        annotations = seen.of(member.annotations)
        yield from (f"@{one} on field {name}" for one in annotations if _changes_object(one, annotations))
        if member.flags & flags.TRANSIENT and "JsonProperty" in annotations:
            yield f"@JsonProperty on the transient field {name}"
    for method, annotations in seen.methods(java):
        yield from (f"@{one} on {method.name}()" for one in annotations if _changes_object(one, annotations))
    for way, found in ("writer", writing), ("reader", reading):
        for each in found:
            field = next((one.field for one in each.accessors if one.field in own), None)
            if field is None:
                yield from _lost(each, way)
                continue
            is_patterned = date_pattern(each.annotations, own[field]) is not None
            is_text = writes_text(each.annotations, own[field])
            for one, annotation in each.annotations.items():
                if is_text and one in ("JsonSerialize", "JsonFormat"):
                    continue
                if is_patterned and (one == "JsonFormat" or is_default_serializer(annotation)):
                    continue
                if _decides(one, annotation, own[field].descriptor):
                    holder = next(accessor for accessor in each.accessors if one in accessor.annotations)
                    yield f"@{one} on {holder.member}" + ("" if holder.kind == "field" else f" for the field {field}")
            accessor: Accessor | None = getattr(each, way)
            is_own = accessor is not None and bool(accessor.annotations)
            is_generic = (own[field].signature or "").startswith("T")  # a subclass's accessor has the type itself
            if (
                accessor is not None
                and is_own
                and not is_generic
                and _is_another(accessor.descriptor, own[field].descriptor, way)
            ):
                given = next((f"@{one} on " for one in accessor.annotations if one.startswith("Json")), "")
                yield f"{given}{accessor.member}, which has another type than its field {field}"


def _lost(each: BeanProperty, way: str) -> Iterator[str]:
    """A property that Java writes and gives to its constructor, and that no field has."""
    creators = [one for one in each.accessors if one.kind == "creator"]
    if way == "reader" and creators and any(one.kind == "getter" and one.is_visible for one in each.accessors):
        yield f"@JsonProperty on {creators[0].member} for {each.name}, which is not a field"


def _changes_object(name: str, annotations: AnnotationsByName) -> bool:
    return name in _OF_OBJECTS and annotations[name].is_on(_SWITCHED.get(name, "value"))


def _decides(name: str, one: Annotation, descriptor: str) -> bool:
    """Whether the annotation decides the form of the value of a property of that type, or of all of an object."""
    if name in _SAYS_NOTHING:
        return False
    if name == "JsonIgnoreProperties":
        return bool(descriptor and one.texts())
    if name in ("JsonSerialize", "JsonDeserialize"):
        return not one.values.keys() <= _OF_SERIALIZERS
    if name == "JsonFormat":
        is_text = descriptor in _TEXT_TYPES
        writes = any(str(feature).startswith("WRITE_") for key in ("with", "without") for feature in one[key] or ())
        return writes or not (is_text or (one.text("shape") in ("", "ANY") and not one.text("pattern")))
    if name in ("JsonUnwrapped", "JsonAnyGetter", "JsonAnySetter"):
        return one.is_on("enabled")
    return one.is_on()


def _is_another(found: str, declared: str, way: str) -> bool:
    """Whether a value of the one type has another form than one of the other."""
    if found == declared:
        return False
    are_containers = all(one.startswith("Ljava/util/") and "Optional" not in one for one in (found, declared))
    are_fixed = any(one in _FINAL_TYPES or len(one.lstrip("[")) == 1 for one in (found, declared))
    return are_fixed or (way == "writer" and not are_containers)
