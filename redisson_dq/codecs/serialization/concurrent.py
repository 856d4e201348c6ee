"""Collections of java.util.concurrent. Some write their locks, and one the segments that it had before JDK 8."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.collection_handlers import (
    CONCURRENT,
    LOAD_FACTOR,
    UTIL,
    comparator_content,
    comparator_of,
    counted,
    items_and_null,
    list_handler,
    null_ended,
    part,
    size_and_items,
    sorted_map_handler,
    with_comparator,
)
from redisson_dq.codecs.serialization.described import as_it_was
from redisson_dq.codecs.serialization.handler import ClassHandler, field, put
from redisson_dq.codecs.serialization.lists import fill_priority_queue, write_priority_queue
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import Content, Instance
from redisson_dq.codecs.sorting import sorted_contents
from redisson_dq.java.tables import in_order, pairs_in_order

__all__ = ["HANDLERS"]

_MOST = 0x7FFFFFFF


def _lock(encoder: EncoderProtocol, state: int = 0) -> Instance:
    """A ReentrantLock, held if ``state`` is 1: a queue is locked while it is written."""
    lock = encoder.instance(CONCURRENT + "locks.ReentrantLock")
    sync = encoder.instance(CONCURRENT + "locks.ReentrantLock$NonfairSync")
    put(sync, {"state": state})
    put(lock, {"sync": sync})
    return lock


def _condition(encoder: EncoderProtocol, lock: Instance) -> Instance:
    return encoder.filled(
        CONCURRENT + "locks.AbstractQueuedSynchronizer$ConditionObject", {"this$0": field(lock, "sync", Instance)}
    )


def _read_capacity(node: Instance) -> int | None:
    found: int = field(node, "capacity", int)
    return None if found == _MOST else found


def _capacity(value: Any) -> int:
    found = getattr(value, "capacity", None)
    if found is None:
        return _MOST
    if type(found) is not int or not max(1, len(value)) <= found <= _MOST:
        raise Unencodable("the capacity of a queue is a whole number, and not less than it holds")
    return found


def _blocking_queue_values(value: Any, encoder: EncoderProtocol) -> dict[str, Content]:
    put_lock, take_lock = _lock(encoder, 1), _lock(encoder, 1)
    return {
        "capacity": _capacity(value),
        "count": encoder.filled(CONCURRENT + "atomic.AtomicInteger", {"value": len(value)}),
        "notEmpty": _condition(encoder, take_lock),
        "notFull": _condition(encoder, put_lock),
        "putLock": put_lock,
        "takeLock": take_lock,
    }


def _blocking_deque_values(value: Any, encoder: EncoderProtocol) -> dict[str, Content]:
    lock = _lock(encoder, 1)
    return {
        "capacity": _capacity(value),
        "lock": lock,
        "notEmpty": _condition(encoder, lock),
        "notFull": _condition(encoder, lock),
    }


def _read_priority_blocking_queue(node: Instance, decoder: DecoderProtocol) -> java.PriorityBlockingQueue[Any]:
    inner = part(node, "q", UTIL + "PriorityQueue", decoder)
    made: java.PriorityBlockingQueue[Any] = fill_priority_queue(
        decoder.begin(node, java.PriorityBlockingQueue()), inner, decoder
    )
    return made


def _write_priority_blocking_queue(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    lock = _lock(encoder, 1)
    inner = encoder.instance(UTIL + "PriorityQueue")
    write_priority_queue(inner, value, encoder)
    put(node, {"lock": lock, "notEmpty": _condition(encoder, lock), "q": inner})


def _read_skip_list_set(node: Instance, decoder: DecoderProtocol) -> Any:
    inner = part(node, "m", CONCURRENT + "ConcurrentSkipListMap", decoder)
    contents = null_ended(CONCURRENT + "ConcurrentSkipListMap")(inner)
    comparator = comparator_of(field(inner, "comparator", object, None), node)
    made = decoder.set(node, CONCURRENT + "ConcurrentSkipListSet", java.ConcurrentSkipListSet, contents[::2])
    return with_comparator(made, comparator)


def _write_skip_list_set(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    items = sorted_contents(value, CONCURRENT + "ConcurrentSkipListSet", trusted=True)
    inner = encoder.instance(CONCURRENT + "ConcurrentSkipListMap")
    put(inner, {"comparator": comparator_content(value, encoder)}, [*_set_as_map(items, encoder), None])
    put(node, {"m": inner})


def _set_as_map(items: Iterable[Any], encoder: EncoderProtocol) -> list[Content]:
    """The elements as keys, each with the value true."""
    true = encoder.content(True)
    return [content for key in encoder.contents(items) for content in (key, true)]


def _read_copy_on_write_set(node: Instance, decoder: DecoderProtocol) -> Any:
    inner = part(node, "al", CONCURRENT + "CopyOnWriteArrayList", decoder)
    contents = counted(CONCURRENT + "CopyOnWriteArrayList")(inner)
    return decoder.set(node, CONCURRENT + "CopyOnWriteArraySet", java.CopyOnWriteArraySet, contents)


def _write_copy_on_write_set(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    put(node, {"al": encoder.filled(CONCURRENT + "CopyOnWriteArrayList", {}, size_and_items(value, encoder))})


def _read_key_set(node: Instance, decoder: DecoderProtocol) -> Any:
    value = field(node, "value", Instance)
    if value.desc.name != "java.lang.Boolean":
        raise Malformed("the keySet() of a ConcurrentHashMap", node.offset)
    inner = part(node, "map", CONCURRENT + "ConcurrentHashMap", decoder)
    contents = _concurrent_map_contents(inner)[::2]
    return decoder.set(node, CONCURRENT + "ConcurrentHashMap$KeySetView", java.ConcurrentHashSet, contents)


def _write_key_set(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    inner = encoder.instance(CONCURRENT + "ConcurrentHashMap")
    _put_concurrent_map(inner, _set_as_map(in_order(value), encoder), encoder)
    put(node, {"map": inner, "value": encoder.content(True)})


def _concurrent_map_contents(node: Instance) -> list[Content]:
    contents = null_ended(CONCURRENT + "ConcurrentHashMap")(node)
    if not contents or contents.pop() is not None or len(contents) % 2:
        raise Malformed("a ConcurrentHashMap that does not end with two nulls", node.offset)
    return contents


def _put_concurrent_map(node: Instance, contents: list[Content], encoder: EncoderProtocol) -> None:
    segments = []
    for _ in range(16):
        lock = _lock(encoder)
        segment = encoder.instance(CONCURRENT + "ConcurrentHashMap$Segment")
        put(segment, {"sync": field(lock, "sync", Instance), "loadFactor": LOAD_FACTOR})
        segments.append(segment)
    array = encoder.array(f"[L{CONCURRENT}ConcurrentHashMap$Segment;", segments)
    put(node, {"segmentMask": 15, "segmentShift": 28, "segments": array}, [*contents, None, None])


def _write_concurrent_map(node: Instance, value: Any, encoder: EncoderProtocol) -> None:
    _put_concurrent_map(node, encoder.pairs(pairs_in_order(value)), encoder)


_LOCKS = (
    *("ReentrantLock", "ReentrantLock$FairSync", "ReentrantLock$NonfairSync"),
    "AbstractQueuedSynchronizer$ConditionObject",
)

HANDLERS: tuple[ClassHandler, ...] = (
    # Its bytes contain its locks and the positions of its elements.
    as_it_was(CONCURRENT + "ArrayBlockingQueue"),
    *(as_it_was(f"{CONCURRENT}locks.{name}") for name in _LOCKS),
    list_handler(
        CONCURRENT + "CopyOnWriteArrayList",
        java.CopyOnWriteArrayList,
        counted(CONCURRENT + "CopyOnWriteArrayList"),
        size_and_items,
    ),
    list_handler(
        CONCURRENT + "ConcurrentLinkedQueue",
        java.ConcurrentLinkedQueue,
        null_ended(CONCURRENT + "ConcurrentLinkedQueue"),
        items_and_null,
    ),
    list_handler(
        CONCURRENT + "LinkedTransferQueue",
        java.LinkedTransferQueue,
        null_ended(CONCURRENT + "LinkedTransferQueue"),
        items_and_null,
    ),
    list_handler(
        CONCURRENT + "ConcurrentLinkedDeque",
        java.ConcurrentLinkedDeque,
        null_ended(CONCURRENT + "ConcurrentLinkedDeque"),
        items_and_null,
    ),
    list_handler(
        CONCURRENT + "LinkedBlockingQueue",
        java.LinkedBlockingQueue,
        null_ended(CONCURRENT + "LinkedBlockingQueue"),
        items_and_null,
        _blocking_queue_values,
        lambda node: java.LinkedBlockingQueue((), _read_capacity(node)),
    ),
    list_handler(
        CONCURRENT + "LinkedBlockingDeque",
        java.LinkedBlockingDeque,
        null_ended(CONCURRENT + "LinkedBlockingDeque"),
        items_and_null,
        _blocking_deque_values,
        lambda node: java.LinkedBlockingDeque((), _read_capacity(node)),
    ),
    ClassHandler(
        CONCURRENT + "PriorityBlockingQueue",
        _read_priority_blocking_queue,
        java.PriorityBlockingQueue,
        _write_priority_blocking_queue,
        identity=True,
    ),
    ClassHandler(
        CONCURRENT + "ConcurrentSkipListSet",
        _read_skip_list_set,
        java.ConcurrentSkipListSet,
        _write_skip_list_set,
        identity=True,
    ),
    ClassHandler(
        CONCURRENT + "CopyOnWriteArraySet",
        _read_copy_on_write_set,
        java.CopyOnWriteArraySet,
        _write_copy_on_write_set,
        identity=True,
    ),
    ClassHandler(
        CONCURRENT + "ConcurrentHashMap$KeySetView",
        _read_key_set,
        java.ConcurrentHashSet,
        _write_key_set,
        identity=True,
    ),
    ClassHandler(
        CONCURRENT + "ConcurrentHashMap",
        lambda node, decoder: decoder.map(
            node, CONCURRENT + "ConcurrentHashMap", java.ConcurrentHashMap, _concurrent_map_contents(node)
        ),
        java.ConcurrentHashMap,
        _write_concurrent_map,
        identity=True,
    ),
    sorted_map_handler(
        CONCURRENT + "ConcurrentSkipListMap",
        java.ConcurrentSkipListMap,
        null_ended(CONCURRENT + "ConcurrentSkipListMap"),
        lambda pairs, encoder: [*encoder.pairs(pairs), None],
    ),
)
