"""Values whose bytes and meaning have to be the same in both languages."""

from __future__ import annotations

from typing import Any

from redisson_dq.java import Long, Short

__all__ = ["KRYO5", "TEXTS"]

TEXTS: dict[str, str] = {
    "empty": "",
    "one letter": "a",
    "latin": "d\u00e9j\u00e0 vu",
    "beyond the basic plane": "\U0001f6d2 \u6ce8\u6587",
    "with a zero": "a\0b",
    "5000 letters": "abcde" * 1000,
    "a megabyte": "0123456789abcdef" * 65536,
    "a megabyte beyond ascii": "\u0451" * 524288,
}

#: Values for Redisson's default codec. A list's element has many shapes at once.
KRYO5: dict[str, Any] = {
    **TEXTS,
    "true": True,
    "zero": 0,
    "minus one": -1,
    "largest int": 2**31 - 1,
    "smallest long": -(2**63),
    "small long": Long(5),
    "short": Short(-3),
    "big integer": 2**80,
    "double": -0.5,
    "infinity": float("inf"),
    "no bytes": b"",
    "all bytes": bytes(range(256)),
    "empty list": [],
    "list": ["a", 1, [None, 2.5], {"k": []}, b"\0", False],
    "empty map": {},
    "map": {"order": 42, "lines": [{"sku": "x-1", "count": Long(3)}], "note": None},
    "map with other keys": {1: "one", None: "nothing"},
}
