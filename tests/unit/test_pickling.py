"""Everything public survives pickle and copy, or says why not: errors, values, happenings, settings."""

from __future__ import annotations

import copy
import enum
import importlib
import inspect
import multiprocessing
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import attrs
import pytest

import redisson_dq
import redisson_dq.aio
from redisson_dq.errors import DecodeError, DuplicateItemError, RedissonDQError
from redisson_dq.worker import Limit, Rate, Reject, Retry, delays, exponential, fixed

AT = datetime(2030, 1, 1, tzinfo=timezone.utc)
SAMPLES: dict[str, Any] = {
    "str": "a", "int": 5, "float": 1.5, "bool": True, "bytes": b"\x01", "datetime": AT, "timedelta": timedelta(1),
    "BaseException": ValueError("no"), "Exception": ValueError("no"), "type": int,
}  # fmt: skip
#: Of the public packages those whose names a user imports.
WALKED = ("aio", "codecs", "doctor", "embedded", "java", "migrating", "observing", "planning", "testing", "worker")


def modules() -> Iterator[Any]:
    yield redisson_dq
    for found in pkgutil.iter_modules(redisson_dq.__path__, "redisson_dq."):
        name = found.name.rpartition(".")[2]
        if (not found.ispkg and not name.startswith("_")) or name in WALKED:
            yield importlib.import_module(found.name)
    yield importlib.import_module("redisson_dq.aio.worker")


def public(kind: Callable[[Any], bool]) -> list[Any]:
    found: dict[int, Any] = {}
    for module in modules():
        for name in getattr(module, "__all__", ()):
            each = getattr(module, name)
            if inspect.isclass(each) and each.__module__.startswith("redisson_dq.") and kind(each):
                found[id(each)] = each
    return sorted(found.values(), key=lambda each: (each.__module__, each.__qualname__))


def named(each: Any) -> str:
    return f"{each.__module__}.{each.__qualname__}"


ERRORS = public(lambda each: issubclass(each, BaseException))
ATTRS = public(lambda each: attrs.has(each) and not issubclass(each, BaseException))
ENUMS = public(lambda each: issubclass(each, enum.Enum))


def sample(annotation: Any) -> Any:
    text = str(annotation if isinstance(annotation, str) else getattr(annotation, "__name__", annotation))
    return next((value for name, value in SAMPLES.items() if text.split("|")[0].strip() == name), None)


def made(kind: type[BaseException]) -> BaseException:
    try:
        arguments = list(inspect.signature(kind).parameters.values())
    except ValueError:
        # It takes the arguments of its built-in base.
        return kind("text")
    placed = [sample(each.annotation) or "text" for each in arguments if each.kind is each.POSITIONAL_OR_KEYWORD]
    given = {each.name: sample(each.annotation) for each in arguments if each.kind is each.KEYWORD_ONLY}
    given = {name: value for name, value in given.items() if value is not None}
    return kind(*placed, **given)


WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
    "the oldest pickle": lambda it: pickle.loads(pickle.dumps(it, 2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("kind", ERRORS, ids=named)
def test_an_error_comes_back_with_all_it_tells(kind: Any) -> None:
    error = made(kind)
    if isinstance(error, RedissonDQError):
        error.note = "of its own"  # type: ignore[attr-defined]
    for name, way in WAYS.items():
        again = way(error)
        assert type(again) is kind, name
        assert (str(again), again.args, repr(vars(again))) == (str(error), error.args, repr(vars(error))), name


def test_the_root_has_all_of_them() -> None:
    assert len(ERRORS) >= 25
    assert len(ATTRS) >= 50
    assert {"DuplicateItemError", "Retry", "Reject", "Throwable"} <= {each.__name__ for each in ERRORS}


@pytest.mark.parametrize("kind", ATTRS, ids=named)
def test_a_value_comes_back(kind: Any) -> None:
    value = kind.__new__(kind)
    for field in attrs.fields(kind):
        object.__setattr__(value, field.name, sample(field.type))
    for name, way in WAYS.items():
        again = way(value)
        assert type(again) is kind, name
        for field in attrs.fields(kind):
            mine, theirs = getattr(value, field.name), getattr(again, field.name)
            assert mine == theirs or isinstance(mine, BaseException), (name, field.name)


@pytest.mark.parametrize("kind", ENUMS, ids=named)
def test_a_constant_is_the_same_one(kind: Any) -> None:
    for each in kind:
        assert all(way(each) is each for way in WAYS.values())


SETTINGS = [
    Rate(10, per=1, name="partner"),
    Limit(4),
    Retry("later", after=5, count=False),
    Retry(limit=3, backoff=[1, 2], max_age=60, on=(ValueError, KeyError)),
    Reject(ValueError("no")),
    fixed(5),
    delays([1, 10]),
    exponential(1, 60, jitter=True),
]


@pytest.mark.parametrize("value", SETTINGS, ids=repr)
def test_a_setting_comes_back(value: Any) -> None:
    for name, way in WAYS.items():
        again = way(value)
        assert (type(again), repr(again)) == (type(value), repr(value)), name


def fails(number: int) -> None:
    if number:
        raise DuplicateItemError("there is one", id="a", due=AT, state="waiting")
    raise DecodeError("unreadable", codec="Kryo5Codec", data=b"\x01")


def test_an_error_of_another_process_comes_out_here() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(DuplicateItemError, match="there is one") as found:
            pool.submit(fails, 1).result(60)
        assert (found.value.id, found.value.due) == ("a", AT)
        with pytest.raises(DecodeError, match="unreadable") as unread:
            pool.submit(fails, 0).result(60)
        assert (unread.value.data, unread.value.codec) == (b"\x01", "Kryo5Codec")


BOUND = public(
    lambda each: (
        named(each).startswith(("redisson_dq._sync.", "redisson_dq._async."))
        # A delivery names its queue (test_leases.py), and an event has its facts (test_worker_context.py).
        and each.__name__ not in ("Delivery", "Event", "EventLogger")
    )
)


@pytest.mark.parametrize("kind", BOUND, ids=named)
def test_what_belongs_to_connections_refuses_by_a_sentence(kind: Any) -> None:
    for way in WAYS.values():
        with pytest.raises(TypeError, match=r"cannot be pickled\s+or copied"):
            way(kind.__new__(kind))
