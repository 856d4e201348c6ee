"""JSON of one Python type, without Java's names and rules: for queues that only Python uses."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple, get_args, get_type_hints, overload

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec, T
from redisson_dq.codecs.budget import memory_of_text
from redisson_dq.codecs.faults import Malformed, decode_error, type_name
from redisson_dq.errors import ArgumentError, EncodeError

__all__ = ["JsonCodec"]

#: The path of a value in msgspec's messages, and the position at which the text is not JSON.
_PATH = re.compile(r" - at `\$(.*)`\Z", re.DOTALL)
#: The part of a pydantic warning that does not show the value.
_EXPECTED = re.compile(r"Expected `[^`]*`(?= - serialized value)")
_BYTE = re.compile(r"\(byte (\d+)\)\Z")


_INSTALL = {"msgspec": "pip install 'msgspec>=0.19'", "pydantic": "pip install 'pydantic>=2.11'"}


class _Format(NamedTuple):
    """A library's functions for one type. Both raise ValueError or TypeError."""

    dumps: Callable[[Any], bytes]
    loads: Callable[[bytes], Any]


class JsonCodec(Codec[T]):
    """Plain JSON of one Python type, checked in both directions.

    - ``type``: a dataclass, an attrs class, a pydantic model, a TypedDict, a NamedTuple, a msgspec Struct, or an
      annotation of such: ``list[Order]``, ``Order | None``, ``dict[str, Decimal]``. Without it JSON's own types

    >>> from decimal import Decimal
    >>> JsonCodec(dict[str, Decimal]).encode({"price": Decimal("19.99")})
    b'{"price":"19.99"}'

    Datetimes, Decimals, UUIDs, enums, bytes and sets are written as msgspec writes them. Types that contain pydantic
    models, and unions of several dataclasses, are read and written by pydantic. A value that would not come back equal
    raises EncodeError when it is offered, and bytes that are not such a value raise DecodeError with the path. Unknown
    fields are ignored and missing ones take their defaults, so a class can grow while both versions run.

    Needs msgspec, the extra ``json``. Raises ArgumentError for a type that neither library knows. O(size).
    No counterpart in Redisson: Java reads the text with StringCodec.
    """

    @overload
    def __init__(self, type: type[T]) -> None: ...

    @overload
    def __init__(self: JsonCodec[Any], type: Any = None) -> None: ...

    def __init__(self, type: Any = None) -> None:
        self._type = type
        self._format = _format_of(type)

    @property
    def wants_type(self) -> bool:
        """Whether the codec has no type yet."""
        return self._type is None

    def typed(self, type: Any) -> Codec[Any]:
        """This codec for values of that type."""
        if self._type is not None and type != self._type:
            raise ArgumentError(
                f"type={shown(type)}: its JsonCodec is of another type, {shown(self._type)}; say one of them"
            )
        return JsonCodec(type)

    def encode(self, value: T) -> bytes:
        """The JSON of ``value``. Raises EncodeError if it is not of the type, or would come back as another value."""
        try:
            back = self._format.loads(self._format.dumps(value))
            data = self._format.dumps(back)  # if a float is declared, 5 and 5.0 have the same bytes
        except Exception as error:
            raise self._refused(value, *_place_and_text(error)) from error
        # None is compared too, although it has no own __eq__ in Python 3.12 and older: NaN would come back as None.
        compares = back is None or getattr(type(back), "__eq__", None) is not object.__eq__
        if compares and back != value:
            raise self._refused(value, "$", f"it would be read back as another value, of type {type_name(back)}")
        return data

    def _refused(self, value: T, path: str, text: str) -> EncodeError:
        message = f"{self.name}: {type_name(value)} is not a value of {_name(self._type)}: {text} (at {path})"
        return EncodeError(message, codec=self.name, path=path)

    def decode(self, data: bytes) -> T:
        """The value of ``data``. Raises DecodeError."""
        data = bytes(data)
        try:
            return self._format.loads(data)  # type: ignore[no-any-return]
        except (Exception, SystemExit) as error:
            path, text = _place_and_text(error)
            byte = _BYTE.search(text)
            fault = Malformed(text if byte else f"{text} (at {path})", int(byte[1]) if byte else 0, stale=False)
            raise decode_error(fault, self.name, data) from error

    def memory_of(self, data: bytes) -> int:
        """For JSON, the commas and brackets say more than the length."""
        return memory_of_text(data)

    def __repr__(self) -> str:
        return f"{self.name}({'' if self._type is None else _name(self._type)})"


