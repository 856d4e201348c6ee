"""Exceptions: what java.lang.Throwable writes, and the fields that its subclasses add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable, shorten, type_name
from redisson_dq.codecs.serialization.declared import generic_fields
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor
from redisson_dq.codecs.serialization.fitting import primitive
from redisson_dq.codecs.serialization.rows import Row, field, put
from redisson_dq.codecs.serialization.stream import STRUCT_CODES, Array, ClassDesc, Content, Instance
from redisson_dq.java.values import StackTraceElement, Throwable

if TYPE_CHECKING:
    from redisson_dq.codecs.serialization.decoder import Decoder
    from redisson_dq.codecs.serialization.encoder import Encoder

__all__ = ["ROWS", "descriptor", "is_throwable", "read_throwable", "write_throwable"]

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
    parent: ClassDesc | None = desc
    while parent is not None:
        if parent.name == _THROWABLE:
            return True
        parent = parent.superclass
    return False


def descriptor(value: Throwable) -> ClassDesc:
    """The class of an exception. Only those of the JDK can be written."""
    desc = jdk_descriptor(value.java_name)
    if desc is None or not is_throwable(desc):
        raise Unencodable(f"exception {value.java_name} is none of the JDK's, and only those are written")
    return desc


def read_throwable(node: Instance, decoder: Decoder) -> Throwable:
    """An exception of any class: Throwable's own fields, and those of its subclasses in ``fields``."""
    made: Throwable = decoder.begin(node, Throwable(node.desc.name, field(node, "detailMessage", (str, type(None)))))
    for part in node.desc.lineage:
        section = node.sections[part.name]
        if section.annotation:
            raise Malformed(f"exception {shorten(part.name, 200)} writes data by itself", node.offset)
        if part.name != _THROWABLE:
            made.fields |= generic_fields(part, section, decoder)
    cause = field(node, "cause", object, None)
    if cause is not node:
        made.cause = decoder.value(cause)
        if not isinstance(made.cause, (Throwable, type(None))):
            raise Malformed("a cause that is no exception", node.offset)
    trace = field(node, "stackTrace", (Array, type(None)), None)
    if trace is not None:
        made.stack_trace += _copied(trace, StackTraceElement, node, decoder)
    suppressed = field(node, "suppressedExceptions", (Instance, type(None)), None)
    if suppressed is not None:
        made.suppressed += _copied(suppressed, Throwable, node, decoder)
    return made


def _copied(content: Any, kind: type, node: Instance, decoder: Decoder) -> list[Any]:
    found = decoder.copied(content)
    if not isinstance(found, list) or not all(isinstance(item, kind) for item in found):
        raise Malformed(f"an exception with something that is no {kind.__name__}", node.offset)
    return found


def _read_element(node: Instance, _decoder: Decoder) -> StackTraceElement:
    # Before JDK 9 there were four of the fields.
    texts: Any = {attribute: field(node, name, (str, type(None)), None) for name, attribute in _TEXTS.items()}
    return StackTraceElement(**texts, line_number=field(node, "lineNumber", int), format=field(node, "format", int, 0))


def write_throwable(node: Instance, value: Throwable, encoder: Encoder) -> None:
    """Give a new exception its fields."""
    left = dict(value.fields)
    values: dict[str, Content] = {}
    for desc in node.desc.lineage:
        if desc.name == _THROWABLE:
            continue
        for name, code in desc.fields:
            if name in left:
                given = left.pop(name)
                values[name] = primitive(given, _PRIMITIVES[code]) if code in STRUCT_CODES else encoder.content(given)
    for name in left:
        raise Unencodable(f"exception {value.java_name} has no field {name}")
    if value.message is not None and not isinstance(value.message, str):
        raise Unencodable(f"the message of an exception is a str, not {type_name(value.message)}")
    values["detailMessage"] = encoder.content(value.message)
    values["cause"] = node if value.cause is None else encoder.content(value.cause)
    values["stackTrace"] = encoder.array(f"[L{_ELEMENT};", encoder.contents(value.stack_trace))
    values["suppressedExceptions"] = encoder.content(list(value.suppressed) or java.EmptyList())
    put(node, values)


_PRIMITIVES = {"C": "char", "I": "int", "Z": "boolean"}  # which exceptions of the JDK have


def _write_element(node: Instance, value: StackTraceElement, _encoder: Encoder) -> None:
    texts = {name: getattr(value, attribute) for name, attribute in _TEXTS.items()}
    if not all(text is None or type(text) is str for text in texts.values()):
        raise Unencodable("a StackTraceElement with a name that is no str")
    numbers = {"format": primitive(value.format, "byte"), "lineNumber": primitive(value.line_number, "int")}
    put(node, {**numbers, **texts})


ROWS: tuple[Row, ...] = (Row(_ELEMENT, _read_element, StackTraceElement, _write_element),)
