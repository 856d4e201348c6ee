"""The class descriptors of the JDK, as its classes write them, and of Kotlin's collections: ``descriptors.txt``.

A line there is a class's name, its serialVersionUID, its flags, its superclass or ``-``, and its fields as
``type:name``. JDK 17 and JDK 25 are the same, except for a flag of ``Collections$SynchronizedList`` (3 in JDK 25).
Public enums are included for their ``java.lang.Class``.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from importlib import resources
from typing import TypeVar

from redisson_dq.codecs.serialization.stream import SC_SERIALIZABLE, ClassDesc, FieldDesc
from redisson_dq.codecs.serialization.utf import encode_utf

__all__ = ["array_descriptor", "jdk_descriptor", "one_for_all"]

_PUBLIC, _FINAL_ABSTRACT = 0x0001, 0x0410
_NOT_PUBLIC = frozenset(("[Ljava.util.concurrent.ConcurrentHashMap$Segment;",))


#: One lock for all descriptors, because making one makes others.
_lock = threading.RLock()
_Made = TypeVar("_Made")
_Key = TypeVar("_Key")


def one_for_all(
    cache: Callable[[Callable[[_Key], _Made]], Callable[[_Key], _Made]],
) -> Callable[[Callable[[_Key], _Made]], Callable[[_Key], _Made]]:
    """A cache that returns the same object to all threads, because a stream recognizes its objects by identity."""

    def decorate(make: Callable[[_Key], _Made]) -> Callable[[_Key], _Made]:
        cached = cache(make)

        @functools.wraps(make)
        def get(key: _Key) -> _Made:
            with _lock:
                return cached(key)

        return get

    return decorate


_PACKAGE = __name__.rpartition(".")[0]


@functools.cache
def _lines() -> dict[str, str]:
    text = resources.files(_PACKAGE).joinpath("descriptors.txt").read_text("utf-8")
    return {line.partition(" ")[0]: line for line in text.splitlines()}


def jdk_descriptor(name: str) -> ClassDesc | None:
    """The descriptor of a JDK class. None if it is not in the registry. O(1)."""
    return _descriptor(name) if name in _lines() else None


@one_for_all(functools.cache)  # pyright: ignore[reportArgumentType] - a name hashes
def _descriptor(name: str) -> ClassDesc:
    _, uid, flags, parent, *fields = _lines()[name].split(" ")
    return ClassDesc(
        name,
        int(uid),
        int(flags),
        tuple(FieldDesc(*reversed(field.split(":"))) for field in fields),
        None if parent == "-" else _descriptor(parent),
    )


@one_for_all(functools.lru_cache(maxsize=1024))  # pyright: ignore[reportArgumentType] - the same
def array_descriptor(name: str) -> ClassDesc:
    """The descriptor of an array class: ``[I``, ``[Lcom.acme.Order;``.

    Its serialVersionUID is the default one, a digest of the name and the modifiers, here those of an array of a public
    class. Java does not compare it for arrays.
    """
    raw = encode_utf(name)
    modifiers = _FINAL_ABSTRACT if name in _NOT_PUBLIC else _FINAL_ABSTRACT | _PUBLIC
    digest = hashlib.sha1(len(raw).to_bytes(2, "big") + raw + modifiers.to_bytes(4, "big")).digest()
    return ClassDesc(name, int.from_bytes(digest[:8], "little", signed=True), SC_SERIALIZABLE)
