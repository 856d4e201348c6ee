"""The text of the module that declares a closure's classes."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

import attrs

from redisson_dq.cli.generate_classes._closure import Closure
from redisson_dq.cli.generate_classes._facts import DeclaredClass, JavaField
from redisson_dq.cli.generate_classes._jackson import JsonFacts
from redisson_dq.cli.generate_classes._layout import field_line, fitted
from redisson_dq.cli.generate_classes._names import (
    BUILTINS,
    attribute_names,
    class_candidates,
    literal,
    unique,
    variable_candidates,
)
from redisson_dq.cli.generate_classes._signatures import OBJECT, TypeUse
from redisson_dq.cli.generate_classes._supertypes import Why
from redisson_dq.cli.generate_classes._types import (
    ALIASES,
    ENUM_NAMES,
    IMPORTED,
    OTHER_IMPORTS,
    STANDARD_IMPORTS,
    Annotations,
    alias_of,
    collection_names,
)
from redisson_dq.java import camel_case
from redisson_dq.java.date_patterns import DatePattern

__all__ = ["Style", "module_text"]

#: The decorators that the classes are written with.
Style = Literal["attrs", "dataclasses", "pydantic"]


#: The type parameters of an alias, by their number.
_ALIAS_VARIABLES: tuple[tuple[str, ...], ...] = ((), ("_T",), ("_K", "_V"))
_RESERVED = BUILTINS | IMPORTED | {"annotations", "_K", "_T", "_V"}
#: Names that no field may have: the types that annotations use without an import, and __init__'s first parameter.
_NOT_FIELDS = frozenset(("bool", "bytes", "dict", "float", "int", "list", "set", "str", "self"))

#: How the names begin that pydantic warns of.
_WARNED = ("model_dump", "model_validate")
#: Names that a model of pydantic has already.
_OF_MODELS = frozenset(
    (
        *(f"model_{name}" for name in ("computed_fields", "config", "construct", "copy", "dump", "dump_json", "extra")),
        *(f"model_{name}" for name in ("fields", "fields_set", "json_schema", "parametrized_name", "post_init")),
        *(f"model_{name}" for name in ("rebuild", "validate", "validate_json", "validate_strings")),
        *("construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema"),
        *("schema_json", "update_forward_refs", "validate", "mro", "register"),
    )
)

#: Interfaces that need no mention: of a class with a serialVersionUID, and of an enum.
_SERIALIZABLE = frozenset(("java.io.Serializable",))
_IMPLIED_BY_AN_ENUM = _SERIALIZABLE | {"java.lang.Comparable"}

#: The aliases of a module, by the type that needs them; None stands for those in ``ALIASES``.
_SECTIONS: dict[str, tuple[Why | None, ...]] = {
    "Java types that the Python type alone does not tell.": (None,),
    "Types of Java itself; a value may be of any class.": (Why.JDK,),
    "Interfaces; a value is of a class that implements them.": (Why.INTERFACE,),
    "Exceptions; they are not declared.": (Why.THROWABLE,),
    "Not declared: more than their own fields is in the bytes.": (Why.COLLECTION, Why.JDK_SUPERCLASS, Why.CONSTANT),
    "Not declared: the jars lack these, or a superclass of these.": (Why.MISSING, Why.MISSING_SUPERCLASS),
}


def module_text(
    closure: Closure,
    heading: str,
    *,
    style: Style = "attrs",
    snake_case: bool = False,
    texts: Mapping[str, Mapping[str, str]] | None = None,
    json: Mapping[str, Mapping[str, str | int]] | None = None,
) -> str:
    """The module, below the comment ``heading``: aliases, then the classes by Java name, superclasses first.

    The text does not depend on the order in which the classes were collected. ``texts`` and
    ``json`` are those of enums, by Java name and constant, as an earlier module has them.
    """
    return _Module(closure, style=style, snake_case=snake_case, texts=texts or {}, json=json or {}).text(heading)


class _Module:
    def __init__(
        self,
        closure: Closure,
        *,
        style: Style,
        snake_case: bool,
        texts: Mapping[str, Mapping[str, str]],
        json: Mapping[str, Mapping[str, str | int]],
    ) -> None:
        self._texts, self._json = texts, json
        self._why = closure.undeclared
        # Pydantic evaluates Box[list[Order]] only if Box is there.
        self._classes = _superclasses_first(closure.declared, generic_first=style == "pydantic")
        self._style, self._snake_case = style, snake_case
        uses = [use for java in self._classes.values() for use in java.types()]
        self._aliases = sorted({alias for use in uses if (alias := alias_of(use, self._classes)) is not None})
        self._names = unique(
            {name: class_candidates(name) for name in sorted([*self._classes, *self._aliases])}, _RESERVED
        )
        parameters = sorted({pair for java in self._classes.values() for pair in java.parameters.items()})
        self._variables = unique(
            {pair: variable_candidates(*pair) for pair in parameters}, _RESERVED | set(self._names.values())
        )
        self._types = Annotations(self._classes, self._names, self._variables, validated=style == "pydantic")
        #: The names that a field may not have.
        self._named = {*IMPORTED, *_NOT_FIELDS, *self._names.values(), *self._variables.values()}
        if style == "pydantic":
            self._named |= _OF_MODELS

    def text(self, heading: str) -> str:
        """All of it."""
        definitions = list(self._definitions())
        classes = list(self._class_blocks())
        head = [heading, "from __future__ import annotations", *self._imports(), *definitions]
        return "\n\n".join(head) + "".join(f"\n\n\n{block}" for block in classes) + "\n"

    def _imports(self) -> Iterator[str]:
        """The imports for the code that was written so far: the standard library's, then the others."""
        for lines in STANDARD_IMPORTS, OTHER_IMPORTS:
            used: dict[str, list[str]] = {}
            for name, line in lines.items():
                if name in self._types.imports:
                    used.setdefault(line, []).append(name)
            if used:
                yield "\n".join(
                    f"{line} {', '.join(names)}" if line.endswith(" import") else line for line, names in used.items()
                )

    # The code before the classes

    def _definitions(self) -> Iterator[str]:
        """Blocks of lines."""
        counts = {ALIASES[alias].parameters for alias in self._aliases if alias in ALIASES}
        if variables := [name for count in sorted(counts) for name in _ALIAS_VARIABLES[count]]:
            yield "\n".join(self._variable(name, OBJECT.name) for name in sorted(variables))
        for title, reasons in _SECTIONS.items():
            aliases = [name for name in self._aliases if (None if name in ALIASES else self._why[name]) in reasons]
            if aliases:
                yield "\n".join([f"# {title}", *map(self._alias, aliases)])
        if self._variables:
            yield "\n".join(self._variable(name, erased) for (_, erased), name in self._variables.items())

    def _alias(self, java_name: str) -> str:
        if java_name in ALIASES:
            known = ALIASES[java_name]
            variables = ", ".join(_ALIAS_VARIABLES[known.parameters])
            python = known.python + (f"[{variables}]" if variables else "")
        else:
            python = "java.Throwable" if self._why[java_name] is Why.THROWABLE else "Any"
        items = [self._types.importing(python), self._types.java_type(java_name)]
        return fitted(f"{self._names[java_name]} = {self._types.importing('Annotated')}[{', '.join(items)}]")

    def _variable(self, name: str, erased: str) -> str:
        items = [f'"{name}"']
        if erased != OBJECT.name:
            items.append("bound=" + self._types.importing("Annotated[Any, ") + self._types.java_type(erased) + "]")
        return fitted(f"{name} = {self._types.importing('TypeVar')}({', '.join(items)})")

    # Classes

    def _class_blocks(self) -> Iterator[str]:
        later = set(self._classes)
        attributes: dict[str, set[str]] = {}  # those of each class and of its superclasses
        python_names: dict[str, Mapping[str, str]] = {}  # those of its own
        for java in self._classes.values():
            bases = list(self._bases(java, later))
            later.remove(java.name)
            inherited: set[str] = set()
            if java.superclass is not None:
                above = java.superclass.name
                inherited = attributes[above] if above in attributes else collection_names(above)
            if java.kind == "enum":
                names = attribute_names(java.constants, ENUM_NAMES)
                body = [f"    {name} = {literal(constant)}" for constant, name in names.items()]
            else:
                fields = [field.name for field in java.fields]
                names = attribute_names(fields, self._named | inherited, snake_case=self._snake_case)
                body = [self._field(java, field, names[field.name], later) for field in java.fields]
                body += self._begin_otherwise(java, python_names, later)
            attributes[java.name] = inherited.union(names.values())
            python_names[java.name] = names
            if self._style == "pydantic":
                body = self._configured(java, names, body)
            head = *self._decorators(java, names), self._head(java, bases), *_remarks(java)
            yield "\n".join((*head, *(body or ["    pass"])))

    def _configured(self, java: DeclaredClass, names: Mapping[str, str], body: list[str]) -> list[str]:
        """The body of a model with its configuration."""
        options = ["frozen=True"] if java.kind == "record" else []
        if java.kind in ("class", "record") and any(name.startswith(_WARNED) for name in names.values()):
            options.append("protected_namespaces=()")
        if not options:
            return body
        config = f"    model_config = {self._types.importing('ConfigDict')}({', '.join(options)})"
        return [config, *([""] if body else []), *body]

    def _begin_otherwise(
        self, java: DeclaredClass, python_names: Mapping[str, Mapping[str, str]], later: Collection[str]
    ) -> Iterator[str]:
        """The fields of superclasses that begin as something else in this class."""
        for (owner, name), initial in sorted(java.inherited.items()):
            above = self._classes.get(owner)
            field = next((one for one in above.fields if one.name == name), None) if above is not None else None
            if above is None or field is None or above.parameters or above.kind != "class" or java.kind != "class":
                continue
            if self._types.initial(field.type, initial, later) is not None:
                yield self._field(above, attrs.evolve(field, initial=initial), python_names[owner][name], later)

    def _bases(self, java: DeclaredClass, later: set[str]) -> Iterator[str]:
        if java.kind == "enum":
            yield self._types.importing("Enum")
        elif java.superclass is None and self._style == "pydantic":
            yield self._types.importing("BaseModel")
        if java.superclass is not None and java.superclass.name not in self._classes:
            yield self._types.collection(java.superclass, java, later)
        elif java.superclass is not None and self._is_raw(java.superclass):
            yield self._names[java.superclass.name]
        elif java.superclass is not None:
            yield self._types.reference(java.superclass, java, later)
        if java.abstract:
            yield self._types.importing("ABC")
        if java.parameters:
            variables = [self._variables[pair] for pair in java.parameters.items()]
            yield self._types.importing("Generic") + f"[{', '.join(variables)}]"

    def _decorators(self, java: DeclaredClass, names: Mapping[str, str]) -> Iterator[str]:
        arguments = [literal(java.name)]
        if java.kind == "record":
            arguments.append("record=True")
        elif java.kind in ("class", "collection") and java.final:
            arguments.append("final=True")
        elif java.kind == "enum" and not java.final:
            bodies = ", ".join(f"{literal(constant)}: {literal(name)}" for constant, name in java.bodies.items())
            arguments.append(f"constant_bodies={{{bodies}}}" if bodies else "constant_bodies=True")
        arguments += self._rename(java, names)
        uid = java.serial_version_uid
        implied = _IMPLIED_BY_AN_ENUM if java.kind == "enum" else ()
        if uid is not None and (uid or java.kind != "record"):  # a record's is 0 unless it says otherwise
            arguments.append(f"serial_version_uid={uid}")
            implied = _SERIALIZABLE
        if java.has_text:
            texts = self._texts.get(java.name, {})
            is_known = texts.keys() == {*java.constants}
            pairs = [f"{literal(constant)}: {literal(texts[constant])}" for constant in java.constants if is_known]
            arguments.append(f"texts={{{', '.join(pairs)}}}" if is_known else "texts=...")
        arguments += self._json_of(java)
        if java.not_written:
            arguments.append(f"not_serialized={literal(java.not_written)}")
        sources = [literal(self._types.source(use, java)) for use in java.interfaces if use.name not in implied]
        sources += ["..."] if java.implements_more else []
        arguments.append(f"implements=[{', '.join(sources)}]")
        yield fitted(f"@{self._types.importing('java_class')}({', '.join(arguments)})")
        frozen = java.kind == "record"
        if java.kind == "collection":
            return
        if java.kind != "enum" and self._style == "dataclasses":
            yield "@" + self._types.importing("dataclass") + ("(frozen=True)" if frozen else "")
        elif java.kind != "enum" and self._style == "attrs":
            yield "@" + self._types.importing("attrs.frozen" if frozen else "attrs.define")

    def _rename(self, java: DeclaredClass, names: Mapping[str, str]) -> Iterator[str]:
        """The argument that leads from the Python names to Java's, if any is needed."""
        renamed = {python: name for name, python in names.items() if _default_java_name(python) != name}
        if renamed and self._snake_case and all(camel_case(python) == name for name, python in names.items()):
            yield f"rename={self._types.importing('java.camel_case')}"
        elif renamed:
            yield f"rename={{{', '.join(f'{literal(python)}: {literal(name)}' for python, name in renamed.items())}}}"

    def _json_of(self, java: DeclaredClass) -> Iterator[str]:
        """The annotations of Jackson that no superclass has already."""
        above = self._classes.get(java.superclass.name) if java.superclass is not None else None
        json, json3 = (self._known_json(java, facts) for facts in (java.json, java.json3))
        default, default3 = (JsonFacts(), JsonFacts()) if above is None else (above.json, above.json3)
        if json != default:
            yield f"json={self._json_text(json)}"
            default3 = json
        if json3 != default3:
            yield f"json3={self._json_text(json3)}"

    def _known_json(self, java: DeclaredClass, facts: JsonFacts) -> JsonFacts:
        known = self._json.get(java.name, {})
        return JsonFacts(known) if facts.may_be_named and known.keys() == {*java.constants} else facts

    def _json_text(self, facts: JsonFacts) -> str:
        names = _dict_text(
            {name: literal(said) if isinstance(said, str) else str(said) for name, said in facts.names.items()}
        )
        if facts == JsonFacts(facts.names) and facts.names:
            return names
        arguments = [f"names={names}"] if facts.names else []
        if facts.aliases:
            arguments.append(f"aliases={_dict_text({name: _list_text(said) for name, said in facts.aliases.items()})}")
        lists = {"ignored": facts.ignored, "nulls": facts.nulls, "order": facts.order, "as_text": facts.as_text}
        arguments += [f"{name}={_list_text(said)}" for name, said in lists.items() if said]
        if facts.patterns:
            patterns = {name: _pattern_text(one) for name, one in facts.patterns.items()}
            arguments.append(f"patterns={_dict_text(patterns)}")
        arguments += ["typed=True"] if facts.typed else []
        arguments += [f"refused={literal(facts.refused)}"] if facts.refused else []
        return self._types.importing("java.Json(") + ", ".join(arguments) + ")"

    def _head(self, java: DeclaredClass, bases: list[str]) -> str:
        head = f"class {self._names[java.name]}"
        lines = [f"{head}({', '.join(bases)}):"] if bases else [f"{head}:"]
        comments = []
        if java.superclass is not None and self._is_raw(java.superclass):
            comments.append("# type: ignore[type-arg]")
        else:
            lines = (fitted(lines[0][:-1], after=1) + ":").split("\n")
        if java.abstract:
            comments.append("# noqa: B024")  # linters want an abstract method, which no declaration has
        lines[0] = "  ".join([lines[0], *comments])
        return "\n".join(lines)

    def _is_raw(self, use: TypeUse) -> bool:
        """Whether a declared class is without the type arguments that it takes."""
        known = self._classes.get(use.name)
        return not use.arguments and known is not None and bool(known.parameters)

    def _field(self, java: DeclaredClass, field: JavaField, name: str, later: Collection[str]) -> str:
        annotation, value = self._types.field(field.type, java)
        initial = self._types.initial(field.type, field.initial, later)
        if java.kind == "record":  # it is made of all its components; any other object may begin with Java's values
            return "    " + field_line(name, annotation, None)
        if initial is not None and initial.is_factory and java.kind == "collection":
            return "    " + field_line(name, annotation, "None")  # one object for all would be shared
        if initial is not None:
            value = self._factory(initial.code) if initial.is_factory else initial.code
        return "    " + field_line(name, annotation, value)

    def _factory(self, code: str) -> str:
        """The factory that makes a value of its own for each object."""
        if self._style == "dataclasses":
            return f"{self._types.importing('field')}(default_factory={code})"
        if self._style == "pydantic":
            return f"{self._types.importing('Field')}(default_factory={code})"
        return f"{self._types.importing('attrs.field')}(factory={code})"


