"""The reader as the modules of this folder see it.

The reader calls these modules, and each of them calls the reader for the parts of its values. They know the reader only
by its protocol, so imports form no cycle.
"""

from __future__ import annotations

from typing import Any, Protocol

from redisson_dq.codecs.hashes import Hashes
from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.codecs.jackson.reading.doubts import Doubts
from redisson_dq.codecs.jackson.reading.plans import PlanReader, Plans
from redisson_dq.java.signatures import Signature

__all__ = ["NodeReaderProtocol"]


class NodeReaderProtocol(PlanReader, Protocol):
    """The state of reading one value: :class:`~redisson_dq.codecs.jackson.reading.dispatch.Reader` describes it."""

    plans: Plans
    dialect: Dialect
    doubts: Doubts
    hashes: Hashes
    keys: dict[tuple[str, str], Any]
    throwables: dict[str, Any]
    is_compared: bool
    is_own: bool

    def read(self, node: Any, declared: Signature, depth: int) -> Any: ...

    def declared_as(self, node: Any, declared: Signature, depth: int) -> Any: ...

    def of_class(self, name: str, node: Any, declared: Signature, depth: int) -> Any: ...
