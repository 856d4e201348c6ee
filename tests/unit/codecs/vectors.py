"""The bytes that Java's codecs write for the named samples: tests/vectors/types-*.jsonl and marshalling-*.jsonl."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Vector", "of_codec", "vectors"]

FOLDER = Path(__file__).resolve().parents[2] / "vectors"


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
    """All of one codec that has these options, over all versions."""
    wanted = json.dumps(spec, sort_keys=True)
    return tuple(vector for vector in _all() if vector.codec == codec and vector.spec == wanted)


def of_codec(codec: str) -> tuple[Vector, ...]:
    """All of one codec, whatever its options."""
    return tuple(vector for vector in _all() if vector.codec == codec)


@functools.cache
def _all() -> tuple[Vector, ...]:
    found = []
    for path in sorted([*FOLDER.glob("types-*.jsonl"), *FOLDER.glob("marshalling-*.jsonl")]):
        for line in path.read_text("utf-8").splitlines()[1:]:
            row = json.loads(line)
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
