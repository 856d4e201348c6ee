"""The attributes shared by all operations of one call on one queue, built once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from redisson_dq.observing.operations import Operation
from redisson_dq.otel import names
from redisson_dq.wire.keys import NameMapper
from redisson_dq.wire.partitions import whole_of

__all__ = ["Destination", "Destinations"]

# A program may create a queue for each of its users.
_MOST = 1000


@attrs.frozen
class Destination:
    """A queue, and a call on it. A partition counts as its queue; the span has the partition's number."""

    name: str
    span_name: str
    of_span: Mapping[str, Any]
    of_metric: Mapping[str, Any]


class Destinations:
    """The destinations of one client."""

    def __init__(self, address: tuple[str, int | None] | None, name_mapper: NameMapper | None) -> None:
        self._server: dict[str, Any] = {}
        if address is not None:
            self._server[names.SERVER_ADDRESS] = address[0]
            if address[1] is not None:
                self._server[names.SERVER_PORT] = address[1]
        self._name_mapper = name_mapper
        # By call and queue. Calls with the same name are of the same kind.
        self._known: dict[tuple[str, str], Destination] = {}

    def of(self, operation: Operation) -> Destination:
        """The destination of an operation. A message belongs to the partition that has its lease."""
        queue = operation.leases[0].name if len(operation.leases) == 1 else operation.queue
        key = operation.name, queue
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[key] = self._made(operation.kind.value, *key)
        return found

    def _made(self, kind: str, call: str, queue: str) -> Destination:
        whole = whole_of(queue, self._name_mapper)
        name = queue if whole is None else whole[0]
        common = {
            names.SYSTEM: names.SYSTEM_NAME,
            names.OPERATION_NAME: call,
            names.OPERATION_TYPE: kind,
            names.DESTINATION: name,
            **self._server,
        }
        of_span = common if whole is None else {**common, names.PARTITION: str(whole[1])}
        return Destination(name, f"{call} {name}", of_span, common)
