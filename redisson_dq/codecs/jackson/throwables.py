"""Exceptions in Jackson: the properties of a Throwable, and its stack trace."""

from __future__ import annotations

from typing import Any

from redisson_dq import java
from redisson_dq.codecs.jackson.node import Object, array_node
from redisson_dq.codecs.jackson.refusals import wrong
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = [
    "DECLARED",
    "RENAMED",
    "STACK_TRACE",
    "fields_of",
    "made_of",
    "read_trace",
    "read_trace_element",
    "trace_element",
    "trace_of",
]

#: The declared types of the properties that hold exceptions.
DECLARED = {"cause": Signature("java.lang.Throwable"), "suppressed": Signature("[Ljava.lang.Throwable;")}
#: The property with the stack trace.
STACK_TRACE = "stackTrace"

#: Why no exception is read or written by a codec with naming=.
RENAMED = "an exception in a codec with naming=, whose properties Java's mapper renames too: send its text"

# The line number of a native method.
_NATIVE = -2

# -- writing ---------------------------------------------------------------------------------------------------------


def fields_of(value: java.Throwable) -> list[tuple[str, Any, Signature]]:
    """The properties of an exception in order, without the stack trace: name, value, declared type."""
    fields = {
        "cause": (value.cause, DECLARED["cause"]),
        "localizedMessage": (value.message, OBJECT),
        "message": (value.message, OBJECT),
        "suppressed": (value.suppressed, DECLARED["suppressed"]),
        **{name: (item, OBJECT) for name, item in value.fields.items()},
    }
    return [(name, *fields[name]) for name in sorted(fields)]


def trace_of(value: java.Throwable) -> list[Object]:
    """The node of the stack trace."""
    return [trace_element(element) for element in value.stack_trace]


def trace_element(element: java.StackTraceElement) -> Object:
    """The node of a StackTraceElement, without its format, which Jackson does not know."""
    fields = {
        "classLoaderName": element.class_loader_name,
        "className": element.declaring_class,
        "fileName": element.file_name,
        "lineNumber": element.line_number,
        "methodName": element.method_name,
        "moduleName": element.module_name,
        "moduleVersion": element.module_version,
        "nativeMethod": element.line_number == _NATIVE,
    }
    return Object((name, item) for name, item in fields.items() if item is not None)


# -- reading ---------------------------------------------------------------------------------------------------------


def made_of(name: str, fields: dict[str, Any]) -> java.Throwable:
    """The exception with these properties. Raises Malformed."""
    message, cause, trace = fields.pop("message", None), fields.pop("cause", None), fields.pop(STACK_TRACE, [])
    fields.pop("localizedMessage", None)
    suppressed = fields.pop("suppressed", None) or []
    others = [] if cause is None else [cause]
    if not isinstance(message, (str, type(None))) or not isinstance(suppressed, list):
        raise wrong(name)
    if not all(isinstance(other, java.Throwable) for other in (*others, *suppressed)):
        raise wrong(name)
    return java.Throwable(name, message, cause=cause, stack_trace=trace, suppressed=suppressed, fields=fields)


def read_trace(node: Any) -> list[java.StackTraceElement]:
    """The stack trace of a node. Raises Malformed."""
    trace = []
    for each in array_node(STACK_TRACE, node):
        element = read_trace_element(each)
        if element is None:
            raise wrong(java.StackTraceElement.java_name)
        trace.append(element)
    return trace


def read_trace_element(node: Any) -> java.StackTraceElement | None:
    """The StackTraceElement of a node. None for any other node."""
    if type(node) is not Object:
        return None
    fields = dict(node)

    def text(name: str) -> str | None:
        found = fields.get(name)
        return found if type(found) is str else None

    line = fields.get("lineNumber")
    return java.StackTraceElement(
        text("className") or "",
        text("methodName") or "",
        text("fileName"),
        line if type(line) is int else -1,
        text("classLoaderName"),
        text("moduleName"),
        text("moduleVersion"),
    )
