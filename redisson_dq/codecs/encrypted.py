"""The codec that encrypts the bytes of another codec, and how such bytes are recognized without a key.

The bytes: ``FE E1 01``, the length of the key's id in one byte, the id in UTF-8, a nonce of 12 bytes, and the
ciphertext of AES-GCM with its tag of 16 bytes. The bytes before the nonce and the queue's key are authenticated too.
``interop/src/main/java/com/acme/codec/EncryptedCodec.java`` is the same in Java.
"""

from __future__ import annotations

import copy
import json
import os
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, T, check_codec
from redisson_dq.codecs.faults import Malformed, type_name
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError

__all__ = ["EncryptedCodec", "key_id_of", "keys_of_file"]

_MAGIC = b"\xfe\xe1\x01"
_NONCE, _TAG = 12, 16
_LENGTHS = (16, 24, 32)
_LONGEST_ID = 64


class EncryptedCodec(Codec[T]):
    """Values that only holders of a key can read or make: AES-GCM around the bytes of another codec.

    ``inner`` is the codec of the values, and ``keys`` the keys by their ids, the one that encrypts first. The others
    can still decrypt values that are in Redis. A key is 16, 24 or 32 random bytes::

        keys = {"2026-11": os.urandom(32)}
        client = redisson_dq.connect(url, codec=EncryptedCodec(Kryo5Codec(), keys))

    Each value is bound to its queue: a copy in another queue cannot be read there. To read values after a move or a
    rename, use a codec with ``queue=``, the key under which they were written (the queue's name after the name mapper).
    Each encryption has different bytes, so values cannot be searched for: ``contains``, ``remove`` and
    ``deduplicate_for`` raise EncodeError. Use ids. Needs the extra ``encryption``.

    Redisson's open edition has no such codec. A Java class to copy is in ``interop/``.
    """

    def __init__(self, inner: Codec[T], keys: Mapping[str, bytes], *, queue: str | None = None) -> None:
        """Raises ArgumentError, also when the extra is not installed."""
        check_codec(inner, "inner")
        if not isinstance(keys, Mapping) or not keys:
            raise ArgumentError(f"keys are a mapping of ids to bytes, the key that encrypts first, not {type(keys)}")
        for key_id, key in keys.items():
            if not isinstance(key_id, str) or not key_id.isprintable() or not 0 < len(key_id.encode()) <= _LONGEST_ID:
                raise ArgumentError(f"a key's id is a printable text of 1 to {_LONGEST_ID} bytes, not {shown(key_id)}")
            if not isinstance(key, bytes) or len(key) not in _LENGTHS:
                raise ArgumentError(f"key {key_id!r}: a key is of 16, 24 or 32 bytes, such as os.urandom(32)")
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise ArgumentError("EncryptedCodec needs cryptography: pip install 'cryptography>=43'") from error
        self._inner = inner
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._current = next(iter(keys))
        self._queue = queue
        self._is_given = queue is not None

    @classmethod
    def from_file(cls, inner: Codec[T], path: str | os.PathLike[str], *, queue: str | None = None) -> EncryptedCodec[T]:
        """A codec with the keys of a file: a JSON object of ids and keys in Base64, the encrypting key first.

        Raises ArgumentError.
        """
        return cls(inner, keys_of_file(path), queue=queue)

    @property
    def name(self) -> str:
        """Both names, as in ``EncryptedCodec(Kryo5Codec)``."""
        return f"{type(self).__name__}({self._inner.name})"

    def encode(self, value: T) -> bytes:
        """The encrypted bytes of the inner codec, different at each call. Raises EncodeError. O(size)."""
        if self._queue is None:
            raise EncodeError(
                f"{self.name}: a value is bound to its queue: without a queue, say EncryptedCodec(..., queue=name)",
                codec=self.name,
            )
        raw = self._written(value)
        key_id = self._current.encode()
        head = b"".join((_MAGIC, bytes((len(key_id),)), key_id))
        nonce = os.urandom(_NONCE)
        return b"".join((head, nonce, self._ciphers[self._current].encrypt(nonce, raw, head + self._queue.encode())))

    def decode(self, data: bytes) -> T:
        """The value. Raises DecodeError, which names the key that is missing. O(size)."""
        from cryptography.exceptions import InvalidTag

        data, key_id, start = bytes(data), "", 0
        try:
            head = _head_of(data)
            if head is None:
                raise Malformed("the bytes are not encrypted by this codec", 0)
            key_id, start = head
            cipher = self._ciphers.get(key_id)
            if cipher is None:
                ids = ", ".join(map(repr, self._ciphers))
                raise Malformed(f"encrypted with the key {key_id!r}, and keys= has {ids}", len(_MAGIC))
            bound = data[:start] + (self._queue or "").encode()
            raw = cipher.decrypt(data[start : start + _NONCE], data[start + _NONCE :], bound)
        except InvalidTag:
            fault = Malformed(
                f"not a value of the queue {self._queue!r} under the key {key_id!r}: another key has that id, the "
                "value was made for another queue (give its name as queue=), or its bytes were changed",
                start,
            )
            raise fault.as_error(self.name, data) from None
        except Malformed as error:
            raise error.as_error(self.name, data) from None
        try:
            return self._inner.decode(raw)
        except Exception as error:
            kind = type(error).__name__
        # The inner error quotes the value, and its text would become the reason of a dead letter.
        message = f"{self.name}: the inner codec cannot read the decrypted value ({kind})"
        raise DecodeError(message, codec=self.name, data=data, offset=start)

    def _written(self, value: T) -> bytes:
        try:
            return self._inner.encode(value)
        except Exception as error:
            kind = type(error).__name__
        # The inner error quotes the value, in its path too. No part of the value may appear in a log.
        raise EncodeError(
            f"{self.name}: the inner codec cannot write this {type_name(value)} ({kind}): its own encode() says why, "
            "in words that quote the value",
            codec=self.name,
        )

    def sought(self, value: T) -> bytes:
        """Raises EncodeError: equal values have different bytes."""
        raise EncodeError(
            f"{self.name}: encrypted values cannot be searched for, because each has bytes of its own: use id= and the "
            "calls by id, or remove_if(), which decrypts all",
            codec=self.name,
        )

    def of_queue(self, name: str) -> EncryptedCodec[T]:
        """This codec for the values of a queue, unless it was made with ``queue=``. ``name`` is its key in Redis."""
        if self._is_given:
            return self
        made = copy.copy(self)
        made._queue = name
        return made

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type, if its inner codec takes one."""
        made = copy.copy(self)
        made._inner = self._inner.typed(type)
        return made

    @property
    def wants_type(self) -> bool:
        """Whether the inner codec needs the type of its values."""
        return self._inner.wants_type

    def __copy__(self) -> EncryptedCodec[T]:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__} holds keys, so it cannot be pickled: make one in each process")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inner!r}, keys={list(self._ciphers)})"


def key_id_of(data: bytes) -> str | None:
    """The id of the key that bytes are encrypted with. None for bytes of any other form. O(1)."""
    head = _head_of(data)
    return None if head is None else head[0]


def _head_of(data: bytes) -> tuple[str, int] | None:
    """The id of the key, and the offset of the nonce."""
    start = len(_MAGIC) + 1
    if not data.startswith(_MAGIC) or len(data) < start:
        return None
    end = start + data[start - 1]
    if end == start or len(data) < end + _NONCE + _TAG:
        return None
    try:
        key_id = data[start:end].decode()
    except UnicodeDecodeError:
        return None
    return (key_id, end) if key_id.isprintable() else None


def keys_of_file(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """The keys in a JSON file, by their ids. Raises ArgumentError."""
    where = os.fspath(path)
    try:
        found = json.loads(Path(where).read_text("utf-8"))
        if not isinstance(found, dict) or not found:
            raise TypeError
        return {key_id: b64decode(key, validate=True) for key_id, key in found.items()}
    except OSError as error:
        raise ArgumentError(f"the file of keys {where!r} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, RecursionError):
        raise ArgumentError(
            f'the file of keys {where!r} is not a JSON object of ids and keys in Base64, such as {{"2026-11": "..."}}'
        ) from None
