"""The same calls in both languages, on two queues that start equal: do they answer the same and leave the same bytes?

A call is written as it would be in either language; ``QUEUE`` in a name stands for the queue of that side::

    redisson.pollFirst(int_(2)), here.poll_first(limit=2)
    redisson.move(deque_move("first", "last", QUEUE + "-b")), here.move(QUEUE + "-b")

A :class:`Twins` has one queue for Java and one for Python, on one Redis, and runs such pairs::

    twins = Twins(JavaSide(java, "deque", name_a), PythonSide(handle, name_b), look)
    twins.run(same(redisson.pollFirst(), here.poll_first()))       # asserts: equal results, equal state
    twins.run(both(redisson.pollFirst(), here.poll_first(), "a"))    # and that it is this result
    twins.run(differs("why", redisson.addFirst("a"), None, here.add_first("a"), 1))   # each its own result, equal state
    twins.run(differs("why", ..., same_state=False))               # asserts that the states differ

What a call answers is a value, or ``Failed("QueueEmptyError")``: the class of ours that stands for what Java threw
(``THROWN``; any other is ``Failed(<Java's text>)``). Results are compared with their types; a tuple counts as a list,
an iterator of either kind as the list of what it gives, what Java put into a collection as that list, a time as its
milliseconds, and the queue's name in a result as ``QUEUE``.

The state of a queue is every key that has the queue's name in its own (other queues of a test are named after it):
type, content, the month in which it vanishes. Pass ``content=`` for keys whose bytes are random, such as envelopes::

    Twins(..., content=lambda admin, key: ...)

:func:`signatures` tells the methods of Redisson that a class says it answers to, and :func:`answers` whether a call
is a call of one of them, so that a table can be held against them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, final

import redis

from redisson_dq.errors import QueueEmptyError, QueueFullError, RedisReplyError, RedissonDQError
from tests.interop.java_args import JavaArg
from tests.interop.sides import Java
from tests.peer import PeerError

__all__ = [
    "QUEUE",
    "Call",
    "Failed",
    "JavaSide",
    "Pair",
    "PythonSide",
    "Twins",
    "answers",
    "both",
    "content_of",
    "differs",
    "here",
    "redisson",
    "same",
    "signatures",
    "state",
]

#: Stands for the queue's name in arguments, results and keys.
QUEUE = "<queue>"

#: What Java throws -> the error of ours that stands for it. The first that is in Java's text counts.
THROWN: dict[str, type[RedissonDQError]] = {
    "java.util.NoSuchElementException": QueueEmptyError,
    "java.lang.IllegalStateException: Queue is full": QueueFullError,
    "ERR no such key": RedisReplyError,
    "has not been set": RedisReplyError,
}


@dataclass(frozen=True)
class Failed:
    """A call that raised: the name of our error, or what Java said where none of ours stands for it."""

    error: str


@dataclass(frozen=True)
class Call:
    """One call, of either language, not made yet."""

    method: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"{self.method}({', '.join([*map(repr, self.args), *named])})"


@final
class _Calls:
    """``calls.method(args)`` writes a call down."""

    def __getattr__(self, method: str) -> Callable[..., Call]:
        return lambda *args, **kwargs: Call(method, args, kwargs)


redisson = _Calls()
here = _Calls()


@dataclass(frozen=True)
class Pair:
    """One call in both languages, and what each of them answers if that is known to differ."""

    java: Call
    python: Call
    reason: str = ""
    java_result: Any = None
    python_result: Any = None
    same_state: bool = True


def same(java: Call, python: Call) -> Pair:
    return Pair(java, python)


def both(java: Call, python: Call, result: Any) -> Pair:
    """They answer the same, and it is this."""
    return Pair(java, python, "as told", result, result)


def differs(
    reason: str, java: Call, java_result: Any, python: Call, python_result: Any, *, same_state: bool = True
) -> Pair:
    return Pair(java, python, reason, java_result, python_result, same_state)


@final
class JavaSide:
    """Redisson's object of a kind, by the queue's name as Java is told it."""

    def __init__(self, java: Java, kind: str, name: str) -> None:
        self.name = name
        self._java = java
        self._kind = kind

    def run(self, call: Call) -> Any:
        args = [_placed(arg, self.name) for arg in call.args]
        try:
            result = self._java.invoke(self._kind, call.method, *args)
        except PeerError as error:
            text = str(error)
            return Failed(next((kind.__name__ for thrown, kind in THROWN.items() if thrown in text), text))
        if any(JavaArg.of(arg).kind == "collect" for arg in args):
            count, result = result
            assert count == len(result)
        return _plain(result, self.name)


@final
class PythonSide:
    """A handle of this library, of either flavour."""

    def __init__(self, handle: Any, name: str) -> None:
        self.name = name
        self._handle = handle

    def run(self, call: Call) -> Any:
        args = [_placed(arg, self.name) for arg in call.args]
        kwargs = {key: _placed(value, self.name) for key, value in call.kwargs.items()}
        try:
            result = getattr(self._handle, call.method)(*args, **kwargs)
            return _plain(list(result) if isinstance(result, Iterator) else result, self.name)
        except RedissonDQError as error:
            return Failed(type(error).__name__)


class Twins:
    """Two queues that start equal, one for each language."""

    def __init__(
        self,
        java: JavaSide,
        python: PythonSide,
        admin: redis.Redis,
        *,
        content: Callable[[redis.Redis, bytes], Any] | None = None,
    ) -> None:
        self.java = java
        self.python = python
        self._admin = admin
        self._content = content or content_of

    def run(self, *pairs: Pair) -> None:
        for number, pair in enumerate(pairs):
            what = f"call {number}: {pair.java} | {pair.python}"
            results = self.java.run(pair.java), self.python.run(pair.python)
            # Without a reason both have to answer what Java did.
            expected = (pair.java_result, pair.python_result) if pair.reason else (results[0], results[0])
            for result, wanted in zip(results, expected, strict=True):
                assert _typed(result) == _typed(wanted), f"{what}\nanswered {results}\nexpected {expected}"
            states = self.states()
            assert (states[0] == states[1]) is pair.same_state, f"{what}\nleft {states[0]}\nand {states[1]}"

    def states(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What stands in Redis of Java's queue, and of Python's."""
        return (
            state(self._admin, self.java.name, self._content),
            state(self._admin, self.python.name, self._content),
        )


