"""The bytes that Java's codecs write for the named samples: tests/vectors/types-*.jsonl and marshalling-*.jsonl."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.conftest import as_many
from tests.vector_files import own_rows, rows
from tests.versions import NEWEST, OLDEST, REDISSONS

__all__ = ["Vector", "of_codec", "vectors"]


@dataclass(frozen=True)
class Vector:
    """One sample, as one codec of one Redisson writes it. ``data`` is None where it is too long, or refused."""

    codec: str
    spec: str
    redisson: str
    name: str
    java_type: str
    data: bytes | None
    #: Whether Java reads its own bytes back as the same value.
    same_back: bool
    #: Whether another run of the JVM writes the same.
    deterministic: bool

    def __str__(self) -> str:
        return f"{self.redisson}-{self.name}"


def vectors(codec: str, spec: Any = None) -> tuple[Vector, ...]:
    """All of one codec that has these options, over all versions: see ``_rows``."""
    wanted = json.dumps(spec, sort_keys=True)
    return tuple(vector for vector in _all() if vector.codec == codec and vector.spec == wanted)


def of_codec(codec: str) -> tuple[Vector, ...]:
    """All of one codec, whatever its options."""
    return tuple(vector for vector in _all() if vector.codec == codec)


def _rows() -> Iterator[Mapping[str, Any]]:
    """Those of the oldest and the newest Redisson. By day those of the others where they differ."""
    for version in reversed(REDISSONS):
        is_whole = version in (OLDEST, NEWEST) or as_many(0, 1)
        yield from rows("types", version) if is_whole else own_rows("types", version)
    yield from rows("marshalling", OLDEST)


@functools.cache
def _all() -> tuple[Vector, ...]:
    found = []
    for row in _rows():
        found.append(
            Vector(
                row["codec"],
                json.dumps(row.get("spec"), sort_keys=True),
                row["redisson"],
                row["name"],
                row["javaType"],
                bytes.fromhex(row["hex"]) if "hex" in row else None,
                row.get("sameBack", False),
                row.get("deterministic", True),
            )
        )
    return tuple(found)
