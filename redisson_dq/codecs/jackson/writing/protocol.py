"""The writer as the modules of this folder see it: they call it for the parts of a value."""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

from redisson_dq import java
from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.signatures import Signature

__all__ = ["NodeWriterProtocol"]


class NodeWriterProtocol(Protocol):
    """Writes one value; a container writes its parts with it."""

    @property
    def dialect(self) -> Dialect: ...

    def write(self, value: Any, declared: Signature, depth: int) -> Any: ...

    def with_name(self, name: str, node: Any, declared: Signature) -> Any: ...

    def member(self, declaration: Declaration, member: Enum) -> str | int: ...

    def constant(self, member: Enum, declaration: Declaration) -> Any: ...

    def throwable(self, value: java.Throwable, depth: int) -> Any: ...

    def generic(self, content: Any, depth: int) -> Any: ...

    def check_json(self, declaration: Declaration) -> None: ...
