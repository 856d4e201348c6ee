"""Puts a trace's context into the ``context=`` of an offer, and extracts it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Union

from opentelemetry import propagate
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Setter, TextMapPropagator
from opentelemetry.trace import Link, SpanContext, get_current_span

from redisson_dq.calls.offers import LARGEST_CONTEXT
from redisson_dq.observing.operations import TracedLease

__all__ = ["Carrier", "sender"]

# A field that may be present without a trace.
_BAGGAGE = "baggage"
# A text longer than this may be too large in bytes or as JSON.
_LOOKED_AT = LARGEST_CONTEXT // 8

#: The context of a message, or None.
_Given = Union[Mapping[str, str], None]


class _Setter(Setter[MutableMapping[str, str]]):
    """Sets a field of a context. The propagators' own setter has no exact type."""

    def set(self, carrier: MutableMapping[str, str], key: str, value: str) -> None:
        carrier[key] = value


class Carrier:
    """Puts a trace's context into messages with the given propagator, or with the program's global one."""

    def __init__(self, propagator: TextMapPropagator | None) -> None:
        self._given = propagator

    @property
    def _propagator(self) -> TextMapPropagator:
        # The program may set its global propagator after a client was instrumented.
        return self._given or propagate.get_global_textmap()

    def is_taken(self, given: _Given) -> bool:
        """Whether the user's context already has a trace, which takes precedence."""
        if not given or not _is_usable(given):
            return False
        return not self._propagator.fields.isdisjoint(given.keys() - {_BAGGAGE})

    def with_trace(self, given: _Given, context: Context) -> _Given:
        """The user's context combined with the trace's. The user's fields take precedence.

        Returns only the user's context if it is invalid, or if there is no room for both.
        """
        if not _is_usable(given):
            return given
        fields: MutableMapping[str, str] = {}
        self._propagator.inject(fields, context, _Setter())
        if not fields:
            return given
        both = {**fields, **(given or {})}
        return both if _fits(both) else given

    def context_of(self, lease: TracedLease) -> Context | None:
        """The trace context of a message, or None."""
        carried = lease.context
        return self._propagator.extract(carried, Context()) if carried else None

    def links(self, leases: Sequence[TracedLease]) -> list[Link]:
        """Links to the spans that sent these messages."""
        found = (self.context_of(lease) for lease in leases)
        return [Link(sent) for context in found if context is not None and (sent := sender(context)) is not None]


def sender(context: Context) -> SpanContext | None:
    """The span that sent a message, from the message's context."""
    found = get_current_span(context).get_span_context()
    return found if found.is_valid else None


def _is_usable(given: _Given) -> bool:
    """Whether an offer accepts this as a context. If not, the offer itself raises the right error."""
    if not given:
        return True
    return isinstance(given, Mapping) and all(isinstance(word, str) for each in given.items() for word in each)


def _fits(context: Mapping[str, str]) -> bool:
    if sum(len(word) for each in context.items() for word in each) < _LOOKED_AT:
        return True
    return len(json.dumps(context, ensure_ascii=False).encode(errors="replace")) <= LARGEST_CONTEXT