def state(
    admin: redis.Redis, name: str, content: Callable[[redis.Redis, bytes], Any] | None = None
) -> dict[str, tuple[str, Any, int | None]]:
    """Key -> its type, its content, the month it vanishes in; for all keys with the queue's name in theirs.

    Without the notes that Java does not make of a bounded queue: its capacity, and the last release of each client.
    """
    read = content or content_of
    notes = (b"redisson_dq_returned", b"redisson_dq_settings")
    found = sorted(key for key in admin.scan_iter(count=1000) if name.encode() in key and not key.startswith(notes))
    with admin.pipeline(transaction=False) as pipeline:
        for key in found:
            pipeline.type(key)
            pipeline.pexpiretime(key.decode())
        told = pipeline.execute()
    return {
        key.decode().replace(name, QUEUE): (kind.decode(), read(admin, key), _month(moment))
        for key, kind, moment in zip(found, told[::2], told[1::2], strict=True)
    }


def _month(moment: int) -> int | None:
    """In months, as what expires in an hour here and there does so some milliseconds apart."""
    return None if moment < 0 else moment // (30 * 86_400_000)


def content_of(admin: redis.Redis, key: bytes) -> Any:
    """All that is in a key of any type that queues have."""
    readers: dict[bytes, Callable[[], Any]] = {
        b"list": lambda: admin.lrange(key, 0, -1),
        b"zset": lambda: admin.zrange(key, 0, -1, withscores=True),
        b"hash": lambda: admin.hgetall(key),
        b"string": lambda: admin.get(key),
        b"none": lambda: None,
    }
    return readers[admin.type(key)]()  # type: ignore[index]


# -- Redisson's methods ----------------------------------------------------------------------------------------------

_FIELD = re.compile(r":Redisson:(.*?)(?=\n\s*:|\Z)", re.DOTALL)
_SIGNATURE = re.compile(r"``(\w+)\.(\w+)\(([^)]*)\)``")

# The kind of an argument -> the parameters that it fits, as the docstrings write them.
_FITS = {
    "value": ("Object",),
    "values": ("Collection", "Object..."),
    "int": ("int",),
    "long": ("long",),
    "unit": ("TimeUnit",),
    "duration": ("Duration",),
    "instant": ("Instant", "Date"),
    "string": ("String",),
    "strings": ("String...",),
    "bytes": ("byte[]",),
    "deque_move": ("DequeMoveArgs",),
    "collect": ("Collection",),
}


def signatures(kind: type) -> set[tuple[str, tuple[str, ...]]]:
    """The methods of Redisson, ``(name, parameter types)``, that the public methods of a class say they answer to."""
    found = set()
    for name, member in inspect.getmembers(kind):
        text = inspect.getdoc(member) if not name.startswith("_") or name in ("__iter__", "__aiter__") else None
        for fields in _FIELD.findall(text or ""):
            for _, method, parameters in _SIGNATURE.findall(fields):
                found.add((method, tuple(filter(None, parameters.split(", ")))))
    return found


def answers(call: Call, signature: tuple[str, tuple[str, ...]]) -> bool:
    """Whether a call of Redisson is a call of the method with this signature."""
    method, parameters = signature
    kinds = [JavaArg.of(arg).kind for arg in call.args]
    return (
        call.method == method
        and len(kinds) == len(parameters)
        and all(parameter in _FITS[kind] for kind, parameter in zip(kinds, parameters, strict=True))
    )


# -- inside ----------------------------------------------------------------------------------------------------------


def _placed(arg: Any, name: str) -> Any:
    """An argument with the queue's name in the place of ``QUEUE``."""
    if isinstance(arg, str):
        return arg.replace(QUEUE, name)
    if isinstance(arg, JavaArg):
        return replace(arg, body=_placed(arg.body, name))
    if isinstance(arg, list):
        return [_placed(item, name) for item in arg]
    if isinstance(arg, dict):
        return {key: _placed(value, name) for key, value in arg.items()}
    return arg


def _plain(result: Any, name: str) -> Any:
    """A result as both languages have it: lists, and ``QUEUE`` for the queue's name; times in milliseconds."""
    if isinstance(result, str):
        return result.replace(name, QUEUE)
    if isinstance(result, (list, tuple)):
        return [_plain(item, name) for item in result]
    if isinstance(result, dict):
        return {_plain(key, name): _plain(value, name) for key, value in result.items()}
    if isinstance(result, timedelta):
        return round(result / timedelta(milliseconds=1))
    if isinstance(result, datetime):
        return round(result.timestamp() * 1000)
    return result


def _typed(result: Any) -> tuple[str, Any]:
    """With its type, as True equals 1. A ``Long`` is an int."""
    return next(kind.__name__ for kind in type(result).__mro__ if kind.__module__ in ("builtins", __name__)), result
