"""The codecs that compress the bytes of another codec: LZ4, Snappy, ZStandard.

The compression library (cramjam) allocates whatever size the bytes announce. So each size is checked here first. It
must exceed neither ``max_size`` nor what compressed bytes of this length can expand to.
"""

from __future__ import annotations

import copy
import importlib
from abc import abstractmethod
from types import ModuleType
from typing import Any, ClassVar

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, T, check_codec
from redisson_dq.codecs.budget import Budget, OverBudget, budget_of, counting_budget
from redisson_dq.codecs.encrypted import EncryptedCodec
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.kryo5 import Kryo5Codec
from redisson_dq.codecs.marks import compared, marked, needs_copy
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError

__all__ = ["MAX_RATIO", "MAX_SIZE", "LZ4Codec", "LZ4CodecV2", "SnappyCodec", "SnappyCodecV2", "ZStdCodec"]

#: The default limit of a value's memory after decompression.
MAX_SIZE = 64 * 1024 * 1024
#: The default limit of the compression ratio.
MAX_RATIO = 1000

#: A value up to this size is read whatever its ratio. The ratio of a short value is meaningless.
_FREE = 1024 * 1024

_LARGEST = 0x7E000000  # LZ4's own limit; a Java int could hold a little more

_SIZE = 4  # bytes of a length: a Java int, big endian


class _CompressingCodec(Codec[T]):
    _format: ClassVar[str]
    _header: ClassVar[int]  # bytes before the compressed ones
    _expansion: ClassVar[int]  # one compressed byte becomes at most this many

    def __init__(
        self, inner: Codec[T] | None = None, *, max_size: int = MAX_SIZE, max_ratio: int | None = MAX_RATIO
    ) -> None:
        """``inner`` makes the bytes that are compressed. Its default is Kryo5Codec, as in Redisson.

        Values that take more than ``max_size`` bytes of memory are refused both ways, so that a few bytes in Redis
        cannot fill it. The uncompressed bytes of each nested compressing codec count, and so does the value that the
        innermost codec makes of them (its ``memory_of``). A value of more than 1 MiB may have at most ``max_ratio``
        times as many bytes as its compressed form. None means no such limit. Raises ArgumentError, also when the extra
        ``compression`` is not installed.
        """
        if inner is not None:
            check_codec(inner, "inner")
            if isinstance(inner, EncryptedCodec):
                raise ArgumentError(
                    f"encrypted bytes cannot be compressed: EncryptedCodec({type(self).__name__}(), keys)"
                )
        if not isinstance(max_size, int) or isinstance(max_size, bool) or not 0 < max_size <= _LARGEST:
            raise ArgumentError(f"max_size is a number of bytes from 1 to {_LARGEST}, not {shown(max_size)}")
        if max_ratio is not None and (type(max_ratio) is not int or max_ratio < 1):
            raise ArgumentError(f"max_ratio must be a whole number of 1 or more, or None, not {shown(max_ratio)}")
        try:
            _cramjam()
        except ImportError as error:
            name = type(self).__name__
            raise ArgumentError(f"{name} needs cramjam: pip install 'cramjam>=2.9'") from error
        self._inner = Kryo5Codec() if inner is None else inner
        self._max_size = max_size
        self._max_ratio = max_ratio

    @property
    def name(self) -> str:
        """Both names, as in ``LZ4Codec(Kryo5Codec)``."""
        return f"{type(self).__name__}({self._inner.name})"

    def encode(self, value: T) -> bytes:
        """The compressed bytes of the inner codec. Raises EncodeError. O(size)."""
        with budget_of(self._max_size) as budget:
            try:
                raw = self._inner.encode(value)
            except EncodeError as error:
                message = str(error).removeprefix(f"{error.codec}: ")
                raise EncodeError(f"{self.name}: {message}", codec=self.name, path=error.path) from error
            if len(raw) > self._max_size:
                fault = Unencodable(f"{len(raw)} bytes before compression, max_size is {self._max_size}")
                raise fault.as_error(self.name)
            cost = len(raw) + self._inner.memory_of(raw)
            try:
                budget.check(cost)
                self._check_objects(raw, budget)
            except Malformed as error:  # the value could not be read again
                raise Unencodable(error.message).as_error(self.name) from error
            budget.left -= cost
        data = self._compress(raw)
        too_much = self._too_much(len(raw), len(data))
        if too_much is not None:
            raise Unencodable(too_much).as_error(self.name)
        return data

    def _check_objects(self, raw: bytes, budget: Budget) -> None:
        """Raises OverBudget if the objects in these bytes take more memory than is left."""
        left = budget.left
        budget.left -= len(raw)
        try:
            if budget.is_unsaid or counting_budget(raw) is not None:
                self._inner.decode(raw)
        except DecodeError as error:
            if isinstance(error.__cause__, OverBudget):
                raise error.__cause__ from error
        finally:
            budget.left = left

    def decode(self, data: bytes) -> T:
        """The value that the inner codec reads from the decompressed bytes. O(size, before compression).

        Raises DecodeError, whose ``data`` are the bytes given. If the inner codec refuses the decompressed bytes, its
        error is the cause. That error has the decompressed bytes and the offset in them.
        """
        if type(data) is not bytes:
            data = bytes(data)
        with budget_of(self._max_size) as budget:
            try:
                raw = self._decompress(data)
                budget.left -= len(raw)
                budget.check(self._inner.memory_of(raw), self._header)
            except Malformed as error:
                raise error.as_error(self.name, data) from error
            except _cramjam().DecompressionError as error:
                fault = Malformed(f"the bytes are not {self._format} data of the announced size: {error}", self._header)
                raise fault.as_error(self.name, data) from error
            try:
                value: T = self._inner.decode(raw)
            except DecodeError as error:
                message = str(error).removeprefix(f"{error.codec}: ")
                raise DecodeError(
                    f"{self.name}: after decompression: {message}", codec=self.name, data=data, offset=self._header
                ) from error
        why = f"its writer used another {self._format} library"
        if not needs_copy(value):
            return compared(value, data, self, f"its bytes are in another form, or {why}")
        return value if self._compress(raw) == data else marked(value, why)

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type, if its inner codec takes one."""
        made = copy.copy(self)
        made._inner = self._inner.typed(type)
        return made

    def memory_of(self, data: bytes) -> int:
        """Zero, because ``decode`` accounts for the memory itself, as soon as it knows the sizes."""
        return 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inner!r})"

    @abstractmethod
    def _compress(self, raw: bytes) -> bytes: ...

    @abstractmethod
    def _decompress(self, data: bytes) -> bytes:
        """Raises Malformed, and the library's DecompressionError."""

    def _check(self, size: int, compressed: int, *, offset: int = 0, before: int = 0) -> None:
        """Check a size before ``size`` bytes are allocated. ``before`` is the number of bytes decompressed so far."""
        if not 0 <= size <= compressed * self._expansion:
            raise Malformed(f"{size} bytes announced, {compressed} compressed ones cannot hold them", offset)
        if before + size > self._max_size:
            raise Malformed(f"{before + size} bytes announced, max_size is {self._max_size}", offset)
        with budget_of(self._max_size) as budget:
            budget.check(before + size, offset)
        too_much = self._too_much(before + size, (offset or self._header) + compressed)
        if too_much is not None:
            raise Malformed(too_much, offset)

    def _too_much(self, size: int, compressed: int) -> str | None:
        """The fault of a value with these sizes before and after compression. None if they are allowed."""
        if self._max_ratio is None or size <= max(_FREE, self._max_ratio * compressed):
            return None
        return (
            f"{size} bytes of {compressed} compressed ones: max_ratio is {self._max_ratio}, give the codec a larger "
            "one (or None) if such values are yours"
        )


