"""The bytes that Java's codecs write for the named samples: tests/vectors/types-*.jsonl and marshalling-*.jsonl."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.conftest import as_many
from tests.vector_files import KINDS, own_rows, rows
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


def vectors(codec: str, spec: Any = None, *, redisson: str | None = None) -> tuple[Vector, ...]:
    """All of one codec that has these options, as ``of_codec``."""
    wanted = json.dumps(spec, sort_keys=True)
    return tuple(vector for vector in of_codec(codec, redisson=redisson) if vector.spec == wanted)


def of_codec(codec: str, *, redisson: str | None = None) -> tuple[Vector, ...]:
    """All of one codec, whatever its options: of one Redisson, or of all.

    By day "all" has only those rows of the Redissons between the oldest and the newest that differ from the newest's.
    """
    found = _all() if redisson is None else _whole(redisson)
    return tuple(vector for vector in found if vector.codec == codec)


@functools.cache
def _all() -> tuple[Vector, ...]:
    found: list[Vector] = []
    for version in reversed(REDISSONS):
        is_whole = version in (OLDEST, NEWEST) or as_many(0, 1)
        found += _whole(version) if is_whole else map(_vector, own_rows("types", version))
    return tuple(found)


@functools.cache
def _whole(redisson: str) -> tuple[Vector, ...]:
    kinds = [kind for kind in ("types", "marshalling") if redisson in KINDS[kind]]
    return tuple(_vector(row) for kind in kinds for row in rows(kind, redisson))


def _vector(row: Mapping[str, Any]) -> Vector:
    return Vector(
        row["codec"],
        json.dumps(row.get("spec"), sort_keys=True),
        row["redisson"],
        row["name"],
        row["javaType"],
        bytes.fromhex(row["hex"]) if "hex" in row else None,
        row.get("sameBack", False),
        row.get("deterministic", True),
    )