def _name(kind: Any) -> str:
    if kind is None:
        return "JSON's own types"
    return kind.__qualname__ if isinstance(kind, type) and not get_args(kind) else str(kind)


def _place_and_text(error: Exception | SystemExit) -> tuple[str, str]:
    """The path of the first fault, and its text without the values, which do not belong in a log."""
    errors = getattr(error, "errors", None)
    if callable(errors):  # from pydantic
        found: Any = errors(include_url=False, include_input=False)
        first = found[0]
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        return "$" + "".join(steps), first["msg"]
    text = str(error)
    expected = _EXPECTED.search(text)
    if expected is not None:
        return "$", expected[0]
    found = _PATH.search(text)
    return ("$", text) if found is None else (f"${found[1]}", text[: found.start()])


# The two libraries


def _format_of(kind: Any) -> _Format:
    if kind is not None and _has_model(kind):
        return _pydantic(kind)
    msgspec = _module("msgspec")
    try:
        decoder = msgspec.json.Decoder(Any if kind is None else kind)
        if isinstance(msgspec.inspect.type_info(kind), msgspec.inspect.CustomType):
            raise TypeError("use a dataclass, an attrs class, a pydantic model or a TypedDict")
    except (TypeError, ValueError) as error:  # a ValueError from the repr of an object that is not a type
        text = str(error)
        if "unions may not contain" in text:
            return _pydantic(kind)  # pydantic tells several classes apart by their fields
        if isinstance(error, ValueError) or text.endswith("is not supported"):
            text = "it is not a supported type"  # msgspec shows the whole object, passwords too
        raise ArgumentError(f"JsonCodec: {shown(kind)} cannot be read from JSON: {text}") from None
    encoder = msgspec.json.Encoder(order="deterministic")

    def dumps(value: Any) -> bytes:
        try:
            return encoder.encode(value)  # type: ignore[no-any-return]
        except TypeError:
            # The keys of a dict are numbers, dates or enums.
            return encoder.encode(msgspec.to_builtins(value, str_keys=True, order="deterministic"))  # type: ignore[no-any-return]

    return _Format(dumps, decoder.decode)


def _pydantic(kind: Any) -> _Format:
    pydantic = _module("pydantic")
    try:
        adapter = pydantic.TypeAdapter(kind)
    except pydantic.errors.PydanticUserError as error:  # a schema has these too
        text = str(error).partition(". ")[0]
        raise ArgumentError(f"JsonCodec: {shown(kind)} cannot be read from JSON by pydantic: {text}") from error
    return _Format(
        lambda value: adapter.dump_json(value, warnings="error"), lambda data: adapter.validate_json(data, strict=True)
    )


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ArgumentError(f"JsonCodec needs {name} for this type: {_INSTALL[name]}") from error


def _has_model(kind: Any) -> bool:
    """Whether the type contains a pydantic model, as far as annotations show."""
    seen: set[Any] = set()
    left = [kind]
    while left:
        each = left.pop()
        try:
            if each in seen:
                continue
            seen.add(each)
        except TypeError:
            continue
        if hasattr(each, "__pydantic_core_schema__") or hasattr(each, "__pydantic_fields__"):
            return True
        left += get_args(each)
        if isinstance(each, type) and "__annotations__" in vars(each):
            left += _hints(each)
    return False


def _hints(kind: type) -> list[Any]:
    try:
        return list(get_type_hints(kind, include_extras=True).values())
    except Exception:  # a name that is not defined yet; msgspec or pydantic reports it
        return []