def _cramjam() -> ModuleType:
    return importlib.import_module("cramjam")


def _length(data: bytes, offset: int = 0) -> int:
    if len(data) - offset < _SIZE:
        raise Malformed("the bytes end in a length", len(data))
    return int.from_bytes(data[offset : offset + _SIZE], "big", signed=True)


class LZ4Codec(_CompressingCodec[T]):
    """The size and one LZ4 block: ``org.redisson.codec.LZ4Codec``.

    The bytes are those that Redisson writes with the native library of lz4-java.
    """

    _format = "LZ4"
    _header = _SIZE
    _expansion = 255

    def _compress(self, raw: bytes) -> bytes:
        return len(raw).to_bytes(_SIZE, "big") + bytes(_cramjam().lz4.compress_block(raw, store_size=False))

    def _decompress(self, data: bytes) -> bytes:
        size = _length(data)
        self._check(size, len(data) - _SIZE)
        # cramjam takes the size as a little-endian prefix. Only then does it report that a value is shorter.
        raw = bytes(_cramjam().lz4.decompress_block(size.to_bytes(_SIZE, "little") + data[_SIZE:]))
        if len(raw) != size:
            raise Malformed(f"{size} bytes announced, {len(raw)} found", self._header)
        return raw


class LZ4CodecV2(LZ4Codec[T]):
    """The format of LZ4Codec, since Redisson 3.25.0: ``org.redisson.codec.LZ4CodecV2``.

    Redisson before 4.5.0 cannot read its own values if LZ4 has shortened them. So up to 192 KiB this codec writes a
    block of literals, as long as the value. Every version reads such a block. ``compress=True`` compresses them too,
    for readers of 4.5.0 or later (and Java's LZ4Codec of any version).
    """

    #: The most bytes that one read of Redisson's decompressor returns. Before 4.5.0 Redisson reads only once.
    _ONE_READ = 192 * 1024

    def __init__(
        self,
        inner: Codec[T] | None = None,
        *,
        compress: bool = False,
        max_size: int = MAX_SIZE,
        max_ratio: int | None = MAX_RATIO,
    ) -> None:
        super().__init__(inner, max_size=max_size, max_ratio=max_ratio)
        self._literal = 0 if compress else self._ONE_READ

    def _compress(self, raw: bytes) -> bytes:
        return _literals(raw) if len(raw) <= self._literal else super()._compress(raw)


