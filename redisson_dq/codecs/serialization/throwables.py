"""Exceptions: the data of java.lang.Throwable, and the fields that its subclasses add."""

from __future__ import annotations

from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable, shorten, type_name
from redisson_dq.codecs.serialization.class_descriptors import field_order
from redisson_dq.codecs.serialization.described import generic_fields
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.handler import ClassHandler, field, put, text_field
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import (
    SC_SERIALIZABLE,
    ArrayInstance,
    ClassDesc,
    Content,
    FieldDesc,
    Instance,
)
from redisson_dq.java.arrays import component_code, component_of
from redisson_dq.java.values import StackTraceElement, Throwable, ThrowableClass

__all__ = ["HANDLERS", "throwable_descriptor", "is_throwable", "read_throwable", "write_throwable"]

_THROWABLE = "java.lang.Throwable"
_ELEMENT = "java.lang.StackTraceElement"
_TEXTS = {
    "classLoaderName": "class_loader_name",
    "declaringClass": "declaring_class",
    "fileName": "file_name",
    "methodName": "method_name",
    "moduleName": "module_name",
    "moduleVersion": "module_version",
}


def is_throwable(desc: ClassDesc) -> bool:
    """Whether a class of the stream is Throwable or a subclass."""
    return bool(desc.lineage) and desc.lineage[0].name == _THROWABLE


def throwable_descriptor(value: Throwable, known: dict[ThrowableClass, ClassDesc]) -> ClassDesc:
    """The class of an exception: a JDK class, or as the exception describes it."""
    desc = jdk_descriptor(value.java_name)
    if desc is None and value.described is not None and value.described.java_name == value.java_name:
        desc = _desc_of(value.described, known)
    if desc is None or not is_throwable(desc):
        raise Unencodable(f"exception {value.java_name} is none of the JDK's: it needs described=ThrowableClass(...)")
    return desc


def _desc_of(described: ThrowableClass, known: dict[ThrowableClass, ClassDesc]) -> ClassDesc:
    found = known.get(described)
    if found is None:
        parent = described.superclass
        superclass = jdk_descriptor(parent) if isinstance(parent, str) else _desc_of(parent, known)
        fields = [FieldDesc(name, component_code(kind).replace(".", "/")) for name, kind in described.fields]
        ordered = tuple(sorted(fields, key=field_order))
        found = ClassDesc(described.java_name, described.serial_version_uid, SC_SERIALIZABLE, ordered, superclass)
        known[described] = found
    return found


def _described(desc: ClassDesc, known: dict[ClassDesc, ThrowableClass | None]) -> ThrowableClass | None:
    """The description of a class. None for a JDK class, and for a class that writes data itself."""
    if desc not in known:
        known[desc] = _describe(desc, known)
    return known[desc]


def _describe(desc: ClassDesc, known: dict[ClassDesc, ThrowableClass | None]) -> ThrowableClass | None:
    parent = desc.superclass
    if parent is None or desc.flags != SC_SERIALIZABLE or jdk_descriptor(desc.name) is not None:
        return None
    superclass = parent.name if jdk_descriptor(parent.name) is not None else _described(parent, known)
    if superclass is None:
        return None
    try:
        fields = tuple((name, component_of("[" + code.replace("/", "."))) for name, code in desc.fields)
    except ValueError:
        return None
    return ThrowableClass(desc.name, desc.uid, fields, superclass)


def read_throwable(node: Instance, decoder: DecoderProtocol) -> Throwable:
    """An exception of any class: Throwable's own fields, and those of its subclasses in ``fields``."""
    made: Throwable = decoder.begin(node, Throwable(node.desc.name, field(node, "detailMessage", (str, type(None)))))
    made.described = _described(node.desc, decoder.described)
    for part in node.desc.lineage:
        section = node.sections[part.name]
        if section.annotation:
            raise Malformed(f"exception {shorten(part.name, 200)} writes data by itself", node.offset)
        if part.name != _THROWABLE:
            made.fields |= generic_fields(part, section, decoder)
    cause = field(node, "cause", object, None)
    made.null_cause = cause is None
    if cause is not node:
        made.cause = decoder.value(cause)
        if not isinstance(made.cause, (Throwable, type(None))):
            raise Malformed("a cause that is not an exception", node.offset)
    trace = field(node, "stackTrace", (ArrayInstance, type(None)), None)
    if trace is not None:
        made.stack_trace += _copied(trace, StackTraceElement, node, decoder)
    suppressed = field(node, "suppressedExceptions", (Instance, type(None)), None)
    if suppressed is not None:
        made.suppressed += _copied(suppressed, Throwable, node, decoder)
    return made


def _copied(content: Any, kind: type, node: Instance, decoder: DecoderProtocol) -> list[Any]:
    found = decoder.copied(content)
    if not isinstance(found, list) or not all(isinstance(item, kind) for item in found):
        raise Malformed(f"an exception with something that is not a {kind.__name__}", node.offset)
    return found


def _read_element(node: Instance, decoder: DecoderProtocol) -> StackTraceElement:
    # Before JDK 9 there were four of the fields.
    texts: Any = {
        attribute: text_field(node, name, decoder, null=True, default=None) for name, attribute in _TEXTS.items()
    }
    return StackTraceElement(**texts, line_number=field(node, "lineNumber", int), format=field(node, "format", int, 0))


def write_throwable(node: Instance, value: Throwable, encoder: EncoderProtocol) -> None:
    """Give a new exception its fields."""
    left = dict(value.fields)
    values: dict[str, Content] = {}
    for desc in node.desc.lineage:
        if desc.name == _THROWABLE:
            continue
        for name, code in desc.fields:
            if name in left:
                values[name] = encoder.described(left.pop(name), code, name)
    for name in left:
        raise Unencodable(f"exception {value.java_name} has no field {name}")
    if value.message is not None and not isinstance(value.message, str):
        raise Unencodable(f"the message of an exception must be a str, not {type_name(value.message)}")
    values["detailMessage"] = encoder.content(value.message)
    no_cause = value.cause is None and not value.null_cause
    values["cause"] = node if no_cause else encoder.content(value.cause)
    values["stackTrace"] = encoder.array(f"[L{_ELEMENT};", encoder.contents(value.stack_trace))
    values["suppressedExceptions"] = encoder.content(list(value.suppressed) or java.EmptyList())
    put(node, values)


def _write_element(node: Instance, value: StackTraceElement, _encoder: EncoderProtocol) -> None:
    texts = {name: getattr(value, attribute) for name, attribute in _TEXTS.items()}
    if not all(text is None or type(text) is str for text in texts.values()):
        raise Unencodable("a StackTraceElement with a name that is not a str")
    numbers = {"format": primitive(value.format, "byte"), "lineNumber": primitive(value.line_number, "int")}
    put(node, {**numbers, **texts})


HANDLERS: tuple[ClassHandler, ...] = (ClassHandler(_ELEMENT, _read_element, StackTraceElement, _write_element),)