def _dict_text(pairs: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{literal(key)}: {value}' for key, value in pairs.items())}}}"


def _pattern_text(pattern: DatePattern) -> str:
    text = literal(pattern.text)
    return text if pattern.zone is None else f"({text}, {literal(pattern.zone)})"


def _list_text(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(literal, texts))}]"


def _remarks(java: DeclaredClass) -> Iterator[str]:
    """Lines on facts that the declaration does not state."""
    if java.has_outer:
        yield "    # An inner class: its reference to the enclosing object is left out."
    if java.lacks:
        yield f"    # Kryo5Codec: Java cannot read it, because it has no constructor {java.lacks}."
    if java.has_text:
        yield "    # JsonJackson3Codec: Java writes what its toString() says. Name that in texts=, by constant."
    if java.json.may_be_named:
        yield "    # Jackson: the texts of the constants are not known. Name them in json=, by constant."
    if java.writer in ("writeExternal", "writeReplace"):
        yield f"    # SerializationCodec may refuse it: Java lets its {java.writer}() decide what is written."


def _default_java_name(attribute: str) -> str:
    """The Java type that java_class takes by default for an attribute."""
    stripped = attribute.removesuffix("_")
    return stripped if keyword.iskeyword(stripped) else attribute


def _superclasses_first(classes: Mapping[str, DeclaredClass], *, generic_first: bool) -> dict[str, DeclaredClass]:
    ordered: dict[str, DeclaredClass] = {}
    for name in sorted(classes, key=lambda one: (generic_first and not classes[one].parameters, one)):
        lineage: list[str] = []
        above: str | None = name
        while above is not None and above not in ordered:
            lineage.append(above)
            superclass = classes[above].superclass
            above = superclass.name if superclass and superclass.name in classes else None
        for known in reversed(lineage):
            ordered[known] = classes[known]
    return ordered