def _literals(raw: bytes) -> bytes:
    """The size, and an LZ4 block in which nothing is compressed."""
    size = len(raw)
    more = b""
    if size >= 15:
        full, rest = divmod(size - 15, 255)
        more = b"\xff" * full + bytes((rest,))
    return b"".join((size.to_bytes(_SIZE, "big"), bytes((min(size, 15) << 4,)), more, raw))


class SnappyCodecV2(_CompressingCodec[T]):
    """Snappy's raw format: ``org.redisson.codec.SnappyCodecV2``."""

    _format = "Snappy"
    _header = 0
    _expansion = 22  # a copy of 64 bytes takes three

    def _compress(self, raw: bytes) -> bytes:
        return bytes(_cramjam().snappy.compress_raw(raw))

    def _decompress(self, data: bytes) -> bytes:
        return self._block(data)

    def _block(self, data: bytes, before: int = 0, offset: int = 0) -> bytes:
        """One decompressed block. ``before`` bytes were decompressed before it. The block starts at ``offset`` of the
        compressed value.
        """
        snappy = _cramjam().snappy
        self._check(snappy.decompress_raw_len(data), len(data), offset=offset, before=before)
        return bytes(snappy.decompress_raw(data))


class SnappyCodec(SnappyCodecV2[T]):
    """Chunks in Snappy's raw format, each after its length: ``org.redisson.codec.SnappyCodec``.

    Redisson 4.1.0 dropped it. SnappyCodecV2 is another format.
    """

    _CHUNK = 32767

    def _compress(self, raw: bytes) -> bytes:
        parts: list[bytes] = []
        for start in range(0, len(raw), self._CHUNK):
            block = super()._compress(raw[start : start + self._CHUNK])
            parts += (len(block).to_bytes(_SIZE, "big"), block)
        return b"".join(parts)

    def _decompress(self, data: bytes) -> bytes:
        parts: list[bytes] = []
        offset = size = 0
        while offset < len(data):
            length = _length(data, offset)
            start = offset + _SIZE
            if not 0 <= length <= len(data) - start:
                raise Malformed(f"a chunk of {length} bytes announced, {len(data) - start} left", offset)
            offset = start + length
            part = self._block(data[start:offset], size, start)
            # Each chunk is one call of the library, and many small chunks would take long. Redisson writes full ones.
            if len(part) < self._CHUNK and offset < len(data):
                raise Malformed(f"a chunk of {len(part)} bytes before the last, {self._CHUNK} are in each", start)
            parts.append(part)
            size += len(part)
        return b"".join(parts)


class ZStdCodec(_CompressingCodec[T]):
    """The size and a ZStandard frame: ``org.redisson.codec.ZStdCodec``, since Redisson 3.39.0."""

    _format = "ZStandard"
    _header = _SIZE
    _expansion = 32768  # a block of four bytes becomes 128 KiB
    _LEVEL = 3  # Redisson's

    def _compress(self, raw: bytes) -> bytes:
        encoder = _cramjam().zstd.Compressor(self._LEVEL)
        encoder.compress(raw)
        # Redisson flushes before it closes. The flush ends the open block, if there is one.
        flushed = bytes(encoder.flush()) if raw else b""
        return b"".join((len(raw).to_bytes(_SIZE, "big"), flushed, bytes(encoder.finish())))

    def _decompress(self, data: bytes) -> bytes:
        size = _length(data)
        self._check(size, len(data) - _SIZE)
        raw = bytearray(size)
        found = _cramjam().zstd.decompress_into(data[_SIZE:], raw)
        if found != size:
            raise Malformed(f"{size} bytes announced, {found} found", self._header)
        return bytes(raw)
